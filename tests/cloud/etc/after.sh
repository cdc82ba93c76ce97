#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Wait until every probe succeeds, then become the command:
#   after.sh CLOUD PROBE... -- COMMAND...
#   file:PATH  unix:SOCKET  tcp:HOST:PORT  http:URL
# supervisord knows no dependencies, so each program waits for its own. Bash
# comes first, because curl and nc in a dozen programs take half a processor.
cloud=$1
shift
waiting=$cloud/run/waiting/${SUPERVISOR_SERVER_URL##*/}-$SUPERVISOR_PROCESS_NAME
group=/run/vmperf/$SUPERVISOR_PROCESS_NAME
mkdir -p "${waiting%/*}" "${group%/*}"

listens() { (exec 3<>"/dev/tcp/${1%:*}/${1##*:}"); }
succeeds() {
    local what=${1#*:} address
    case $1 in
    file:*) [ -e "$what" ] ;;
    unix:*) [ -S "$what" ] && nc -zU "$what" ;;
    tcp:*) listens "$what" ;;
    http:*)
        address=${what#*//}
        listens "${address%%/*}" &&
            curl -s -o /dev/null --max-time 30 "$what"
        ;;
    esac 2>/dev/null
}

# supervisord restarts a program whose first process was killed, and its
# children keep the port. Guests, dnsmasq and haproxy have their own sessions.
[ ! -e "$group" ] || pkill -KILL --pgroup "$(cat "$group")"
echo $$ >"$group"

# Nobody writes to this pipe: read waits for it without a process.
exec 9<> <(:)
while [ "$1" != -- ]; do
    echo "$1" >"$waiting"
    until succeeds "$1"; do read -rt 0.5 -u 9; done
    shift
done
shift
rm -f "$waiting"
exec "$@" 9>&-
