// The table: takes the decisions that were chosen, shows those of them that the window has room for. Rows are of one
// height, what is unfolded is measured; all that is not in sight is two empty rows of the right height.

const body = byId("rows");
const table = byId("table");
const OVERSCAN = 8;
const MOST_PRINTED = 500;

const confirmed = (row) => findingsOf(row).filter((at) => rows.finding_status[at] === "confirmed").length;
const unverified = (row) => findingsOf(row).filter((at) => rows.finding_status[at] === "cannot-verify").length;
function findingWords(row) {
  const sums = new Map();
  for (const at of findingsOf(row)) if (rows.finding_status[at] === "confirmed") add(sums, rows.finding_category[at]);
  const words = [...sums].sort((a, b) => a[0].localeCompare(b[0])).map(([category, number]) => (number > 1 ? `${number}×${category}` : category));
  const more = unverified(row);
  if (more > 0) words.push(words.length > 0 ? `+${more} unverified` : `${more} unverified`);
  const advised = rows.advisories[row].length;
  if (advised > 0) words.push(`${advised}!`);
  return words.join(" ");
}
function outcomeSummary(row) {
  const sums = new Map();
  for (const at of findingsOf(row)) {
    const outcome = rows.finding_outcome[at];
    if (outcome !== null) add(sums, outcome);
  }
  const words = OUTCOMES.filter((name) => sums.has(name)).map((name) => (sums.get(name) > 1 ? `${sums.get(name)} ${name}` : name));
  const label = rows.label[row] ?? findingsOf(row).map((at) => rows.finding_label[at]).find(Boolean);
  return [...words, label && `labelled ${label}`].filter(Boolean).join(", ");
}

const COLUMNS = [
  { name: "When", of: (row) => row, text: (row) => when(rows.at[row]), kind: "when" },
  { name: "Project", of: projectName, text: projectName, title: projectOf, kind: "project" },
  { name: "Session", of: (row) => sessionOf(row) ?? "", text: (row) => `${rows.subagent[row] ? "↳" : ""}${(sessionOf(row) ?? "").slice(0, 8)}`, title: (row) => `${sessionOf(row) ?? ""}${rows.subagent[row] ? ", a subagent" : ""}`, kind: "session" },
  { name: "Decision", of: (row) => rows.kind[row], text: (row) => KINDS[rows.kind[row]], kind: "decision" },
  { name: "Cause", of: causeOf, text: causeOf, kind: "cause" },
  { name: "Findings", of: (row) => confirmed(row) * 1000 + unverified(row), text: findingWords, kind: "findings" },
  { name: "Outcome", of: outcomeSummary, text: outcomeSummary, kind: "became" },
  { name: "Ours", of: (row) => rows.ours_ms[row] ?? -1, text: (row) => duration(rows.ours_ms[row]), kind: "number ours" },
  { name: "Readers", of: (row) => rows.readers_ms[row] ?? -1, text: (row) => duration(rows.readers_ms[row]), kind: "number readers" },
  { name: "Cost", of: (row) => rows.cost_usd[row] ?? -1, text: (row) => money(rows.cost_usd[row]), kind: "number cost" },
];

// Each order is worked out once, for all decisions; a filter only leaves some of it out.
const orders = [];
function order(column) {
  orders[column] ??= (() => {
    const keys = Array.from({ length: total }, (_, row) => COLUMNS[column].of(row));
    const compare = typeof keys[0] === "string" ? (a, b) => (a < b ? -1 : a > b ? 1 : 0) : (a, b) => a - b;
    return Uint32Array.from({ length: total }, (_, row) => row).sort((a, b) => compare(keys[a], keys[b]) || a - b);
  })();
  return orders[column];
}

const sorting = { column: 0, descending: true };
let view = [];
let chosenRows = [];
let cursor = 0;
const unfolded = new Map();
let rowHeight = 32;
let isPrinting = false;
const nodes = new Map();
const spacer = () => el("tr", { class: "spacer", role: "presentation", "aria-hidden": "true" }, el("td", { colspan: COLUMNS.length, role: "presentation" }));
const [above, below] = [spacer(), spacer()];

