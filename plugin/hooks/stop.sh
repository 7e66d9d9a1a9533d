#!/bin/sh
# The plugin's hooks, for stops and, with a timeout of its own, for a session's start: runs punchlist where it is, and where it is
# not says once what to do. Must not hold or break a session by being there: exit 2 comes from punchlist alone.

is_start=$#
[ "$is_start" -gt 0 ] || set -- --hook-timeout 120

for place in "$(command -v punchlist 2>/dev/null)" "${CARGO_HOME:-$HOME/.cargo}/bin/punchlist" "$HOME/.local/bin/punchlist"; do
  if [ -n "$place" ] && [ -x "$place" ]; then
    exec "$place" hook "$@"
  fi
done

# A stop tells it: at a start not every client shows the person anything.
[ "$is_start" -eq 0 ] || exit 0

# Told once: a note in a folder of the plugin's own that outlives its updates, where the client gives one.
note="${CLAUDE_PLUGIN_DATA:-${XDG_CACHE_HOME:-$HOME/.cache}/punchlist}/punchlist-is-missing"
if [ ! -e "$note" ]; then
  mkdir -p "$(dirname "$note")" 2>/dev/null
  # In a shell of its own: where the file can't be made, dash ends at once, with 2, and 2 means "block".
  if (set -C && : >"$note") 2>/dev/null; then
    printf '%s\n' '{"systemMessage":"punchlist: the plugin is on, but there is no punchlist on your PATH, so nothing is checked. Install it with `cargo install --path .` in a checkout of punchlist, or switch the plugin off with `/plugin`."}'
  fi
fi
exit 0
