#!/bin/sh
# The plugin's hooks, for stops and, with a timeout of its own, for a session's start: runs punchlist where it is, and where it is
# not says once what to do. Must not hold or break a session by being there: exit 2 comes from punchlist alone.

is_start=$#
[ "$is_start" -gt 0 ] || set -- --hook-timeout 120

# A folder of the plugin's own that outlives its updates, where the client gives one.
data="${CLAUDE_PLUGIN_DATA:-${XDG_CACHE_HOME:-$HOME/.cache}/punchlist}"

run_from() {
  for place; do
    if [ -n "$place" ] && [ -f "$place" ] && [ -x "$place" ]; then
      exec "$place" hook $flags
    fi
  done
}

flags="$*"
run_from "$(command -v punchlist 2>/dev/null)" "${CARGO_HOME:-$HOME/.cargo}/bin/punchlist" "$HOME/.local/bin/punchlist" \
  "$(cat "$data/npm-program" 2>/dev/null)"

# npm takes a third of a second to say where its global packages are: it is asked once a day, and what it says is kept.
if [ -z "$(find "$data/npm-asked" -mtime -1 2>/dev/null)" ] && command -v npm >/dev/null 2>&1; then
  mkdir -p "$data" 2>/dev/null
  (: >"$data/npm-asked") 2>/dev/null
  # From the root, where no project has settings for it; only the program of this platform: a shell that can't run one takes it for
  # a script, and may end with 2.
  packages=$(cd / && npm_config_update_notifier=false npm root -g 2>/dev/null)
  case "$(uname -s)-$(uname -m)" in
    Linux-x86_64) here=linux-x64 ;;
    Linux-aarch64) here=linux-arm64 ;;
    Darwin-x86_64) here=darwin-x64 ;;
    Darwin-arm64) here=darwin-arm64 ;;
    *) here=none ;;
  esac
  for place in "$packages/punchlist/node_modules/@punchlist/$here/bin/punchlist" "$packages/@punchlist/$here/bin/punchlist"; do
    if [ -x "$place" ]; then
      (printf '%s\n' "$place" >"$data/npm-program") 2>/dev/null
      run_from "$place"
    fi
  done
fi

# A stop tells it: at a start not every client shows the person anything.
[ "$is_start" -eq 0 ] || exit 0

note="$data/punchlist-is-missing"
if [ ! -e "$note" ]; then
  mkdir -p "$data" 2>/dev/null
  # In a shell of its own: where the file can't be made, dash ends at once, with 2, and 2 means "block".
  if (set -C && : >"$note") 2>/dev/null; then
    printf '%s\n' '{"systemMessage":"punchlist: the plugin is on, but there is no punchlist on your PATH, so nothing is checked. Install it with `npm install -g punchlist` (or `uv tool install punchlist`, `cargo install punchlist`), or switch the plugin off with `/plugin`."}'
  fi
fi
exit 0
