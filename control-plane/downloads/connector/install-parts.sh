# What only this program has to say, in the installer that all programs share.
next_step() {
  say 'Next, with a join token from the Connectors page of your tenant:'
  say '  service-connector join --origin http://127.0.0.1:3000'
}

what_stays() {
  unit=/etc/systemd/system/service-connector.service
  if [ -e "$unit" ]; then
    say 'The system service has a copy of its own and stays. To remove it as well:'
    say '  sudo node /usr/local/lib/service-connector/service-connector.mjs service uninstall'
  fi
  kept=${XDG_STATE_HOME:-${HOME:-}/.local/state}/service-connector
  if [ -d "$kept" ]; then
    say 'The key of a connector is still there. Revoke it on the Connectors page, and to delete it:'
    say "  rm -r \"$kept\""
  fi
}
