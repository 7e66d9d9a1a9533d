// The keys: takes what is pressed, moves, unfolds, filters. Whoever types into a field types.

function setUpKeys() {
  const dialog = byId("keys");
  const showKeys = () => { if (!dialog.open) dialog.showModal(); };
  byId("help").addEventListener("click", showKeys);
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || dialog.open) return;
    const field = event.target.closest?.("input, select, textarea");
    const inRow = event.target.closest?.("#rows .row");
    const move = (index) => { event.preventDefault(); goTo(index); };
    if (field) {
      if (event.key === "Escape") { event.preventDefault(); clearFilters(); field.blur(); }
      else if (event.key === "Enter" && field.id === "f-text") move(0);
      return;
    }
    if (event.key === "?") return showKeys();
    if (event.key === "t") return nextTheme();
    if (total === 0) return;
    if (event.key === "Escape") clearFilters();
    else if (event.key === "/") { event.preventDefault(); byId("f-text").focus(); byId("f-text").select(); }
    // From elsewhere the first press goes to the row where one was, not past it.
    else if (event.key === "j" || (event.key === "ArrowDown" && inRow)) move(inRow ? cursor + 1 : cursor);
    else if (event.key === "k" || (event.key === "ArrowUp" && inRow)) move(inRow ? cursor - 1 : cursor);
    else if (event.key === "Home" && inRow) move(0);
    else if (event.key === "End" && inRow) move(view.length - 1);
  });
}
