#!/bin/bash
# Redis that loses nothing it has acknowledged, from a folder of its own.
#
#   redis-server.sh PACKAGES FOLDER PORT
#
# Uses the redis-server on the PATH, or unpacks one into PACKAGES. FOLDER has the append-only file and is made if it is
# missing. Prints "ready redis://127.0.0.1:PORT" and runs until its standard input ends or it gets SIGTERM.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/wait.sh"
packages=$(realpath -m "$1"); folder=$(realpath -m "$2"); port=$3
program=$(command -v redis-server || true)
if [ -z "$program" ]; then
  "$here/unpack-packages.sh" "$packages" redis-server redis-tools
  export LD_LIBRARY_PATH="$packages/usr/lib/$(uname -m)-linux-gnu:$packages/lib/$(uname -m)-linux-gnu"
  program=$packages/usr/bin/redis-server
fi
mkdir -p "$folder"
"$program" --port "$port" --bind 127.0.0.1 --dir "$folder" --appendonly yes --appendfsync always \
  --no-appendfsync-on-rewrite no --maxmemory-policy noeviction --save "" --daemonize no --logfile "$folder/redis.log" \
  < /dev/null > /dev/null 2>&1 &
server=$!
input=
# Redis refuses to end while it writes a first append-only file, and does not try again by itself. What it acknowledged is
# on the disk, so ending it by force after half a minute loses nothing.
stop() {
  trap - EXIT
  [ -z "$input" ] || kill "$input" 2> /dev/null || true
  for ((tries = 0; tries < 600; tries++)); do
    kill "$server" 2> /dev/null || exit 0
    sleep 0.05
  done
  kill -9 "$server" 2> /dev/null || true
  wait "$server" || true
  exit 0
}
trap stop EXIT INT TERM
answers() (
  exec 3<> "/dev/tcp/127.0.0.1/$port" && printf 'PING\r\n' >&3 && read -r -t 1 reply <&3 && [[ $reply == +PONG* ]]
)
wait_for "$server" 600 answers || give_up redis-server "$folder/redis.log" 30 "$server"
echo "ready redis://127.0.0.1:$port $server"
exec 2> /dev/null # the parent process reports the end
cat <&0 > /dev/null & # ends when the standard input does
input=$!
wait -n "$server" "$input" || true
exit 0
