// The filters: takes what a person chose, gives the numbers of the decisions that are like that. What they choose is
// kept here alone; whoever shows it is told when it changes.

const state = { text: "", kind: "", cause: "", category: "", outcome: "", advisory: "", project: "", session: "", range: null };
const controls = {
  text: byId("f-text"), kind: byId("f-kind"), cause: byId("f-cause"), category: byId("f-category"),
  outcome: byId("f-outcome"), advisory: byId("f-advisory"), project: byId("f-project"), session: byId("f-session"),
};
const fromControl = byId("f-from");
const toControl = byId("f-to");

const option = (value, text) => el("option", { value }, text);
function fillControls() {
  const causes = rows.causes.toSorted();
  const projects = projectNames.map((name, at) => [name, String(at)]).sort((a, b) => a[0].localeCompare(b[0]));
  controls.kind.replaceChildren(option("", "any"), ...KINDS.map((name, kind) => option(String(kind), name)));
  controls.cause.replaceChildren(option("", "any"), ...causes.map((name) => option(name, name)));
  controls.category.replaceChildren(option("", "any"), ...head.categories.map(([name, title]) => option(name, `${name}: ${title}`)));
  controls.outcome.replaceChildren(option("", "any"), ...OUTCOMES.map((name) => option(name, name)), option("unknown", "not known yet"),
    option("right", "labelled right"), option("wrong", "labelled wrong"));
  controls.advisory.replaceChildren(option("", "any"), ...rows.advisory_kinds.toSorted().map((name) => option(name, name)));
  controls.project.replaceChildren(option("", "any"), ...projects.map(([name, at]) => option(at, name)));
}

const hasCategory = (row) => {
  for (let at = firstFinding[row]; at < firstFinding[row + 1]; at += 1)
    if (rows.finding_category[at] === state.category && !["refuted", "ignored"].includes(rows.finding_status[at])) return true;
  return false;
};
const hasOutcome = (row) => {
  if (rows.label[row] === state.outcome) return true;
  for (let at = firstFinding[row]; at < firstFinding[row + 1]; at += 1) {
    const isHeld = rows.kind[row] === 0 && rows.finding_status[at] === "confirmed";
    const outcome = rows.finding_outcome[at] ?? (isHeld ? "unknown" : null);
    if (outcome === state.outcome || rows.finding_label[at] === state.outcome) return true;
  }
  return false;
};

// Every word has to be there, in whatever case and order; words in quotes stand together.
const wordsOf = (text) => (text.toLowerCase().match(/"[^"]+"|\S+/g) ?? []).map((word) => word.replaceAll('"', "")).filter(Boolean);

// Those that are chosen, and those that would be but for their time.
function choose() {
  const words = wordsOf(state.text);
  const kind = state.kind === "" ? null : Number(state.kind);
  const cause = state.cause === "" ? null : rows.causes.indexOf(state.cause);
  const project = state.project === "" ? null : Number(state.project);
  const advisory = state.advisory === "" ? null : rows.advisory_kinds.indexOf(state.advisory);
  const session = state.session.trim().toLowerCase();
  const sessions = session && new Set(rows.sessions.map((id, at) => (id.toLowerCase().startsWith(session) ? at : -1)));
  const [chosen, whenever] = [[], []];
  for (let row = 0; row < total; row += 1) {
    if (kind !== null && rows.kind[row] !== kind) continue;
    if (cause !== null && rows.cause[row] !== cause) continue;
    if (project !== null && rows.project[row] !== project) continue;
    if (sessions && (rows.session[row] === null || !sessions.has(rows.session[row]))) continue;
    if (advisory !== null && !rows.advisories[row].includes(advisory)) continue;
    if (state.category && !hasCategory(row)) continue;
    if (state.outcome && !hasOutcome(row)) continue;
    if (words.length > 0 && !words.every((word) => haystack(row).includes(word))) continue;
    whenever.push(row);
    if (state.range === null || (rows.at[row] >= state.range[0] && rows.at[row] < state.range[1])) chosen.push(row);
  }
  return { chosen, whenever };
}

const isFiltered = () => state.range !== null || Object.keys(controls).some((name) => state[name] !== "");

function showControls() {
  for (const [name, control] of Object.entries(controls)) if (control.value !== state[name]) control.value = state[name];
  const [from, to] = state.range ?? [null, null];
  fromControl.value = from === null || from === -Infinity ? "" : isoDay(from);
  toControl.value = to === null || to === Infinity ? "" : isoDay(to - 1);
}

function setUpFilters(changed) {
  fillControls();
  const update = () => { showControls(); changed(); };
  for (const [name, control] of Object.entries(controls))
    control.addEventListener(control.tagName === "SELECT" ? "change" : "input", () => { state[name] = control.value; changed(); });
  const dates = () => {
    const from = fromControl.value ? Date.parse(fromControl.value) : -Infinity;
    const to = toControl.value ? Date.parse(toControl.value) + DAY : Infinity;
    state.range = from === -Infinity && to === Infinity ? null : [from, to];
    changed();
  };
  fromControl.addEventListener("change", dates);
  toControl.addEventListener("change", dates);
  const clear = () => {
    for (const name of Object.keys(controls)) state[name] = "";
    state.range = null;
    update();
  };
  byId("filters").addEventListener("reset", (event) => { event.preventDefault(); clear(); });
  byId("filters").addEventListener("submit", (event) => event.preventDefault());
  // Pressed again, a bar lets go.
  const toggle = (name, value) => { state[name] = state[name] === value ? "" : value; update(); };
  const during = (range) => {
    state.range = state.range && range && state.range[0] === range[0] && state.range[1] === range[1] ? null : range;
    update();
  };
  return { clear, toggle, during };
}
