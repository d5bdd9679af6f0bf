# Sourced by the scripts of servers: waits until a server listens, runs until it is stopped, or gives up.

# wait_for PID TRIES COMMAND...: succeeds when the command does; fails if the process ends before, or after all tries.
wait_for() {
  local server=$1 tries=$2; shift 2
  while [ "$tries" -gt 0 ] && kill -0 "$server" 2> /dev/null; do
    if "$@" 2> /dev/null; then return 0; fi
    tries=$((tries - 1))
    sleep 0.05
  done
  return 1
}

# listens PORT: whether something accepts connections there.
listens() { (exec 3<> "/dev/tcp/127.0.0.1/$1") 2> /dev/null; }

# stay URL: prints that the server is ready, and ends this script when its standard input ends.
stay() {
  echo "ready $1"
  cat > /dev/null || true
  exit 0
}

# give_up NAME LOG LINES PID...: prints the end of the log, and ends this script and the processes.
give_up() {
  echo "$1 did not start:" >&2
  tail -n "$3" "$2" >&2
  trap - EXIT
  kill "${@:4}" 2> /dev/null || true
  exit 1
}
