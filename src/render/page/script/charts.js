// The charts: takes figures, draws them. Bars are lists whose entries filter when pressed; widths and places are set as
// properties, since the page's policy lets no style stand in markup.

const placed = (node, properties) => {
  for (const [name, value] of Object.entries(properties)) node.style.setProperty(name, value);
  return node;
};
const share = (part, whole) => `${whole > 0 ? (100 * part) / whole : 0}%`;
const nothing = (text) => el("p", { class: "hint" }, text);

// A list of bars. An entry: name, value, text; kind colours it, press makes it a button, title explains it.
function bars(entries) {
  const most = Math.max(...entries.map((entry) => entry.value), 0);
  return el("ul", { class: "bars" }, entries.map((entry) => {
    const inner = [
      el("span", { class: "name", title: entry.title }, entry.name),
      el("span", { class: "value" }, entry.text),
      el("span", { class: "track", "aria-hidden": "true" },
        placed(el("span", { class: `fill ${entry.kind ?? ""}` }), { width: share(entry.value, most) })),
    ];
    if (!entry.press) return el("li", {}, el("div", { class: "bar" }, inner));
    const button = el("button", { type: "button", class: "bar", "aria-pressed": String(Boolean(entry.pressed)) }, inner);
    button.addEventListener("click", entry.press);
    return el("li", {}, button);
  }));
}

function drawGlance(sums) {
  const held = sums.kinds[0];
  const byAudit = sums.gates.find((gate) => gate.name === "audit")?.held ?? 0;
  const precision = sums.precision.all;
  const failed = sums.failures.reduce((all, [, number]) => all + number, 0);
  const { aside, audited } = sums.latency;
  const entries = [
    ["Decisions", count(sums.decisions), `${many(sums.projects.length, "project")}${sums.kinds[2] ? `; ${count(sums.kinds[2])} could not be checked` : ""}`],
    ["Held", count(held), sums.audited ? `the audit ${count(byAudit)}, ${percent(byAudit / sums.audited, 1)} of ${count(sums.audited)} audited` : "nothing was audited", held ? "block" : ""],
    ["Precision", precision ? percent(precision.share) : "–",
      precision ? `${percent(precision.low)} to ${percent(precision.high)}, ${many(precision.n, "finding")}` : "nothing is known yet"],
    ["Reader failed", count(failed), sums.asked ? `${percent(failed / sums.asked, 1)} of ${many(sums.asked, "call")}` : "never asked", failed ? "unchecked" : ""],
    ["Our time", audited ? duration(audited.of[0]) : aside ? duration(aside.of[0]) : "–",
      audited ? `for an audit${aside ? `, ${duration(aside.of[0])} to step aside` : ""} (median)` : aside ? "to step aside (median)" : ""],
    ["Cost", money(sums.cost), `${short(sums.tokensIn)} tokens in, ${short(sums.tokensOut)} out`],
  ];
  byId("glance").replaceChildren(...entries.map(([name, value, under, kind]) =>
    el("div", { class: kind ?? "" }, el("dt", {}, name), el("dd", { class: "figure" }, value), el("dd", { class: "under" }, under))));
}

// Columns of equal stretches of time, no more than fit: hours, days, or so many weeks, which begin on a Monday.
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const WEEK = 7 * DAY;
const MOST_COLUMNS = 160;
const span = rows.at.reduce(([low, high], at) => (at > 0 ? [Math.min(low, at), Math.max(high, at)] : [low, high]), [Infinity, -Infinity]);
const isTimed = span[0] <= span[1];
const [step, origin] = (() => {
  const length = isTimed ? span[1] - span[0] : 0;
  if (length < 3 * DAY) return [HOUR, 0];
  if (length < 120 * DAY) return [DAY, 0];
  return [WEEK * Math.ceil(length / WEEK / MOST_COLUMNS), 4 * DAY];
})();
const firstColumn = isTimed ? Math.floor((span[0] - origin) / step) : 0;
const columns = isTimed ? Math.floor((span[1] - origin) / step) - firstColumn + 1 : 0;
const columnOf = Int32Array.from(rows.at, (at) => (at > 0 ? Math.floor((at - origin) / step) - firstColumn : -1));
const columnStart = (column) => (column + firstColumn) * step + origin;
const columnName = step === HOUR ? "an hour" : step === DAY ? "a day" : step === WEEK ? "a week" : `in ${step / WEEK} weeks`;

