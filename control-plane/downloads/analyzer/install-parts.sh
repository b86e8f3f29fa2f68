# What only this program has to say, in the installer that all programs share.
next_step() {
  say 'Next, in the folder of your application: service-analyzer setup'
}

what_stays() {
  kept=${XDG_CONFIG_HOME:-${HOME:-}/.config}/service-analyzer
  if [ -d "$kept" ]; then
    say 'Your saved analyzer key is still there. To forget it as well:'
    say "  rm -r \"$kept\""
  fi
}
