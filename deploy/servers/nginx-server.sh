#!/bin/bash
# nginx in front of the history service, from a folder of its own.
#
#   nginx-server.sh PACKAGES FOLDER PORT STORE
#
# PACKAGES is where unpack-packages.sh keeps the programs. FOLDER holds highwater/, a copy of deploy/nginx that listens on
# 127.0.0.1:PORT; logs and temporary files are written beside it. STORE is the folder of the public store. Prints
# "ready http://127.0.0.1:PORT" and stays until its standard input ends or it gets SIGTERM.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/wait.sh"
packages=$(realpath -m "$1"); folder=$(realpath -m "$2"); port=$3; store=$4
"$here/unpack-packages.sh" "$packages" nginx libnginx-mod-http-brotli-static varnish varnish-modules

lib=$packages/usr/lib/$(uname -m)-linux-gnu
export LD_LIBRARY_PATH="$lib:$packages/lib/$(uname -m)-linux-gnu"
NGINX_PROGRAM="$packages/usr/sbin/nginx" NGINX_MODULES="$packages/usr/lib/nginx/modules" \
  "$here/../nginx/serve.sh" "$folder/highwater" "$folder/run" "$store" < /dev/null 2> "$folder/error.log" &
server=$!
stop() { trap - EXIT; kill "$server" 2> /dev/null || true; wait "$server" || true; exit 0; }
trap stop EXIT INT TERM
wait_for "$server" 200 listens "$port" && stay "http://127.0.0.1:$port"
give_up nginx "$folder/error.log" 5 "$server"