function axis(width) {
  const marks = [];
  let lastAt = -Infinity;
  let lastText = "";
  for (let column = 0; column < columns; column += 1) {
    const x = (column / columns) * width;
    const at = columnStart(column);
    const date = new Date(at);
    const text = step === HOUR ? `${date.getUTCDate()} ${MONTHS[date.getUTCMonth()]} ${clock(at)}`
      : step === DAY && columns < 45 ? `${date.getUTCDate()} ${MONTHS[date.getUTCMonth()]}`
      : `${MONTHS[date.getUTCMonth()]} ${date.getUTCFullYear()}`;
    if (text === lastText || x - lastAt < 78 || x > width - 60) continue;
    marks.push(placed(el("span", {}, text), { left: share(column, columns) }));
    [lastAt, lastText] = [x, text];
  }
  return el("div", { class: "axis", "aria-hidden": "true" }, marks);
}

// The timeline shows what all filters but its own let through, and shades what that one leaves out.
function drawTimeline(chosen, range, choose) {
  const box = byId("timeline");
  if (!isTimed) return box.replaceChildren(nothing("No decision has a time that can be read."));
  const width = Math.max(200, box.clientWidth);
  const height = 132;
  const sums = Array.from({ length: columns }, () => [0, 0, 0, 0]);
  for (const row of chosen) if (columnOf[row] >= 0) sums[columnOf[row]][rows.kind[row]] += 1;
  const most = Math.max(1, ...sums.map((kinds) => kinds[0] + kinds[1] + kinds[2] + kinds[3]));
  const wide = width / columns;
  const gap = wide > 6 ? 1.5 : wide > 3 ? 0.75 : 0;
  const drawn = sums.map((kinds, column) => {
    const outside = range && (columnStart(column) >= range[1] || columnStart(column + 1) <= range[0]);
    let y = height;
    return kinds.map((number, kind) => {
      if (number === 0) return null;
      // What is rare is what one looks for: a single block is never thinner than can be seen.
      const tall = Math.max(kind === 3 ? 0.5 : 2, (number / most) * (height - 14));
      y -= tall;
      return svg("rect", { class: `fill ${KIND_CLASSES[kind]}${outside ? " outside" : ""}`, x: (column * wide).toFixed(2),
        y: y.toFixed(2), width: Math.max(0.5, wide - gap).toFixed(2), height: tall.toFixed(2) });
    });
  });
  const brush = svg("rect", { class: "brush", y: 0, height, width: 0 });
  const chart = svg("svg", { viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: "none", height, role: "img",
    "aria-label": `Decisions over time, at most ${count(most)} ${columnName}` }, drawn, brush);
  const top = el("span", { class: "most", "aria-hidden": "true" }, `${count(most)} ${columnName}`);
  box.replaceChildren(top, chart, axis(width));

  const columnAt = (event) => {
    const { left, width: across } = chart.getBoundingClientRect();
    return Math.min(columns - 1, Math.max(0, Math.floor(((event.clientX - left) / across) * columns)));
  };
  const tell = (column) => {
    const [block, would, unchecked, allow] = sums[column];
    top.textContent = `${step === HOUR ? when(columnStart(column)) : day(columnStart(column))}: ${[[block, "held"], [would, "would be held"], [unchecked, "could not be checked"], [allow, "let go"]]
      .filter(([number]) => number > 0).map(([number, word]) => `${count(number)} ${word}`).join(", ") || "nothing"}`;
  };
  let from = null;
  chart.addEventListener("pointerdown", (event) => {
    from = columnAt(event);
    chart.setPointerCapture(event.pointerId);
  });
  chart.addEventListener("pointermove", (event) => {
    const to = columnAt(event);
    tell(to);
    if (from === null) return;
    brush.setAttribute("x", Math.min(from, to) * wide);
    brush.setAttribute("width", (Math.abs(to - from) + 1) * wide);
  });
  chart.addEventListener("pointerup", (event) => {
    if (from === null) return;
    const to = columnAt(event);
    const [low, high] = [Math.min(from, to), Math.max(from, to) + 1];
    from = null;
    choose([columnStart(low), columnStart(high)]);
  });
  chart.addEventListener("pointercancel", () => { from = null; brush.setAttribute("width", 0); });
  chart.addEventListener("pointerleave", () => { if (from === null) top.textContent = `${count(most)} ${columnName}`; });
}

