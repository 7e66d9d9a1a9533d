// The figures: takes the numbers of some decisions, gives what is counted over them. Pure; `punchlist log stats` counts
// the same, and a test holds both to it.

// Wilson's interval: where the truth lies with 95 %, also for few and for all.
const Z = 1.959964;
function interval(right, wrong) {
  const n = right + wrong;
  if (n === 0) return null;
  const share = right / n;
  const middle = (share + (Z * Z) / (2 * n)) / (1 + (Z * Z) / n);
  const half = (Z / (1 + (Z * Z) / n)) * Math.sqrt((share * (1 - share)) / n + (Z * Z) / (4 * n * n));
  return { right, wrong, n, share, low: Math.max(0, middle - half), high: Math.min(1, middle + half) };
}

const PERCENTILES = [50, 90, 99];
// The smallest value that so many of all do not exceed.
function percentiles(values) {
  if (values.length === 0) return null;
  const sorted = Float64Array.from(values).sort();
  const of = (p) => sorted[Math.max(0, Math.ceil((p / 100) * sorted.length) - 1)];
  return { n: sorted.length, of: PERCENTILES.map(of), most: sorted[sorted.length - 1] };
}

const add = (map, key, by = 1) => map.set(key, (map.get(key) ?? 0) + by);

function tally(map, key, isRight) {
  const entry = map.get(key) ?? [0, 0];
  entry[isRight ? 0 : 1] += 1;
  map.set(key, entry);
}
const intervals = (map, order) =>
  [...map]
    .map(([name, [right, wrong]]) => ({ name, ...interval(right, wrong) }))
    .sort((a, b) => (order ? order.indexOf(a.name) - order.indexOf(b.name) : b.n - a.n));

function figures(chosen) {
  const kinds = [0, 0, 0, 0];
  const causes = new Map();
  const outcomes = new Map();
  const gates = new Map();
  const advisories = new Map();
  const failures = new Map();
  const times = { aside: [], audited: [], readers: [] };
  const second = { asked: 0, answered: 0, upheld: 0, dismissed: 0 };
  const projects = new Map();
  // What people say of findings, and of stops that went through with nothing found.
  const said = { right: 0, wrong: 0, missed: 0 };
  const right = { all: [0, 0], category: new Map(), source: new Map(), model: new Map() };
  const sums = { tokensIn: 0, tokensOut: 0, cost: 0, asked: 0, audited: 0 };
  for (const row of chosen) {
    kinds[rows.kind[row]] += 1;
    add(causes, rows.cause[row]);
    const isAudited = rows.audited[row];
    for (const kind of rows.advisories[row]) add(advisories, kind);
    for (let at = firstGate[row]; at < firstGate[row + 1]; at += 1) {
      const gate = gates.get(rows.gate_name[at]) ?? { looked: 0, held: 0 };
      gate.looked += 1;
      gate.held += rows.gate_held[at] ? 1 : 0;
      gates.set(rows.gate_name[at], gate);
    }
    sums.audited += isAudited ? 1 : 0;
    if (rows.ours_ms[row] !== null) times[isAudited ? "audited" : "aside"].push(rows.ours_ms[row]);
    const cost = rows.cost_usd[row] ?? 0;
    sums.tokensIn += rows.tokens_in[row];
    sums.tokensOut += rows.tokens_out[row];
    sums.cost += cost;
    const [outcome, again] = [rows.first_outcome[row], rows.second_outcome[row]].map((at) => (at === null ? "not-asked" : rows.reader_outcomes[at]));
    if (outcome !== "not-asked" || again !== "not-asked") times.readers.push(rows.readers_ms[row]);
    if (outcome !== "not-asked") {
      sums.asked += 1;
      if (outcome !== "answered") add(failures, outcome);
    }
    if (again !== "not-asked") {
      second.asked += 1;
      second.answered += again === "answered" ? 1 : 0;
    }
    const project = projects.get(rows.project[row]) ?? { decisions: 0, held: 0, cost: 0, tokens: 0 };
    project.decisions += 1;
    project.held += rows.kind[row] === 0 ? 1 : 0;
    project.cost += cost;
    project.tokens += rows.tokens_in[row] + rows.tokens_out[row];
    projects.set(rows.project[row], project);
    let found = 0;
    for (let at = firstFinding[row]; at < firstFinding[row + 1]; at += 1) {
      if (rows.finding_upheld[at] !== null) second[rows.finding_upheld[at] ? "upheld" : "dismissed"] += 1;
      if (rows.finding_status[at] !== "confirmed") continue;
      found += 1;
      if (rows.finding_label[at] !== null) said[rows.finding_label[at]] += 1;
      if (rows.kind[row] === 0) add(outcomes, rows.finding_outcome[at] ?? "unknown");
      const isRight = rows.finding_right[at];
      if (isRight === null) continue;
      right.all[isRight ? 0 : 1] += 1;
      tally(right.category, rows.finding_category[at], isRight);
      tally(right.source, rows.finding_source[at], isRight);
      // What the facts alone found says nothing of a model.
      if (rows.finding_source[at] !== "facts" && rows.model[row] !== null) tally(right.model, modelOf(row), isRight);
    }
    if (found === 0 && rows.label[row] === "wrong") said.missed += 1;
  }
  return {
    decisions: chosen.length,
    kinds,
    causes: [...causes].sort((a, b) => b[1] - a[1]),
    gates: [...gates].map(([at, sums]) => ({ name: rows.gates[at], ...sums })).sort((a, b) => b.looked - a.looked),
    advisories: [...advisories].sort((a, b) => b[1] - a[1]),
    outcomes,
    said,
    failures: [...failures].sort((a, b) => b[1] - a[1]),
    precision: {
      all: interval(...right.all),
      category: intervals(right.category, head.categories.map(([name]) => name)),
      source: intervals(right.source, ["facts", "reader", "both"]),
      model: intervals(right.model),
    },
    latency: { aside: percentiles(times.aside), audited: percentiles(times.audited), readers: percentiles(times.readers) },
    second,
    projects: [...projects].sort((a, b) => b[1].cost - a[1].cost || b[1].decisions - a[1].decisions),
    ...sums,
  };
}
