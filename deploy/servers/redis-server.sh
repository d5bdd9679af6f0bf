#!/bin/bash
# Redis that loses nothing it has acknowledged, from a folder of its own, in which it has a socket, too: redis.sock.
#
#   redis-server.sh PACKAGES FOLDER PORT [OTHER_PORT]
#
# Uses the redis-server on the PATH, or unpacks one into PACKAGES. FOLDER has the append-only file and the password, and is
# made if it is missing. Prints "ready redis://:PASSWORD@127.0.0.1:PORT PID" and runs until its standard input ends or it
# gets SIGTERM. If another program has PORT, listening or as the end of a connection, it takes OTHER_PORT, or fails if there
# is none.
#
# Two locks make sure that a single Redis works in FOLDER: this script holds the first while it supervises, and Redis holds
# the second for as long as it lives, even if this script is killed. Such an orphan is ended before another is started. A Redis
# that was started otherwise, as by an earlier release, has no lock and may be in use: this script waits for its end, or fails.
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
umask 077
unwritable() {
  echo "$folder cannot be written: give the user $(id -un) the right to write there, or set DATA_FOLDER to another folder" >&2
  exit 1
}
mkdir -p "$folder" || unwritable
[ -O "$folder" ] || { # root could, but its files would stop the owner's next start
  echo "$folder belongs to the user $(stat -c %U "$folder"): run this as that user, or set DATA_FOLDER to another folder" >&2
  exit 1
}
[ -w "$folder" ] || unwritable
chmod -R go= "$folder"
exec 8>> "$folder/supervisor.lock"
flock -w 10 8 || { # one that ends releases it before it waits for its Redis
  echo "$folder is in use: another process runs the Redis in it; end that one, or set DATA_FOLDER to another folder" >&2
  exit 1
}
exec 9>> "$folder/redis.lock"
# signal_holders SIGNAL: to every other process that holds the lock of Redis: an orphan, or a rewrite of its file.
signal_holders() {
  local open pid
  for open in /proc/[0-9]*/fd/*; do
    pid=${open#/proc/}; pid=${pid%%/*}
    [ "$pid" = "$$" ] || ! [ "$open" -ef "$folder/redis.lock" ] || kill "-$1" "$pid" 2> /dev/null || true
  done
}
if ! flock -n 9; then
  echo "the Redis of an earlier start still runs in $folder: it is ended, and started again" >&2
  signal_holders TERM
  flock -w 30 9 || { signal_holders KILL; flock -w 10 9; } || { # what it acknowledged is on the disk
    echo "$folder is in use: a Redis of another user runs in it; end that one, or set DATA_FOLDER to another folder" >&2
    exit 1
  }
fi
# alone: fails if a Redis works in FOLDER, and sets pid to its process.
alone() {
  local directory
  for directory in /proc/[0-9]*/cwd; do
    pid=${directory#/proc/}; pid=${pid%/cwd}
    if [ "$directory" -ef "$folder" ] && [ "$(cat "/proc/$pid/comm")" = redis-server ]; then return 1; fi
  done
}
wait_for $$ 100 alone || {
  echo "$folder is in use: process $pid is a Redis that this script did not start, and two would lose data;" \
    "stop its service, or end it with 'kill $pid', and start this again" >&2
  exit 1
}
if ! [ -s "$folder/password" ]; then
  od -An -v -tx1 -N32 /dev/urandom | tr -d ' \n' > "$folder/password.new"
  mv "$folder/password.new" "$folder/password"
fi
password=$(< "$folder/password")
server=
input=
# Redis refuses to end while it writes a first append-only file, and does not try again by itself: it is asked every second.
# What it acknowledged is on the disk, so ending it by force after half a minute loses nothing.
stop() {
  trap - EXIT
  exec 8>&- 9>&-
  [ -z "$input" ] || kill "$input" 2> /dev/null || true
  for ((tries = 0; tries < 600; tries++)); do
    kill "-$((tries % 20 ? 0 : 15))" "$server" 2> /dev/null || exit 0
    sleep 0.05
  done
  kill -9 "$server" 2> /dev/null || true
  wait "$server" || true
  exit 0
}
trap stop EXIT INT TERM
# listens_itself: whether the socket that listens on the port is one of Redis.
listens_itself() {
  local inode
  inode=$(awk -v end="$(printf '0100007F:%04X' "$port")" '$2 == end && $4 == "0A" { print $10; exit }' /proc/net/tcp)
  [ -n "$inode" ] && [ -n "$(find "/proc/$server/fd" -lname "socket:\[$inode\]")" ]
}
# answers: whether Redis does. The password is sent to no other program that has the port.
answers() (
  listens_itself && exec 3<> "/dev/tcp/127.0.0.1/$port" && printf 'AUTH %s\r\nPING\r\n' "$password" >&3 &&
    read -r -t 1 reply <&3 && [[ $reply == +OK* ]] && read -r -t 1 reply <&3 && [[ $reply == +PONG* ]]
)
# Histograms that nobody reads, of every command of every script: a twelfth of the work of a delivery.
histograms=()
[[ $("$program" --version) =~ v=([0-9]+) ]] && ((BASH_REMATCH[1] >= 7)) && histograms=(--latency-tracking no)
# start PORT: fails if Redis ends or does not answer.
start() {
  port=$1
  "$program" - --port "$port" --bind 127.0.0.1 --dir "$folder" --unixsocket redis.sock --unixsocketperm 600 \
    --appendonly yes --appendfsync always --no-appendfsync-on-rewrite no --maxmemory-policy noeviction --save "" --daemonize no --logfile "$folder/redis.log" \
    "${histograms[@]}" <<< "requirepass $password" > /dev/null 2>&1 8>&- &
  server=$!
  wait_for "$server" 600 answers
}
# taken: whether the last start failed because another program has the port.
taken() { ! kill -0 "$server" 2> /dev/null && grep -q "^$server:.*Address already in use" "$folder/redis.log"; }
if ! start "$port" && ! { [ -n "${4-}" ] && taken && start "$4"; }; then
  if taken; then
    trap - EXIT
    echo "another program has port $port: end it, and start this again" >&2
    exit 1
  fi
  give_up redis-server "$folder/redis.log" 30 "$server"
fi
exec 9>&-
echo "ready redis://:$password@127.0.0.1:$port $server"
exec 2> /dev/null # the parent process reports the end
cat <&0 > /dev/null 8>&- & # ends when the standard input does
input=$!
wait -n "$server" "$input" || true
exit 0
