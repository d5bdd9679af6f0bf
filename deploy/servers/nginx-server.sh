#!/bin/bash
# nginx as the static origin of the history service, from a folder of its own.
#
#   nginx-server.sh PACKAGES FOLDER PORT
#
# PACKAGES is where unpack-packages.sh keeps the programs. FOLDER holds highwater/*.conf (see deploy/nginx), which
# listens on 127.0.0.1:PORT; configuration, logs and temporary files are written beside it. Prints
# "ready http://127.0.0.1:PORT" and stays until its standard input ends or it is asked to end.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/wait.sh"
packages=$(realpath -m "$1"); folder=$(realpath -m "$2"); port=$3
"$here/unpack-packages.sh" "$packages" nginx libnginx-mod-http-brotli-static varnish varnish-modules

lib=$packages/usr/lib/$(uname -m)-linux-gnu
export LD_LIBRARY_PATH="$lib:$packages/lib/$(uname -m)-linux-gnu"
user=""
[ "$(id -u)" = 0 ] && user="user root;" # a store of root's is not for nobody's eyes
cat > "$folder/nginx.conf" <<C
$user
daemon off;
worker_processes 2;
pid $folder/nginx.pid;
load_module $packages/usr/lib/nginx/modules/ngx_http_brotli_static_module.so;
events { worker_connections 1024; }
http {
  access_log off;
  client_body_temp_path $folder/body;
  proxy_temp_path $folder/proxy;
  fastcgi_temp_path $folder/fastcgi;
  uwsgi_temp_path $folder/uwsgi;
  scgi_temp_path $folder/scgi;
  sendfile on;
  tcp_nopush on;
  keepalive_requests 100000;
  include highwater/highwater.conf;
}
C
"$packages/usr/sbin/nginx" -p "$folder" -c "$folder/nginx.conf" -e "$folder/error.log" < /dev/null &
server=$!
stop() { trap - EXIT; kill "$server" 2> /dev/null || true; wait "$server" || true; exit 0; }
trap stop EXIT INT TERM
wait_for "$server" 200 listens "$port" && stay "http://127.0.0.1:$port"
give_up nginx "$folder/error.log" 5 "$server"