// The most frequent come first, and are enough to begin with.
const FIRST_CAUSES = 10;
let showAllCauses = false;
function drawCauses(sums, state, choose) {
  const shown = showAllCauses ? sums.causes : sums.causes.slice(0, FIRST_CAUSES);
  const rest = sums.causes.length - shown.length;
  const more = el("button", { type: "button", class: "quiet more" }, `${rest} more`);
  more.addEventListener("click", () => {
    showAllCauses = true;
    drawCauses(sums, state, choose);
    byId("causes").querySelectorAll("button")[FIRST_CAUSES].focus();
  });
  byId("causes").replaceChildren(...(shown.length === 0 ? [nothing("Nothing.")] : [bars(shown.map(([cause, number]) => ({
    name: rows.causes[cause],
    value: number,
    text: `${count(number)} · ${percent(number / sums.decisions, 1)}`,
    kind: causeKind[cause],
    pressed: state.cause === rows.causes[cause],
    press: () => choose("cause", rows.causes[cause]),
  }))), ...(rest > 0 ? [more] : [])]));
}

// What each gate made of the stops that it looked at: audits, checks, loops and keep-alive are counted apart.
function drawGates(sums) {
  byId("gates").replaceChildren(sums.gates.length === 0 ? nothing("No gate looked at any of these.") : bars(sums.gates.map((gate) => ({
    name: gate.name,
    value: gate.looked,
    text: `${count(gate.looked)} looked · ${count(gate.held)} held`,
    kind: gate.held > 0 ? "block" : "",
  }))));
}

// Each cause is coloured by what it mostly came to.
const causeKind = rows.causes.map(() => [0, 0, 0, 0]);
rows.cause.forEach((cause, row) => { causeKind[cause][rows.kind[row]] += 1; });
causeKind.forEach((kinds, cause) => { causeKind[cause] = KIND_CLASSES[kinds.indexOf(Math.max(...kinds))]; });

// A dot for the share that was right, a line for where the truth lies with 95 %.
function whiskers(title, entries, naming) {
  if (entries.length === 0) return null;
  return [el("h3", {}, title), el("ul", { class: "whiskers" }, entries.map((entry) => el("li", {},
    el("span", { class: "name", title: naming?.(entry.name) }, entry.name),
    el("span", { class: "scale", "aria-hidden": "true" },
      placed(el("span", { class: "range" }), { left: share(entry.low, 1), right: share(1 - entry.high, 1) }),
      placed(el("span", { class: "dot" }), { left: share(entry.share, 1) })),
    el("span", { class: "value" }, percent(entry.share), el("small", {}, ` ${(entry.low * 100).toFixed(0)}–${percent(entry.high)}, ${count(entry.right)} of ${count(entry.n)}`)))))];
}

function drawPrecision(sums) {
  const { all, category, source, model } = sums.precision;
  const titles = new Map(head.categories);
  byId("precision").replaceChildren(...(all === null
    ? [nothing("Not known yet. A fix counts as right, a dispute that no reader contradicts as wrong, and punchlist log label overrules both.")]
    : [whiskers("All", [{ name: "findings", ...all }]), whiskers("By category", category, (name) => titles.get(name)),
      whiskers("By source", source), whiskers("By model", model)].flat().filter(Boolean)));
}

