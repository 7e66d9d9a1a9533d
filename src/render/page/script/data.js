// The data: takes the blocks of the page, gives the columns at once, and details, snapshots and what a text filter looks
// through only when somebody asks for them.

// What may be broken is shown as missing: one bad block must not take the page with it.
function parsed(json) {
  try {
    return json ? JSON.parse(json) : null;
  } catch {
    return null;
  }
}
const block = (id) => parsed(byId(id)?.textContent);

const head = block("head");
const rows = head.rows;
const details = block("details");
const total = rows.id.length;

const KINDS = ["block", "would block", "could not check", "allow"];
const KIND_CLASSES = ["block", "would", "unchecked", "allow"];
const OUTCOMES = ["fixed", "disputed", "ignored"];

// Where each decision's findings begin; one more for the end of the last.
const firstFinding = new Uint32Array(total + 1);
for (const row of rows.finding_row) firstFinding[row + 1] += 1;
for (let row = 0; row < total; row += 1) firstFinding[row + 1] += firstFinding[row];

// The same for the gates that looked.
const firstGate = new Uint32Array(total + 1);
for (const row of rows.gate_row) firstGate[row + 1] += 1;
for (let row = 0; row < total; row += 1) firstGate[row + 1] += firstGate[row];

function findingsOf(row) {
  const numbers = [];
  for (let at = firstFinding[row]; at < firstFinding[row + 1]; at += 1) numbers.push(at);
  return numbers;
}

const projectOf = (row) => (rows.project[row] === null ? null : rows.projects[rows.project[row]]);
// What projects are called: their folder's name, and where several have the same, the part of the path in which they
// differ behind it, as `punchlist log stats` has it.
const projectNames = (() => {
  const parts = rows.projects.map((path) => path.split("/").filter(Boolean).reverse());
  const alike = new Map();
  for (const all of parts) alike.set(all[0], [...(alike.get(all[0]) ?? []), all]);
  return parts.map((mine, at) => {
    const others = alike.get(mine[0]).filter((other) => other !== mine);
    if (others.length === 0) return mine[0] ?? rows.projects[at];
    const differs = mine.findIndex((part, depth) => others.every((other) => other[depth] !== part));
    return differs < 1 ? rows.projects[at] : `${mine[0]} (${mine[differs]})`;
  });
})();
const projectName = (row) => (rows.project[row] === null ? "" : projectNames[rows.project[row]]);
const sessionOf = (row) => (rows.session[row] === null ? null : rows.sessions[rows.session[row]]);
const causeOf = (row) => rows.causes[rows.cause[row]];
const modelOf = (row) => (rows.model[row] === null ? null : rows.models[rows.model[row]]);
const rowOfId = new Map(rows.id.map((id, row) => [id, row]));

const detailOf = (row) => parsed(details[row]);
const snapshotOf = (row) => block(`snapshot-${row}`);

// All that was said of a decision, in small letters, one text each.
const haystacks = new Array(total);
function texts(value, into) {
  if (typeof value === "string") into.push(value);
  else if (Array.isArray(value)) for (const part of value) texts(part, into);
  else if (value !== null && typeof value === "object") for (const part of Object.values(value)) texts(part, into);
}
function haystack(row) {
  if (haystacks[row] === undefined) {
    const record = detailOf(row) ?? {};
    const words = [rows.id[row], projectOf(row) ?? "", sessionOf(row) ?? "", causeOf(row), KINDS[rows.kind[row]]];
    const { detail, findings, advisories, files, config_error: fault, label } = record;
    texts([detail, findings, advisories, fault, label, (files ?? []).map((file) => file.path)], words);
    haystacks[row] = words.join("\n").toLowerCase();
  }
  return haystacks[row];
}

// Gathered while the browser has nothing else to do, so that the first letter typed does not wait for it.
function gatherHaystacks(from = 0) {
  const later = window.requestIdleCallback ?? ((run) => setTimeout(() => run({ timeRemaining: () => 4 }), 30));
  if (from < total) {
    later((idle) => {
      let row = from;
      do haystack(row++);
      while (row < total && (row % 16 !== 0 || idle.timeRemaining() > 1));
      gatherHaystacks(row);
    });
  } else {
    document.documentElement.dataset.gathered = "yes";
  }
}