function showRows(chosen) {
  chosenRows = chosen;
  const at = view[cursor];
  const mask = new Uint8Array(total);
  for (const row of chosen) mask[row] = 1;
  view = Array.from(order(sorting.column)).filter((row) => mask[row] === 1);
  if (sorting.descending) view.reverse();
  cursor = Math.max(0, view.indexOf(at));
  table.setAttribute("aria-rowcount", view.length + 1);
  byId("none").hidden = view.length > 0;
  table.hidden = view.length === 0;
  placeOf = new Map();
  for (const row of unfolded.keys()) {
    const place = mask[row] ? view.indexOf(row) : -1;
    if (place >= 0) placeOf.set(row, place);
  }
  render();
}

// Where rows stand: each has its height, and those above it that are unfolded add theirs.
let placeOf = new Map();
const openPlaces = () => [...placeOf].map(([row, place]) => [place, unfolded.get(row).height]).sort((a, b) => a[0] - b[0]);
function topOf(index, open = openPlaces()) {
  let top = index * rowHeight;
  for (const [place, height] of open) if (place < index) top += height;
  return top;
}
function indexAt(y, open = openPlaces()) {
  let extra = 0;
  for (const [place, height] of open) {
    const end = (place + 1) * rowHeight + extra;
    if (y < end) break;
    if (y < end + height) return place;
    extra += height;
  }
  return Math.floor((y - extra) / rowHeight);
}

function rowNode(row) {
  const words = `${KINDS[rows.kind[row]]}, ${COLUMNS[0].text(row)}, ${projectName(row)}`;
  const button = el("button", { type: "button", class: "unfold", "aria-expanded": String(unfolded.has(row)), tabindex: "-1", "aria-label": words }, COLUMNS[0].text(row));
  const node = el("tr", { role: "row", class: `row ${KIND_CLASSES[rows.kind[row]]}` },
    COLUMNS.map((column, at) => el("td", { role: "cell", class: column.kind, title: column.title?.(row) }, at === 0 ? button : column.text(row))));
  node.addEventListener("click", (event) => {
    if (String(getSelection()) !== "" && !event.target.closest("button")) return;
    cursor = view.indexOf(row);
    toggle(row);
    button.focus({ preventScroll: true });
  });
  return { node, button };
}

const watcher = new ResizeObserver((entries) => {
  for (const { target } of entries) {
    const entry = [...unfolded.values()].find(({ node }) => node === target);
    const height = target.getBoundingClientRect().height;
    if (entry && height > 0) entry.height = height;
  }
  schedule();
});

function toggle(row) {
  if (unfolded.has(row)) {
    watcher.unobserve(unfolded.get(row).node);
    unfolded.get(row).node.remove();
    unfolded.delete(row);
    placeOf.delete(row);
  } else {
    const id = `detail-${row}`;
    const node = el("tr", { role: "row", class: `detail ${KIND_CLASSES[rows.kind[row]]}`, id }, el("td", { role: "cell", colspan: COLUMNS.length }, detailNode(row)));
    unfolded.set(row, { node, height: 300 });
    placeOf.set(row, view.indexOf(row));
    watcher.observe(node);
  }
  render();
}

