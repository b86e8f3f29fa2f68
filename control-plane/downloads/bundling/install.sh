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
fresh=''

@COMMON@

take_back() {
  if [ -n "$fresh" ]; then rm -f "$fresh"; fi
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
  need_tools
  make_work
  fetch_exactly "$base_url@PATH@/@NAME@.mjs" "$work/program" "$sha256"
  install_program
  is_told=yes
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
  is_told=yes
  say "@NAME@ is no longer in $directory."
  what_stays
}

@PARTS@

@START@
