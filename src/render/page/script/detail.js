// One decision, unfolded: takes its record and its snapshot, gives a node with the very words. Texts go in as texts.

const part = (title, ...children) => {
  const found = children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false);
  return found.length === 0 ? null : el("section", {}, el("h3", {}, title), found);
};
const pair = (name, value) => (value === null || value === undefined || value === false || value === "" || value.length === 0 ? null : [el("dt", {}, name), el("dd", {}, value)]);
const pairs = (...entries) => {
  const found = entries.filter(Boolean);
  return found.length === 0 ? null : el("dl", { class: "pairs" }, found);
};
const said = (text) => el("blockquote", {}, text);
const stamp = (time) => String(time).slice(0, 16).replace("T", " ");

const VERDICTS = { confirmed: "confirmed", "cannot-verify": "could not be verified", refuted: "refuted, and dropped", ignored: "ignored by the config" };
const SOURCES = { facts: "found by facts alone", reader: "found by the first reader", both: "found by facts and the first reader" };
const PLACES = { plan: "the plan", message: "the final message", tasks: "the task list", asks: "the person's asks" };
const AGAIN = { true: "A reader that was asked again says that the finding was never right.", false: "A reader that was asked again says that the finding was right." };

function labelWords(label) {
  return label && el("p", { class: `label ${label.label}` }, el("strong", {}, `A person says: ${label.label}.`),
    label.note && ` ${label.note}`, el("small", {}, ` ${stamp(label.time)} UTC`));
}

function outcomeWords(outcome) {
  return outcome && el("div", { class: `outcome ${outcome.outcome}` },
    el("p", {}, el("strong", {}, `${outcome.outcome[0].toUpperCase()}${outcome.outcome.slice(1)}.`), outcome.why && ` ${outcome.why}`,
      el("small", {}, ` ${stamp(outcome.time)} UTC`)),
    outcome.sentence && said(outcome.sentence),
    AGAIN[outcome.was_wrong] && el("p", {}, AGAIN[outcome.was_wrong]));
}

function findingNode(told, number) {
  const { finding } = told;
  return el("article", { class: `finding ${finding.status}` },
    el("header", {}, el("span", { class: "badge", "aria-hidden": "true" }, finding.category),
      el("h4", {}, `${number}. ${told.title}`),
      el("span", { class: "verdict" }, `${VERDICTS[finding.status] ?? finding.status}, ${SOURCES[finding.source] ?? finding.source}`)),
    finding.claim && said(finding.claim),
    el("p", { class: "why" }, finding.why),
    pairs(
      pair("where", [finding.path && el("code", {}, finding.path), finding.path && finding.step && ", ", finding.step && `step ${finding.step}`].filter(Boolean)),
      pair("said in", finding.claim && PLACES[finding.claimed_in]),
      pair("would settle it", finding.settle),
      pair("the checks", told.checks),
      pair("second reader", told.second)),
    finding.proof && el("pre", { class: "evidence", tabindex: "0", role: "group", "aria-label": "Proof" }, finding.proof),
    outcomeWords(told.outcome),
    labelWords(told.label));
}

const STEP_MARKS = { ticked: "✓", open: "○", dropped: "–" };
function stepNodes(steps, findings) {
  const found = new Map();
  findings.forEach(({ finding }, at) => {
    if (finding.step && !["refuted", "ignored"].includes(finding.status)) found.set(finding.step, [...(found.get(finding.step) ?? []), at + 1]);
  });
  return steps.length > 0 && el("ol", { class: "steps" }, steps.map((step) => {
    const numbers = found.get(step.number);
    return el("li", { class: `${step.state}${numbers ? " drifts" : ""}` },
      el("span", { class: "mark", title: step.state, role: "img", "aria-label": step.state }, STEP_MARKS[step.state] ?? "?"),
      el("span", { class: "number" }, `${step.number}`),
      el("span", {}, step.text, numbers && el("small", {}, ` finding ${numbers.join(", ")}`)));
  }));
}

