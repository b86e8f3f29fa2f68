#!/bin/sh
# Installs the device agent of the sign-in protection service, and enrolls this machine:
#
#   curl -fsSL '@BASE_URL@/install/linux?ticket=…' | sudo sh
#   sudo sh this-file                enrolls with a ticket that it asks for
#   sudo sh this-file uninstall      takes everything back
#
# Nothing is installed before each download has proven to be the one that this script was made for.
# What the agent tells of this machine: sudo service-device-agent collect --print

set -eu

base_url='@BASE_URL@'
version='@VERSION@'
agent_sha256='@AGENT_SHA256@'
node_x64_sha256='@NODE_X64_SHA256@'
node_arm64_sha256='@NODE_ARM64_SHA256@'
ticket='@TICKET@'
directory=/usr/local/lib/service-device-agent
command=/usr/local/bin/service-device-agent
mark='# Written by the installer of service-device-agent'
placed=''

@COMMON@

take_back() {
  if [ -n "$placed" ]; then
    rm -rf "$directory"
    rm -f "$command"
  fi
}

need_root() {
  [ "$(id -u)" = 0 ] || stop 'The agent is installed and removed by root.' 'Run this with sudo.'
}

# Root runs it from now on: whoever may change it, or a folder on the way to it, would be root. In a
# folder with the sticky bit nobody replaces what is root's.
is_roots_alone() {
  place=$1
  while :; do
    listed=$(ls -ldn "$place") || return 1
    printf '%s\n' "$listed" | {
      read -r mode _ owner _
      case $mode in
        d????????[tT]*) [ "$owner" = 0 ] ;;
        ?????w* | ????????w*) false ;;
        *) [ "$owner" = 0 ] ;;
      esac
    } || return 1
    [ "$place" != / ] || return 0
    place=${place%/*}
    place=${place:-/}
  done
}

# A Node of this machine, if it is new enough and everybody may run it; else the one that we hand out.
find_node() {
  node=''
  passed_over=''
  if has node; then
    node=$(readlink -f "$(command -v node)") || node=''
    case $node in
      /home/* | /root/* | /run/user/*) node='' ;;
    esac
    if [ -n "$node" ] && ! is_roots_alone "$node"; then
      passed_over="$node is not used: others than root may change it, or a folder that it is in."
      node=''
    fi
  fi
  if [ -n "$node" ]; then
    major=$("$node" -p 'process.versions.node.split(".")[0]' 2>/dev/null) || major=''
    case $major in
      '' | *[!0-9]*) node='' ;;
      *) [ "$major" -ge 20 ] || node='' ;;
    esac
  fi
  [ -z "$node" ] || return 0
  case $(uname -m) in
    x86_64 | amd64) platform=linux-x64 node_sha256=$node_x64_sha256 ;;
    aarch64 | arm64) platform=linux-arm64 node_sha256=$node_arm64_sha256 ;;
    *) platform='' node_sha256='' ;;
  esac
  [ -n "$node_sha256" ] || stop 'Node.js 20 or later is needed, and there is none that the whole machine may use.' \
    ${passed_over:+"$passed_over"} \
    'Install it from your distribution or https://nodejs.org, and run this again.' \
    'Or ask the operator of the service to run: npm run device-runtimes'
  fetch_exactly "$base_url/install/node/$platform" "$work/node" "$node_sha256"
  chmod 755 "$work/node"
  "$work/node" --version >/dev/null 2>&1 ||
    stop 'The Node.js that the service hands out does not run here (it needs glibc).' \
      'Install Node.js 20 or later from your distribution, and run this again.'
  node=$directory/node
}

# Somebody else's program of that name stays where it is.
need_own_command() {
  if [ ! -e "$command" ] && [ ! -L "$command" ]; then return 0; fi
  line=''
  { read -r _ && read -r line; } <"$command" || :
  [ "$line" = "$mark" ] || stop "$command is not what this script puts there." \
    'Move it away yourself if you want to.'
}

# The ticket goes by a pipe, so that it stands in no list of processes and in no file.
enroll() {
  if [ -n "$ticket" ]; then
    printf '%s\n' "$ticket" | "$node" "$directory/agent.mjs" enroll
  elif [ -e /dev/tty ] && (: </dev/tty) 2>/dev/null; then
    "$node" "$directory/agent.mjs" enroll </dev/tty
  else
    "$node" "$directory/agent.mjs" enroll
  fi
}

install() {
  need_root
  [ -d /run/systemd/system ] || stop 'systemd does not run this machine.' \
    'The agent needs it: it runs as services of the machine.'
  need_tools
  need_own_command
  make_work
  fetch_exactly "$base_url/install/agent/agent.mjs" "$work/agent.mjs" "$agent_sha256"
  find_node

  [ -e "$directory" ] || placed=yes
  mkdir -p "$directory" "${command%/*}"
  if [ -e "$work/node" ]; then
    cp "$work/node" "$directory/.node-next"
    chmod 755 "$directory/.node-next"
    mv -f "$directory/.node-next" "$directory/node"
  fi
  cp "$work/agent.mjs" "$directory/.agent-next.mjs"
  chmod 644 "$directory/.agent-next.mjs"
  mv -f "$directory/.agent-next.mjs" "$directory/agent.mjs"
  printf '#!/bin/sh\n%s\nexec %s %s/agent.mjs "$@"\n' "$mark" "$node" "$directory" >"$command.next"
  chmod 755 "$command.next"
  mv -f "$command.next" "$command"

  # who is enrolled already, and still counts, goes on with the newer program
  enroll || stop 'This machine could not be enrolled.'
  outcome='The agent is enrolled, but not installed as a service.'
  placed=''
  "$command" service install || stop 'The services could not be started.' \
    "To take everything back: $command service uninstall && $command leave"
  say "service-device-agent $version is installed."
}

uninstall() {
  outcome='Not everything has been removed.'
  need_root
  if [ ! -e "$directory/agent.mjs" ] && [ ! -e "$command" ]; then
    say 'The agent is not installed; there is nothing to remove.'
    return 0
  fi
  need_own_command
  "$command" service uninstall || stop 'The services could not be removed.'
  if [ -e /var/lib/service-device-agent/device.json ]; then
    "$command" leave || stop 'The key of this device could not be removed.'
  fi
  rm -rf "$directory"
  rm -f "$command"
  say 'The agent is removed.'
}

@START@
