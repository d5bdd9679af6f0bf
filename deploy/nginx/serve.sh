#!/bin/bash
# Runs nginx on a configuration, and reloads it whenever publication switches the latest version or the certificate is replaced.
#
#   serve.sh [CONFIGURATION [RUN [STORE]]]
#
# CONFIGURATION is the folder that `highwater nginx` wrote, and in which this script stands. RUN is a folder for the process id
# and temporary files, `run` in it if it is not given. STORE is the folder of the public store, that of listen.conf. NGINX_PROGRAM and NGINX_MODULES name the program and the folder of
# its modules if they are not Debian's. Nothing here needs rights beyond reading the store: run it as the user of the store.
set -euo pipefail
configuration=$(realpath "${1:-$(dirname "$0")}"); run=$(realpath -m "${2:-$configuration/run}")
setting() { sed -n "s/^$1 '\(.*\)';\$/\1/p" "$configuration/listen.conf"; }
served=${3:-$(setting root)}/nginx/served.conf
certificate=$(setting ssl_certificate)
nginx=${NGINX_PROGRAM:-/usr/sbin/nginx}
modules=${NGINX_MODULES:-/usr/lib/nginx/modules}
user=""
[ "$(id -u)" = 0 ] && user="user root;" # otherwise its workers could not read a store that only root may read

mkdir -p "$run"
rm -f "$run/nginx.pid"
touch "$run/certificate-read"
look() { { IFS= read -r now < "$served"; } 2> /dev/null || now=""; }
look; seen=$now
"$nginx" -p "$run" -c "$configuration/nginx.conf" -e stderr \
  -g "daemon off; load_module $modules/ngx_http_brotli_static_module.so; $user" &
server=$!
trap 'kill -QUIT "$server" 2> /dev/null || true' INT TERM

# A pipe without a writer: `read` waits on it without starting a process.
exec {pause}<> <(:)
while kill -0 "$server" 2> /dev/null; do
  read -rt 0.2 -u "$pause" || true
  look
  if [ "$now" != "$seen" ] && [ -s "$run/nginx.pid" ]; then # before it has written its id a signal would end it
    kill -HUP "$server"
    seen=$now
  fi
  if [ -n "$certificate" ] && [ "$certificate" -nt "$run/certificate-read" ] && [ -s "$run/nginx.pid" ]; then
    touch "$run/certificate-read"
    kill -HUP "$server"
  fi
done
wait "$server"
