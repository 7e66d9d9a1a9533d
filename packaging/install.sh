#!/bin/sh
# Installs punchlist for one person: downloads the archive of this platform, checks its SHA-256, and puts the program into
# ~/.local/bin. Needs no root, no toolchain and no package manager. Takes PUNCHLIST_VERSION (such as v0.1.0; else the
# newest), PUNCHLIST_BIN (another folder) and PUNCHLIST_RELEASES (another place of the releases).
set -eu

# All of it is read before any of it runs: a download that is cut off does nothing.
main() {

releases="${PUNCHLIST_RELEASES:-@RELEASES@}"
bin="${PUNCHLIST_BIN:-$HOME/.local/bin}"

fail() {
  printf 'punchlist: %s\n' "$*" >&2
  exit 1
}

case "$(uname -s)" in
  Linux) system=unknown-linux-musl ;;
  Darwin) system=apple-darwin ;;
  *) fail "there is no archive for $(uname -s); \`npm install -g punchlist\` may have it" ;;
esac
case "$(uname -m)" in
  x86_64 | amd64) machine=x86_64 ;;
  aarch64 | arm64) machine=aarch64 ;;
  *) fail "there is no archive for $(uname -m); \`cargo install punchlist\` builds it" ;;
esac
name="punchlist-$machine-$system"

case "$releases" in
  http*) ;;
  *) fail "this copy of the script does not know where the releases are: set PUNCHLIST_RELEASES" ;;
esac
if [ -n "${PUNCHLIST_VERSION:-}" ]; then
  from="$releases/download/$PUNCHLIST_VERSION"
else
  from="$releases/latest/download"
fi

download() {
  if command -v curl >/dev/null 2>&1; then
    curl -fsSL --retry 2 -o "$2" "$1"
  elif command -v wget >/dev/null 2>&1; then
    wget -qO "$2" "$1"
  else
    fail "neither curl nor wget is on your PATH"
  fi || fail "$1 could not be downloaded"
}

sum_of() {
  if command -v sha256sum >/dev/null 2>&1; then
    sha256sum "$1"
  elif command -v shasum >/dev/null 2>&1; then
    shasum -a 256 "$1"
  else
    fail "neither sha256sum nor shasum is on your PATH: the download can't be checked"
  fi | cut -d ' ' -f 1
}

folder=$(mktemp -d)
trap 'rm -rf -- "$folder"' EXIT
download "$from/$name.tar.gz" "$folder/archive"
download "$from/$name.tar.gz.sha256" "$folder/sum"
wanted=$(cut -d ' ' -f 1 <"$folder/sum")
found=$(sum_of "$folder/archive")
if [ -z "$wanted" ] || [ "$wanted" != "$found" ]; then
  fail "the checksum of $name.tar.gz is $found and not $wanted: nothing was installed"
fi
tar -xzf "$folder/archive" -C "$folder"
"$folder/$name/punchlist" --version >/dev/null || fail "the program does not run here: nothing was installed"

mkdir -p "$bin"
# Beside its place and then renamed: a hook may be running the old one.
cp "$folder/$name/punchlist" "$bin/.punchlist-new"
chmod 755 "$bin/.punchlist-new"
mv -f "$bin/.punchlist-new" "$bin/punchlist"
# `punchlist update --check` asks there.
share="$(dirname "$bin")/share/punchlist"
mkdir -p "$share" && printf '%s\n' "$releases" >"$share/installed-from"

printf 'Installed %s in %s\n' "$("$bin/punchlist" --version)" "$bin"
case ":$PATH:" in
  *":$bin:"*) printf 'Next: punchlist demo, then punchlist install in a project.\n' ;;
  *) printf 'That folder is not on your PATH: add it, or run %s/punchlist install in a project.\n' "$bin" ;;
esac
}

main
