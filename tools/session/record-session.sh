#!/usr/bin/env bash
# Records tools/session/session.txt: the command as a person sees it, in a terminal 100 columns wide, without colours. Of what a
# terminal redraws in place every second state is kept. Needs util-linux `script`; run it from the repository after a build.
set -euo pipefail
root=$(pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/bin"
printf '#!/bin/sh\nexec node %s/dist/cli/main.js "$@"\n' "$root" >"$folder/bin/hexcodes"
chmod +x "$folder/bin/hexcodes"
node --input-type=module -e "
  import { writePointsCsv } from '$root/build/test/support/files/points-csv.js';
  writePointsCsv('$folder/pings.csv', 3_000_000, 7);
"
cd "$folder"
export PATH="$folder/bin:$PATH" TERM=xterm NO_COLOR=1
printf 'id,lat,lng\n1,21.0288,105.8525\n2,21.03\n' >broken.csv
{
  for line in \
    'hexcodes --help' \
    'hexcodes encode --help' \
    'hexcodes encode pings.csv --threads 1 -o pings.hex.csv' \
    'head -3 pings.hex.csv' \
    'hexcodes encode broken.csv -o broken.hex.csv' \
    'ls broken*' \
    'hexcodes encode 105.8525,21.0288'; do
    printf '$ %s\n' "$line"
    script -qec "stty cols 100; $line" /dev/null </dev/null || true
    printf '\n'
  done
} | node "$root/tools/session/plain-terminal.mjs" >"$root/tools/session/session.txt"