function drawOutcomes(sums, state, choose) {
  const entries = [...OUTCOMES, "unknown"].map((name) => [name, sums.outcomes.get(name) ?? 0]);
  const all = entries.reduce((sum, [, number]) => sum + number, 0);
  byId("outcomes").replaceChildren(all === 0 ? nothing("No finding held a stop.") : bars(entries.map(([name, number]) => ({
    name: name === "unknown" ? "not known yet" : name,
    value: number,
    text: `${count(number)} · ${percent(number / all)}`,
    kind: { fixed: "good", disputed: "block", ignored: "would", unknown: "none" }[name],
    pressed: state.outcome === name,
    press: () => choose("outcome", name),
  }))), ...peopleSay(sums.said));
}

function peopleSay({ right, wrong, missed }) {
  if (right + wrong + missed === 0) return [];
  const more = missed === 0 ? "" : ` ${many(missed, "stop")} that went through should not have.`;
  return [nothing(`People call ${count(right)} of all findings right and ${count(wrong)} wrong.${more}`)];
}

function drawFailures(sums) {
  byId("failures").replaceChildren(sums.failures.length === 0
    ? nothing(sums.asked === 0 ? "It was never asked." : `None in ${many(sums.asked, "call")}.`)
    : bars(sums.failures.map(([name, number]) => ({ name, value: number, text: `${count(number)} · ${percent(number / sums.asked, 1)}`, kind: "unchecked" }))), ...secondSaid(sums.second));
}

function secondSaid({ asked, answered, upheld, dismissed }) {
  if (asked === 0) return [];
  const missing = answered === asked ? "" : ` ${many(asked - answered, "call")} had no answer that counts.`;
  return [nothing(`The second reader was asked ${many(asked, "time")}: it upheld ${many(upheld, "finding")} and dismissed ${count(dismissed)}.${missing}`)];
}

// Both on one axis of powers of ten, since they are worlds apart.
function drawLatency(sums) {
  const { aside, audited, readers } = sums.latency;
  const series = [["ours, skipped stops", aside, "All of a stop that was not audited"], ["ours, auditing", audited, "All of an audit but the readers"], ["the readers", readers, "Both calls of a model together"]].filter(([, found]) => found !== null);
  if (series.length === 0) return byId("latency").replaceChildren(nothing("Nothing was measured."));
  const low = Math.floor(Math.log10(Math.max(0.1, Math.min(...series.map(([, found]) => found.of[0])))));
  const high = Math.ceil(Math.log10(Math.max(1, ...series.map(([, found]) => found.most))));
  const place = (ms) => share(Math.log10(Math.max(ms, 10 ** low)) - low, high - low || 1);
  const ticks = Array.from({ length: high - low + 1 }, (_, at) => low + at);
  byId("latency").replaceChildren(
    el("ul", { class: "whiskers spread", "aria-hidden": "true" }, series.map(([name, found, title]) => el("li", {},
      el("span", { class: "name", title }, name),
      el("span", { class: "scale" },
        placed(el("span", { class: "range" }), { left: place(found.of[0]), right: `calc(100% - ${place(found.of[2])})` }),
        found.of.map((ms, at) => placed(el("span", { class: at === 0 ? "dot" : "dot small", title: `${PERCENTILES[at]} %: ${duration(ms)}` }), { left: place(ms) })))))),
    el("div", { class: "ticks", "aria-hidden": "true" }, ticks.map((power) => placed(el("span", {}, duration(10 ** power).replace(/\.0/, "")), { left: share(power - low, high - low || 1) }))),
    el("table", { class: "small" },
      el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "percentile"), PERCENTILES.map((p) => el("th", { scope: "col" }, p)), el("th", { scope: "col" }, "most"))),
      el("tbody", {}, series.map(([name, found, title]) => el("tr", {}, el("th", { scope: "row", title }, name),
        found.of.map((ms) => el("td", {}, duration(ms))), el("td", {}, duration(found.most)))))));
}

