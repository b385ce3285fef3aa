#!/bin/bash
# Health check of the image: asks /readyz at the admin port, wherever that is set: as a flag, in the environment or in the
# file of settings, in this order. A shell does it in some thousandths of a second; Node would take two tenths each time.
# Commands other than `serve` have an admin port by their flag alone; without it they are healthy while they run.
mapfile -d '' -t words < "${1:-/proc/1/cmdline}"
port=
file=${HEXCODES_CONFIG-}
is_service=
for at in "${!words[@]}"; do
  case ${words[at]} in
    serve) is_service=1 ;;
    --admin-port) port=${words[at + 1]-} ;;
    --admin-port=*) port=${words[at]#*=} ;;
    --config) file=${words[at + 1]-} ;;
    --config=*) file=${words[at]#*=} ;;
  esac
done
[[ -z $port && -z $is_service ]] && exit 0
port=${port:-${HEXCODES_ADMIN_PORT-}}
if [[ -z $port && -r $file ]]; then
  while IFS='=' read -r name value || [[ -n $name ]]; do
    [[ $name =~ ^[[:space:]]*HEXCODES_ADMIN_PORT[[:space:]]*$ ]] && port=${value//[^0-9]/}
  done < "$file"
fi
exec 3<> "/dev/tcp/127.0.0.1/${port:-9090}" || exit 1
printf 'GET /readyz HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n' >&3
read -r -t 2 _ status _ <&3
[[ $status == 200 ]]