function render() {
  const open = openPlaces();
  const bodyTop = body.getBoundingClientRect().top;
  const first = isPrinting ? 0 : Math.max(0, Math.min(indexAt(-bodyTop, open), view.length - 1) - OVERSCAN);
  const last = isPrinting ? Math.min(view.length, MOST_PRINTED) : Math.min(view.length, Math.max(0, indexAt(innerHeight - bodyTop, open)) + OVERSCAN + 1);
  const wanted = view.slice(first, Math.max(first, last));
  const keep = new Set(wanted);
  for (const [row, { node }] of nodes) {
    if (keep.has(row)) continue;
    node.remove();
    nodes.delete(row);
  }
  for (const [row, { node }] of unfolded) if (!keep.has(row)) node.remove();
  if (above.parentNode !== body) body.replaceChildren(above, below);
  let next = above.nextSibling;
  const put = (node) => {
    if (node === next) next = next.nextSibling;
    else body.insertBefore(node, next);
  };
  wanted.forEach((row, at) => {
    const index = first + at;
    if (!nodes.has(row)) nodes.set(row, rowNode(row));
    const { node, button } = nodes.get(row);
    const isOpen = unfolded.has(row);
    node.setAttribute("aria-rowindex", index + 2);
    node.classList.toggle("odd", index % 2 === 1);
    node.classList.toggle("open", isOpen);
    button.setAttribute("aria-expanded", String(isOpen));
    if (isOpen) button.setAttribute("aria-controls", `detail-${row}`);
    else button.removeAttribute("aria-controls");
    button.tabIndex = index === cursor ? 0 : -1;
    put(node);
    if (isOpen) put(unfolded.get(row).node);
  });
  // Whatever the window shows, one row is always to be reached by Tab.
  if (!keep.has(view[cursor]) && wanted.length > 0) nodes.get(wanted[Math.min(OVERSCAN, wanted.length - 1)]).button.tabIndex = 0;
  const height = (node, pixels) => {
    node.hidden = pixels <= 0 || isPrinting;
    node.firstChild.style.setProperty("height", `${pixels}px`);
  };
  height(above, topOf(first, open));
  height(below, topOf(view.length, open) - topOf(last, open));
}

let scheduled = false;
function schedule() {
  if (scheduled) return;
  scheduled = true;
  requestAnimationFrame(() => { scheduled = false; render(); });
}

// What stands still at the top of the window covers rows.
const covered = () => {
  const bar = byId("filters");
  const stuck = getComputedStyle(bar).position === "sticky" ? bar.offsetHeight : 0;
  return stuck + (getComputedStyle(byId("columns").parentNode).position === "sticky" ? byId("columns").offsetHeight : 0);
};

function goTo(index, focus = true) {
  if (view.length === 0) return;
  cursor = Math.min(view.length - 1, Math.max(0, index));
  const top = body.getBoundingClientRect().top + topOf(cursor);
  if (top < covered()) scrollBy(0, top - covered());
  else if (top + rowHeight > innerHeight) scrollBy(0, top + rowHeight - innerHeight + 8);
  render();
  if (focus) nodes.get(view[cursor])?.button.focus({ preventScroll: true });
}

function sortBy(column) {
  if (sorting.column === column) sorting.descending = !sorting.descending;
  else Object.assign(sorting, { column, descending: COLUMNS[column].kind.startsWith("number") || column === 0 || column === 5 });
  showSorting();
  showRows(chosenRows);
}
function showSorting() {
  [...byId("columns").children].forEach((cell, at) => {
    if (at === sorting.column) cell.setAttribute("aria-sort", sorting.descending ? "descending" : "ascending");
    else cell.removeAttribute("aria-sort");
  });
}

// Unfolds a decision, whatever is filtered.
let clearFilters = () => {};
function openDecision(row) {
  if (row === undefined) return;
  if (!view.includes(row)) clearFilters();
  if (!unfolded.has(row)) toggle(row);
  goTo(view.indexOf(row));
}
// The one that the page's address names.
const openNamed = () => openDecision(rowOfId.get(location.hash.slice(1)));

function setUpTable(clear) {
  clearFilters = clear;
  byId("columns").replaceChildren(...COLUMNS.map((column, at) => {
    const button = el("button", { type: "button" }, column.name);
    button.addEventListener("click", () => sortBy(at));
    return el("th", { role: "columnheader", scope: "col", class: column.kind }, button);
  }));
  showSorting();
  const measure = () => {
    rowHeight = parseFloat(getComputedStyle(document.documentElement).getPropertyValue("--row"));
    placed(document.documentElement, { "--bar": `${byId("filters").offsetHeight}px` });
    schedule();
  };
  measure();
  new ResizeObserver(measure).observe(byId("filters"));
  addEventListener("scroll", schedule, { passive: true });
  addEventListener("resize", measure);
  addEventListener("beforeprint", () => { isPrinting = true; render(); });
  addEventListener("afterprint", () => { isPrinting = false; render(); });
}
