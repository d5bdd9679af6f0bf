#!/bin/bash
# A real S3 server for tests: one-node Ceph (a monitor, an object daemon in memory, radosgw) on loopback.
#
#   s3-server.sh PACKAGES FOLDER PORT ACCESS SECRET
#
# PACKAGES is where unpack-packages.sh keeps the programs, FOLDER holds state and logs (a short path: it has Unix
# sockets), PORT and the two after it are used. Prints "ready http://127.0.0.1:PORT" and runs until its standard input
# ends or it gets SIGTERM; then the three daemons end and their objects with them.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/wait.sh"
packages=$(realpath -m "$1"); folder=$(realpath -m "$2"); port=$3; access=$4; secret=$5
[ ${#folder} -lt 80 ] || { echo "the folder's path is too long for a Unix socket: $folder" >&2; exit 1; }
"$here/unpack-packages.sh" "$packages" radosgw ceph-mon ceph-osd

lib=$packages/usr/lib/$(uname -m)-linux-gnu
export PATH="$packages/usr/bin:$PATH" LD_LIBRARY_PATH="$lib:$lib/ceph:$packages/lib/$(uname -m)-linux-gnu"
export PYTHONPATH="$packages/usr/lib/python3/dist-packages" CEPH_CONF="$folder/ceph.conf"
mkdir -p "$folder/mon" "$folder/osd" "$folder/run"
cluster=$(cat /proc/sys/kernel/random/uuid)
cat > "$CEPH_CONF" <<C
[global]
fsid = $cluster
mon host = [v2:127.0.0.1:$((port + 1)),v1:127.0.0.1:$((port + 2))]
auth cluster required = none
auth service required = none
auth client required = none
ms mon client mode = crc
ms mon cluster mode = crc
ms mon service mode = crc
ms cluster mode = crc
ms service mode = crc
ms client mode = crc
ms bind ipv6 = false
debug ms = 0/0
debug rgw = 0/0
debug mon = 0/0
debug paxos = 0/0
paxos propose interval = 0.02
paxos min wait = 0.01
run dir = $folder/run
admin socket = $folder/run/\$name.\$pid.asok
log file = $folder/\$name.log
mon cluster log file = $folder/cluster.log
osd pool default size = 1
osd pool default min size = 1
osd pool default pg num = 1
osd pool default pgp num = 1
osd pool default pg autoscale mode = off
osd crush chooseleaf type = 0
mon allow pool size one = true
mon warn on pool no redundancy = false
mon data avail crit = 0
mon data avail warn = 0
mon max pg per osd = 1000
plugin dir = $lib/ceph
erasure code dir = $lib/ceph/erasure-code
osd class dir = $lib/rados-classes
[mon.a]
mon data = $folder/mon
[osd]
osd data = $folder/osd
public addr = 127.0.0.1
cluster addr = 127.0.0.1
osd objectstore = memstore
memstore device bytes = 2147483648
memstore page size = 4096
debug osd = 0/0
debug objclass = 0/0
debug filestore = 0/0
osd class load list = *
osd class default list = *
[client.rgw]
rgw frontends = beast endpoint=127.0.0.1:$port tcp_nodelay=1
rgw thread pool size = 64
keyring = /dev/null
C

daemons=()
# The data is disposable, and a graceful shutdown takes twelve seconds.
stop() { trap - EXIT; kill -9 "${daemons[@]}" 2>/dev/null || true; exit 0; }
trap stop EXIT INT TERM
trap 'echo "the S3 server did not start; its programs wrote:" >&2; tail -n 8 "$folder"/*.{out,err,log} >&2 2> /dev/null' ERR
begin() { local name=$1; shift; "$@" < /dev/null > "$folder/$name.out" 2>&1 & daemons+=($!); }

monmaptool --create --fsid "$cluster" --addv a "[v2:127.0.0.1:$((port + 1)),v1:127.0.0.1:$((port + 2))]" "$folder/monmap" > "$folder/monmap.out" 2>&1
ceph-mon --mkfs -i a --monmap "$folder/monmap" > "$folder/mkfs.out" 2>&1
begin mon ceph-mon -f -i a
osd=$(cat /proc/sys/kernel/random/uuid)
/usr/bin/python3 "$(command -v ceph)" --connect-timeout 20 osd new "$osd" > "$folder/new.out" 2>&1
ceph-osd -i 0 --mkfs --osd-uuid "$osd" > "$folder/osd-mkfs.out" 2>&1
begin osd ceph-osd -f -i 0
radosgw-admin -n client.rgw user create --uid=test --display-name=test --access-key="$access" --secret="$secret" \
  > "$folder/user.json" 2> "$folder/user.err"
begin rgw radosgw -f -n client.rgw
wait_for "${daemons[2]}" 600 listens "$port" && stay "http://127.0.0.1:$port"
kill -9 "${daemons[@]}" 2> /dev/null || true
give_up radosgw "$folder/rgw.out" 5
