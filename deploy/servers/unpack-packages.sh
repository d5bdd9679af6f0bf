#!/bin/bash
# Debian packages, unpacked into a folder of the project: no root needed, nothing installed, no service started.
#
#   unpack-packages.sh FOLDER PACKAGE...    unpack the packages and those of their dependencies that the machine lacks
#
# Packages of the same source are unpacked even if the machine has them: a program looks for the plugins and the data of
# its own source below FOLDER. Prints nothing if everything is there. One unpacking at a time; a folder is complete or
# absent.
set -euo pipefail
folder=$(realpath -m "$1"); shift
mkdir -p "$(dirname "$folder")"
exec 9> "$folder.lock"; flock 9
[ -f "$folder/.packages" ] && [ "$(cat "$folder/.packages")" = "$*" ] && exit 0

echo "unpacking $* from Debian into $folder (once)" >&2
work=$(mktemp -d "$folder.XXXXXX"); trap 'rm -rf "$work"' EXIT
cd "$work"
patient=(-o Acquire::Retries=5 -o Acquire::http::Timeout=30) # a mirror may fail for a moment
update() {
  if [ "$(id -u)" != 0 ]; then
    echo "the package lists of this machine may be empty or old: run 'apt-get update' as root first" >&2
    return 1
  fi
  flock "$(dirname "$folder")/lists.lock" apt-get "${patient[@]}" update -qq # other folders may be unpacked at the same time
}
# The installed packages that were built from the sources of these.
siblings() {
  apt-cache show --no-all-versions "$@" | awk '/^Package:/ { name = $2 } /^Source:/ { name = $2 } /^$/ { print name }' > sources
  dpkg-query --show -f '${source:Package} ${Package} ${db:Status-Status}\n' |
    awk 'NR == FNR { ours[$1]; next } $1 in ours && $3 == "installed" { print $2 }' sources -
}
# The simulation lists what is missing on this machine; the programs find what else is installed.
download() {
  rm -f ./*.deb
  apt-get install --simulate --no-install-recommends "$@" > plan &&
    awk '/^Inst /{ print $2 }' plan > missing &&
    { printf '%s\n' "$@"; siblings "$@"; } >> missing &&
    sort -u missing | xargs apt-get "${patient[@]}" download -qq
}
apt-cache show "$1" > /dev/null 2>&1 || update
# Old lists name packages that were replaced since: those of a browser within weeks.
download "$@" 2> apt.log || { update && download "$@" 2> apt.log; } || { cat apt.log >&2; exit 1; }
mkdir root
for package in ./*.deb; do dpkg -x "$package" root; done
echo "$*" > root/.packages
rm -rf "$folder"
mv root "$folder"