function drawCost(sums, chosen) {
  const box = byId("cost");
  const costs = new Float64Array(columns);
  const tokens = new Float64Array(columns);
  for (const row of chosen) {
    if (columnOf[row] < 0) continue;
    costs[columnOf[row]] += rows.cost_usd[row] ?? 0;
    tokens[columnOf[row]] += rows.tokens_in[row] + rows.tokens_out[row];
  }
  const width = Math.max(120, box.clientWidth);
  const chart = (values, name, text) => {
    const most = Math.max(...values);
    if (!(most > 0)) return null;
    const wide = width / columns;
    return el("figure", {},
      el("figcaption", {}, name, el("span", {}, `at most ${text(most)} ${columnName}`)),
      svg("svg", { viewBox: `0 0 ${width} 56`, preserveAspectRatio: "none", height: 56, role: "img", "aria-label": `${name}, at most ${text(most)} ${columnName}` },
        Array.from(values, (value, column) => value > 0 && svg("rect", { class: "fill ink", x: (column * wide).toFixed(2),
          y: (56 - (value / most) * 54).toFixed(2), width: Math.max(0.5, wide - (wide > 4 ? 1 : 0)).toFixed(2), height: ((value / most) * 54).toFixed(2) },
          svg("title", {}, `${day(columnStart(column))}: ${text(value)}`)))));
  };
  const drawn = [chart(costs, `${money(sums.cost)} in all`, money), chart(tokens, `${short(sums.tokensIn + sums.tokensOut)} tokens`, short)].filter(Boolean);
  box.replaceChildren(...(drawn.length === 0 ? [nothing("No call was paid for.")] : [...drawn, axis(width)]));
}

function drawProjects(sums, state, choose) {
  const shown = sums.projects.slice(0, 9);
  const paid = sums.cost > 0;
  byId("projects").replaceChildren(...[bars(shown.map(([project, entry]) => ({
    name: project === null ? "no project" : projectNames[project],
    title: project === null ? "" : rows.projects[project],
    value: paid ? entry.cost : entry.decisions,
    text: `${paid ? `${money(entry.cost)} · ${short(entry.tokens)} tokens · ` : ""}${count(entry.held)} of ${count(entry.decisions)} held`,
    kind: "ink",
    pressed: state.project !== "" && Number(state.project) === project,
    press: project === null ? null : () => choose("project", String(project)),
  }))), sums.projects.length > shown.length && nothing(`and ${many(sums.projects.length - shown.length, "more project")}`)].filter(Boolean));
}

function drawLegend() {
  byId("legend").replaceChildren(...KINDS.map((name, kind) => el("li", {}, el("span", { class: `swatch fill ${KIND_CLASSES[kind]}` }), name)));
}

// Suggestions, of the whole log and never of what is filtered: nothing is learned from them by itself.
function drawRepeats() {
  byId("repeats").hidden = head.repeats.length === 0;
  byId("repeat-list").replaceChildren(...head.repeats.map((repeat) => {
    const link = el("button", { type: "button", class: "link" }, "the newest");
    link.addEventListener("click", () => openDecision(rowOfId.get(repeat.newest)));
    return el("li", {},
      el("p", {}, el("strong", {}, `${count(repeat.count)} × ${repeat.category}`), ` ${[repeat.kind, repeat.place && `in ${repeat.place}`].filter(Boolean).join(" ")}, in ${repeat.project}, ${repeat.right === 0 ? "never" : `${count(repeat.right)} ×`} right; `,
        rowOfId.has(repeat.newest) && link),
      el("p", { class: "hint" }, `If you agree, ${repeat.line.startsWith("[[") ? "at the end of" : "under [audit] in"} ${repeat.file}, and \`punchlist allow\`:`),
      el("pre", { class: "evidence" }, repeat.line),
      el("p", { class: "hint" }, repeat.line.startsWith("[[") ? `No finding of category ${repeat.category} on these paths then blocks a stop; all stay in the log.` : repeat.line.startsWith("block_on")
        ? `No finding of category ${repeat.category} then blocks a stop there (${repeat.right_in_category === 0 ? "none" : count(repeat.right_in_category)} of them ${repeat.right_in_category > 1 ? "have" : "has"} been right so far); all stay in the log.`
        : "Such a claim is then only reported, and blocks no stop."));
  }));
}
