// The start: takes all of the above, tells what the page is, and draws it anew whenever a filter changes.

function tellAbout() {
  const only = head.only ? `only ${head.only}; ` : "";
  byId("about").textContent = plain(total === 0 ? `${only}made ${head.made}`
    : `${many(total, "decision")}, ${only}${isTimed ? `${day(span[0])} to ${day(span[1])}, ` : ""}times in ${head.zone}`);
  byId("foot").replaceChildren(...[
    `Made ${head.made} by punchlist ${head.version}. Nothing here leaves this file.`,
    head.torn > 0 && `${many(head.torn, "line")} of the log could not be read and ${head.torn === 1 ? "is" : "are"} not counted.`,
    head.snapshots_left_out > 0 && `The page has no room for what ${many(head.snapshots_left_out, "older audit")} looked at; punchlist log show ID has it.`,
    head.details_left_out > 0 && `The page has no room for the findings and files of ${many(head.details_left_out, "older decision")}; they are counted, and punchlist log show ID has them.`,
  ].filter(Boolean).map((text) => el("p", {}, text)));
}

tellAbout();
byId("empty").hidden = total > 0;
if (head.only) byId("empty").textContent = "No decision in the log is like that.";
byId("main").hidden = total === 0;
setUpKeys();
if (total > 0) start();

function start() {
  drawLegend();
  drawRepeats();
  const narrow = matchMedia("(max-width: 760px)");
  const fold = () => { byId("more").open = !narrow.matches; };
  narrow.addEventListener("change", fold);
  fold();
  let drawnFor = null;
  const draw = () => {
    const { chosen, whenever, sums } = drawnFor;
    drawGlance(sums);
    drawTimeline(whenever, state.range, filters.during);
    drawCauses(sums, state, filters.toggle);
    drawGates(sums);
    drawPrecision(sums);
    drawOutcomes(sums, state, filters.toggle);
    drawFailures(sums);
    drawLatency(sums);
    drawCost(sums, chosen);
    drawProjects(sums, state, filters.toggle);
  };
  const changed = () => {
    const from = performance.now();
    const { chosen, whenever } = choose();
    drawnFor = { chosen, whenever, sums: figures(chosen) };
    // A bar that was pressed is drawn anew, and keeps the focus that it had.
    const focused = document.activeElement?.closest?.(".bars > li");
    const [list, at] = focused ? [focused.closest("[id]").id, [...focused.parentNode.children].indexOf(focused)] : [null, 0];
    draw();
    if (list) byId(list).querySelectorAll(".bars > li")[at]?.querySelector("button")?.focus();
    showRows(chosen);
    byId("shown").textContent = isFiltered() ? `${count(chosen.length)} of ${count(total)}` : many(total, "decision");
    document.documentElement.dataset.took = (performance.now() - from).toFixed(1);
  };
  const filters = setUpFilters(changed);
  setUpTable(filters.clear);
  changed();
  let width = innerWidth;
  addEventListener("resize", () => {
    if (innerWidth === width) return;
    width = innerWidth;
    draw();
  });
  openNamed();
  addEventListener("hashchange", openNamed);
  gatherHaystacks();
}
