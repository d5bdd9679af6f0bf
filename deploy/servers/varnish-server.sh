#!/bin/bash
# Varnish as the CDN in front of the history service, from a folder of its own.
#
#   varnish-server.sh PACKAGES FOLDER PORT
#
# PACKAGES is where unpack-packages.sh keeps the programs. FOLDER holds highwater.vcl and what it includes (see
# deploy/varnish); state and log are written beside it. Varnish compiles its configuration: it needs a C compiler, which
# is unpacked with it if the machine has none. Prints "ready http://127.0.0.1:PORT" and runs until its standard input ends
# or it gets SIGTERM.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/wait.sh"
packages=$(realpath -m "$1"); folder=$(realpath -m "$2"); port=$3
"$here/unpack-packages.sh" "$packages" nginx libnginx-mod-http-brotli-static varnish varnish-modules

lib=$packages/usr/lib/$(uname -m)-linux-gnu
export LD_LIBRARY_PATH="$lib:$packages/lib/$(uname -m)-linux-gnu"
export PATH="$PATH:$packages/usr/bin"
"$packages/usr/sbin/varnishd" -F -j none -n "$folder/state" -a "127.0.0.1:$port" -T none -S none \
  -f "$folder/highwater.vcl" -s malloc,128m \
  -p vcl_path="$folder" -p vmod_path="$lib/varnish/vmods" \
  < /dev/null > "$folder/varnish.log" 2>&1 &
server=$!
stop() { trap - EXIT; kill "$server" 2> /dev/null || true; wait "$server" || true; exit 0; }
trap stop EXIT INT TERM
wait_for "$server" 600 grep -q 'said Child starts' "$folder/varnish.log" && stay "http://127.0.0.1:$port"
give_up varnishd "$folder/varnish.log" 30 "$server"