// The lines of a file as it was shown. The first of a long one are enough to begin with.
const FIRST_LINES = 300;
function codeNode(text, isDiff) {
  const lines = text.replace(/\n$/, "").split("\n");
  const line = (words) => {
    const kind = !isDiff ? "" : words.startsWith("@@") ? "hunk" : words.startsWith("+") ? "added" : words.startsWith("-") ? "removed" : "";
    return el("span", { class: `line ${kind}` }, words === "" ? " " : words);
  };
  const code = el("code", {}, lines.slice(0, FIRST_LINES).map(line));
  const pre = el("pre", { class: isDiff ? "code diff" : "code", tabindex: "0", role: "group", "aria-label": isDiff ? "What changed" : "Text" }, code);
  if (lines.length <= FIRST_LINES) return pre;
  const more = el("button", { type: "button", class: "quiet" }, `Show ${many(lines.length - FIRST_LINES, "more line")}`);
  more.addEventListener("click", () => {
    code.append(...lines.slice(FIRST_LINES).map(line));
    more.remove();
  });
  return [pre, more];
}

function fileNodes(files, snapshot) {
  const seen = new Map((snapshot?.files ?? []).map((file) => [file.path, file.text]));
  const known = new Set(files.map((file) => file.path));
  const all = [...files, ...[...seen.keys()].filter((path) => !known.has(path)).map((path) => ({ path }))];
  return all.length > 0 && el("ul", { class: "files" }, all.map((file) => {
    const text = seen.get(file.path);
    const line = [el("code", { class: "path" }, file.path),
      el("span", { class: "how" }, [file.touched?.length > 0 && file.touched.join(", "), file.state, file.entered,
        file.bytes > 0 && `${size(file.bytes)} shown`, file.masked > 0 && `${file.masked} masked`].filter(Boolean).join(" · "))];
    if (text === undefined) return el("li", {}, el("div", { class: "file" }, line));
    const fold = el("details", {}, el("summary", { class: "file" }, line));
    fold.addEventListener("toggle", () => {
      if (fold.open && fold.children.length === 1) fold.append(...[codeNode(text, /^@@ /m.test(text))].flat());
    });
    return el("li", {}, fold);
  }));
}

function phaseNodes(phases) {
  const order = ["start", "input", "config", "state", "read", "wait", "plan", "checks", "evidence", "facts", "prompt", "auditor", "second-reader", "remember"];
  const inner = { wait: "read", facts: "evidence" };
  const entries = Object.entries(phases).filter(([name]) => name !== "total")
    .sort((a, b) => (order.indexOf(a[0]) + 1 || 99) - (order.indexOf(b[0]) + 1 || 99));
  // The readers' seconds would leave nothing to be seen of our milliseconds.
  const theirs = ["auditor", "second-reader"].filter((name) => phases[name] !== undefined);
  const ours = entries.filter(([name]) => !theirs.includes(name));
  const readers = theirs.length === 0 ? undefined : theirs.reduce((sum, name) => sum + phases[name], 0);
  const all = phases.total;
  return entries.length > 0 && [bars(ours.map(([name, ms]) => ({ name: inner[name] ? `${name} (of ${inner[name]})` : name, value: ms, text: duration(ms), kind: "ink" }))),
    all !== undefined && el("p", { class: "sum" }, readers === undefined ? `${duration(all)} in all` : `${duration(all)} in all, ${duration(readers)} of it the readers'`)];
}

function readerNodes(reader) {
  if (!reader) return null;
  const { usage } = reader;
  return [pairs(pair("model", reader.model), pair("came to", reader.outcome), pair("says", reader.detail), pair("took", duration(reader.duration_ms)),
    pair("tokens in", usage && `${count(usage.input_tokens)} new, ${count(usage.cache_read_tokens)} from the cache, ${count(usage.cache_write_tokens)} into it`),
    pair("tokens out", usage && count(usage.output_tokens)), pair("cost", money(usage?.cost_usd)),
    pair("asked by", reader.backend), pair("client", reader.client), pair("sealed with", (reader.flags ?? []).join(" ")))];
}

