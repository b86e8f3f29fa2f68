# What all installers say, check and fetch in the same way.
work=''
outcome='Nothing has been installed.'
is_told=''

say() {
  printf '%s\n' "$*"
}

stop() {
  is_told=yes
  printf '@NAME@: %s\n' "$1" >&2
  shift
  for line in "$@"; do printf '  %s\n' "$line" >&2; done
  printf '  %s\n' "$outcome" >&2
  exit 1
}

# Whatever fails on its own has said why.
clean_up() {
  code=$?
  if [ -n "$work" ]; then rm -rf "$work"; fi
  take_back
  [ "$code" = 0 ] || [ -n "$is_told" ] || printf '@NAME@: %s\n' "$outcome" >&2
}

has() {
  command -v "$1" >/dev/null 2>&1
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
    curl -fsSL --max-time @SECONDS_MAX@ -o "$2" "$1"
  else
    wget -q -O "$2" "$1"
  fi
}

# $1: where from; $2: where to; $3: what it must be.
fetch_exactly() {
  fetch "$1" "$2" || stop "$1 cannot be fetched." "Try: curl -v $1"
  actual=$(sha256_of "$2") || actual='unknown'
  [ "$actual" = "$3" ] || stop "What came from $1 is not what this script was made for." \
    "expected SHA-256: $3" "received SHA-256: $actual" \
    'Fetch this script once more; if that does not help, somebody changes the download.'
}

need_tools() {
  has sha256sum || has shasum || has openssl ||
    stop 'The download cannot be checked: there is no sha256sum, no shasum and no openssl.' \
      'Install one of them and run this again.'
  has curl || has wget || stop 'There is neither curl nor wget.' \
    'Install one of them and run this again.'
}

make_work() {
  umask 022
  work=$(mktemp -d "${TMPDIR:-/tmp}/@NAME@.XXXXXX") ||
    stop 'There is no place for temporary files.' 'Set TMPDIR to a directory that can be written.'
}

# All of it in functions: of a script that arrives only in part, nothing runs.
main() {
  case ${1:-install} in
    install) install ;;
    uninstall) uninstall ;;
    *) stop "There is nothing called \"$1\" to be done." \
      'Without a word it installs; the other one is: uninstall' ;;
  esac
}
