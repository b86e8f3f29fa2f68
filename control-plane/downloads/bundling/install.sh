#!/bin/sh
# Installs @NAME@, @ABOUT@ of the sign-in protection service:
#
#   curl -fsSL @BASE_URL@@PATH@/install | sh
#   curl -fsSL @BASE_URL@@PATH@/install | sh -s -- uninstall
#
#   SERVICE_INSTALL_DIR   where it goes; $HOME/.local/bin if that is not set
#   SERVICE_BASE_URL      another address of the same service
#
# Nothing is installed before the download has proven to be the one that this script was made for.
# It asks for no other rights than yours.

set -eu

built_in_base_url='@BASE_URL@'
version='@VERSION@'
sha256='@SHA256@'
work=''
fresh=''
outcome='Nothing has been installed.'

say() {
  printf '%s\n' "$*"
}

stop() {
  printf '@NAME@: %s\n' "$1" >&2
  shift
  for line in "$@"; do printf '  %s\n' "$line" >&2; done
  printf '  %s\n' "$outcome" >&2
  exit 1
}

clean_up() {
  if [ -n "$work" ]; then rm -rf "$work"; fi
  if [ -n "$fresh" ]; then rm -f "$fresh"; fi
}

has() {
  command -v "$1" >/dev/null 2>&1
}

need_node() {
  has node || stop 'Node.js 20 or later is needed, and there is no "node" on the PATH.' \
    'Install it from https://nodejs.org and run this again.'
  found=$(node -p 'process.versions.node' 2>/dev/null) || found=''
  major=${found%%.*}
  case $major in
    '' | *[!0-9]*) stop 'Node.js 20 or later is needed, and "node" does not tell its version.' ;;
  esac
  [ "$major" -ge 20 ] || stop "Node.js 20 or later is needed, and this is $found." \
    'Install a newer one from https://nodejs.org and run this again.'
}

# The last word of what openssl says, the first one of the others.
sha256_of() {
  if has sha256sum; then
    sum=$(sha256sum <"$1") && printf '%s' "${sum%% *}"
  elif has shasum; then
    sum=$(shasum -a 256 <"$1") && printf '%s' "${sum%% *}"
  else
    sum=$(openssl dgst -sha256 <"$1") && printf '%s' "${sum##* }"
  fi
}

# No time-out for wget: that of busybox 1.35 crashes on the option, and each has one of its own.
fetch() {
  if has curl; then
    curl -fsSL --max-time 300 -o "$2" "$1"
  else
    wget -q -O "$2" "$1"
  fi
}

# All of it in one function: of a script that arrives only in part, nothing runs.
main() {
  case ${1:-install} in
    install) install ;;
    uninstall) uninstall ;;
    *) stop "There is nothing called \"$1\" to be done." \
      'Without a word it installs; the other one is: uninstall' ;;
  esac
}

find_directory() {
  if [ -z "${SERVICE_INSTALL_DIR:-}" ] && [ -z "${HOME:-}" ]; then
    stop 'Neither HOME nor SERVICE_INSTALL_DIR is set.' \
      'Set SERVICE_INSTALL_DIR to the directory that the program goes to.'
  fi
  directory=${SERVICE_INSTALL_DIR:-$HOME/.local/bin}
  [ "$directory" = / ] || directory=${directory%/}
  case $directory in
    /*) ;;
    *) directory=$PWD/$directory ;;
  esac
}

install() {
  base_url=${SERVICE_BASE_URL:-$built_in_base_url}
  base_url=${base_url%/}
  case $base_url in
    http://* | https://*) ;;
    *) stop "SERVICE_BASE_URL is not an address like https://id.example.com: $base_url" ;;
  esac
  find_directory
  need_node
  has sha256sum || has shasum || has openssl ||
    stop 'The download cannot be checked: there is no sha256sum, no shasum and no openssl.' \
      'Install one of them and run this again.'
  has curl || has wget || stop 'There is neither curl nor wget.' \
    'Install one of them and run this again.'

  umask 022
  work=$(mktemp -d "${TMPDIR:-/tmp}/@NAME@.XXXXXX") ||
    stop 'There is no place for temporary files.' 'Set TMPDIR to a directory that can be written.'
  url=$base_url@PATH@/@NAME@.mjs
  fetch "$url" "$work/program" || stop "$url cannot be fetched." "Try: curl -v $url"
  actual=$(sha256_of "$work/program") || actual='unknown'
  [ "$actual" = "$sha256" ] || stop "What came from $url is not what this script was made for." \
    "expected SHA-256: $sha256" "received SHA-256: $actual" \
    'Fetch this script once more; if that does not help, somebody changes the download.'

  install_program
  say "@NAME@ $version is in $directory."
  case ":${PATH:-}:" in
    *":$directory:"*) ;;
    *)
      say 'That directory is not on your PATH. For this terminal, and in your profile for the next:'
      say "  export PATH=\"$directory:\$PATH\""
      ;;
  esac
  next_step
}

# Somebody else's program of that name stays where it is.
need_own_link() {
  link=$directory/@NAME@
  if [ ! -e "$link" ] && [ ! -L "$link" ]; then return 0; fi
  target=$(readlink "$link" 2>/dev/null) || target=''
  [ "$target" = @NAME@.mjs ] ||
    stop "$link is not what this script puts there." 'Move it away yourself if you want to.'
}

# Renamed into place on the same file system, so that there is always a whole one or none. The
# name without an ending is a link, as Node tells a module by the ending of the real file.
install_program() {
  mkdir -p "$directory" || stop "$directory cannot be made." \
    'Set SERVICE_INSTALL_DIR to a directory that you may write to.'
  for taken in "$directory/@NAME@" "$directory/@NAME@.mjs"; do
    [ ! -d "$taken" ] || stop "$taken is a directory."
  done
  need_own_link
  fresh=$directory/.@NAME@.$$
  if cp "$work/program" "$fresh" && chmod 755 "$fresh" &&
    mv -f "$fresh" "$directory/@NAME@.mjs" &&
    ln -s @NAME@.mjs "$fresh" && mv -f "$fresh" "$directory/@NAME@"; then
    return 0
  fi
  stop "$directory cannot be written to." \
    'Set SERVICE_INSTALL_DIR to a directory that you may write to.'
}

# Only what this script puts there: the link, and a program with our name in its second line.
uninstall() {
  outcome='Nothing has been removed.'
  find_directory
  program=$directory/@NAME@.mjs
  link=$directory/@NAME@
  if [ ! -e "$program" ] && [ ! -L "$program" ] && [ ! -L "$link" ]; then
    say "@NAME@ is not in $directory; there is nothing to remove."
    return 0
  fi
  if [ -f "$program" ]; then
    mark=''
    { read -r _ && read -r mark; } <"$program" || :
    case $mark in
      '// @NAME@ '*) ;;
      *) stop "$program is not what this script has installed." 'Remove it yourself if you want to.' ;;
    esac
  fi
  need_own_link
  for ours in "$link" "$program"; do
    if [ -L "$ours" ] || [ "$ours" = "$program" ]; then
      rm -f "$ours" || stop "$ours cannot be removed."
    fi
  done
  say "@NAME@ is no longer in $directory."
  what_stays
}

@PARTS@

trap clean_up EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM
main "$@"
