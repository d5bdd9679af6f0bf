#!/bin/sh
# Gives every file of every version in a store the instant of its version as its time, so that nginx, which makes ETag
# and Last-Modified of time and size, says the same on every machine that has a copy. Twins are a second apart: else two
# codings of one size would have one validator.
#
#   date-files.sh STORE_FOLDER
set -eu
cd "$1/v1/snapshots"
for version in [0-9]*T*Z; do
  [ -d "$version" ] || continue
  instant=$(echo "$version" | sed -E 's/^(....)(..)(..)T(..)(..)(..)Z$/\1-\2-\3 \4:\5:\6 UTC/')
  at=$(date -u -d "$instant" +%s)
  find "$version" -type f ! -name '*.gz' ! -name '*.br' -exec touch -d "@$at" {} +
  find "$version" -type f -name '*.gz' -exec touch -d "@$((at + 1))" {} +
  find "$version" -type f -name '*.br' -exec touch -d "@$((at + 2))" {} +
done
