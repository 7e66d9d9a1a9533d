// Words and elements: takes values, gives texts for people and nodes that hold them. Text that came from a workspace
// becomes a text node and nothing else; no markup is ever read from a string.

// Characters that show nothing, or turn the reading order around, are shown by their number.
const UNSEEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g;
const plain = (text) =>
  String(text).replace(UNSEEN, (c) => `[U+${c.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}]`);

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    node.setAttribute(name, value === true ? "" : name === "title" || name === "aria-label" ? plain(value) : value);
  }
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    node.append(child instanceof Node ? child : document.createTextNode(plain(child)));
  }
  return node;
}
const el = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
const svg = (tag, attributes, ...children) =>
  fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
const byId = (id) => document.getElementById(id);

const THIN = "\u2009";
const wholeNumbers = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const count = (number) => wholeNumbers.format(number);
const many = (number, one, more = `${one}s`) => `${count(number)} ${number === 1 ? one : more}`;
const percent = (part, digits = 0) => `${(part * 100).toFixed(digits)}${THIN}%`;

function duration(ms) {
  if (ms === null || ms === undefined) return "";
  if (ms < 9.95) return `${ms.toFixed(1)}${THIN}ms`;
  if (ms < 999.5) return `${ms.toFixed(0)}${THIN}ms`;
  if (ms < 99_950) return `${(ms / 1000).toFixed(1)}${THIN}s`;
  return `${(ms / 1000).toFixed(0)}${THIN}s`;
}

function money(usd) {
  if (usd === null || usd === undefined) return "";
  if (usd === 0) return "$0";
  return `$${usd.toFixed(usd < 1 ? 4 : 2)}`;
}

function short(number) {
  if (number < 1_000) return count(number);
  if (number < 999_500) return `${(number / 1_000).toFixed(number < 9_950 ? 1 : 0)}k`;
  return `${(number / 1_000_000).toFixed(number < 9_950_000 ? 1 : 0)}M`;
}

function size(bytes) {
  if (bytes < 1_000) return `${bytes}${THIN}B`;
  if (bytes < 999_500) return `${(bytes / 1_000).toFixed(bytes < 9_950 ? 1 : 0)}${THIN}kB`;
  return `${(bytes / 1_000_000).toFixed(1)}${THIN}MB`;
}

// Times come as what clocks on the wall showed, so that they are read as if they were UTC.
const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const two = (number) => String(number).padStart(2, "0");
const day = (at) => {
  const date = new Date(at);
  return `${date.getUTCDate()}${THIN}${MONTHS[date.getUTCMonth()]} ${date.getUTCFullYear()}`;
};
const isoDay = (at) => new Date(at).toISOString().slice(0, 10);
const clock = (at) => {
  const date = new Date(at);
  return `${two(date.getUTCHours())}:${two(date.getUTCMinutes())}`;
};
const when = (at) => (at === 0 ? "?" : `${isoDay(at)} ${clock(at)}`);
