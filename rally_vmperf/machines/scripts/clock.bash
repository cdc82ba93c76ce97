# SPDX-License-Identifier: Apache-2.0
# Answers each line with the time, in seconds since the epoch, and the seconds
# since the boot; no process is started where bash is 5 or later.
export LC_ALL=C
while IFS= read -r; do
    now=${EPOCHREALTIME:-$(date +%s.%6N)}
    up=
    [ -r /proc/uptime ] && read -r up _ </proc/uptime
    echo "$now $up"
done