const PLAN_SOURCES = { approved: "approved in the session", "approved-file": "approved, and kept up in its file", "touched-file": "a file that the session changed",
  "named-file": "a file that was named", "given-file": "given for this audit" };

function detailNode(row) {
  const record = detailOf(row);
  const snapshot = snapshotOf(row);
  if (record === null) return el("div", { class: "record" }, nothing("The page has no room for this one."), el("p", {}, el("code", {}, `punchlist log show ${rows.id[row]}`)));
  const findings = record.findings ?? [];
  const plan = record.plan && pairs(pair("file", record.plan.path), pair("how", PLAN_SOURCES[record.plan.source] ?? record.plan.source),
    pair("steps", `${record.plan.ticked} of ${record.plan.steps} ticked${record.plan.dropped ? `, ${record.plan.dropped} dropped` : ""}`));
  const skipped = Object.entries(record.transcript?.skipped ?? {}).filter(([, number]) => number > 0).map(([name, number]) => `${number} ${name}`).join(", ");
  return el("div", { class: "record" },
    el("div", { class: "main" },
      labelWords(record.label),
      part("Asked", (snapshot?.asks ?? []).map(said)),
      findings.length > 0 && part(findings.length === 1 ? "Finding" : "Findings", findings.map((told, at) => findingNode(told, at + 1))),
      record.detail && findings.length === 0 && part("In words", el("p", { class: "words" }, record.detail)),
      part("Gates", (record.gates ?? []).map((gate) => el("div", { class: "advisory" }, el("p", {}, el("strong", {}, gate.gate), ` ${gate.outcome} (${gate.cause})`),
        gate.detail && el("pre", { class: "evidence", tabindex: "0", role: "group", "aria-label": `What ${gate.gate} says` }, gate.detail)))),
      part("Should be known", (record.advisories ?? []).map((advisory) => el("div", { class: "advisory" }, el("p", {}, el("strong", {}, advisory.kind), " ", advisory.text),
        advisory.evidence && el("pre", { class: "evidence", tabindex: "0", role: "group", "aria-label": "Evidence" }, advisory.evidence)))),
      part("Plan", plan, snapshot && stepNodes(snapshot.steps ?? [], findings)),
      part("What the agent said last", snapshot?.final_message && el("blockquote", { class: "last" }, snapshot.final_message)),
      part("Files", fileNodes(record.files ?? [], snapshot)),
      snapshot === null && (record.files ?? []).length > 0 && nothing("What the audit looked at is not on this page.")),
    el("aside", { "aria-label": "Circumstances" },
      part("Decision", pairs(pair("id", el("code", {}, rows.id[row])), pair("when", `${when(rows.at[row])} (${String(record.time).slice(11, 19)} UTC)`), pair("project", projectOf(row)),
        pair("session", sessionOf(row)), pair("agent", record.agent), pair("event", record.event), pair("dry run", record.dry_run && "yes"),
        pair("config", record.config_error), pair("transcript", record.transcript && `${many(record.transcript.rows, "row")}${record.transcript.subagents ? `, ${many(record.transcript.subagents, "subagent")}` : ""}${skipped ? `; skipped: ${skipped}` : ""}`),
        pair("not read", record.transcript?.problem), pair("masked", record.masked > 0 && many(record.masked, "secret")),
        pair("prompt", record.prompt_bytes > 0 && size(record.prompt_bytes)), pair("client", record.client_version), pair("punchlist", record.version))),
      part("Where the time went", phaseNodes(record.phases_ms ?? {})),
      part("First reader", readerNodes(record.auditor)),
      part("Second reader", readerNodes(record.second_reader)),
      el("p", { class: "hint" }, el("code", {}, `punchlist log show ${rows.id[row]}`))));
}
