// Light and dark: as the system has it, or as the person wants it, remembered where the browser remembers anything for
// a page that came from a file.

const THEMES = ["auto", "light", "dark"];
const THEME_KEY = "punchlist-theme";
let theme = "auto";
try {
  theme = THEMES.find((name) => name === localStorage.getItem(THEME_KEY)) ?? "auto";
} catch { /* It is not remembered then. */ }

function showTheme() {
  if (theme === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  byId("theme").textContent = `Theme: ${theme}`;
}
function nextTheme() {
  theme = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length];
  try {
    localStorage.setItem(THEME_KEY, theme);
  } catch { /* As above. */ }
  showTheme();
}

showTheme();
byId("theme").addEventListener("click", nextTheme);
