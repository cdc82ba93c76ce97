# SPDX-License-Identifier: Apache-2.0
# Print the load of this machine: counters, and every process.
#
#   background_load.sh SECONDS   the time without own commands; counters are
#                                printed before and after; 0: once, at once
export LC_ALL=C

counters() {
    read -r up _ </proc/uptime
    sectors=0 bytes=0 speed=0 pressure=
    for file in /sys/block/*/stat; do
        # Neither partitions nor devices on top of disks.
        [ -e "${file%/stat}/device" ] &&
            read -r _ _ read _ _ _ written _ <"$file" &&
            sectors=$((sectors + read + written))
    done
    for device in /sys/class/net/*; do
        [ -e "$device/device" ] || continue
        for way in rx tx; do
            read -r count <"$device/statistics/${way}_bytes" &&
                bytes=$((bytes + count))
        done
        # The slowest link; -1 and an error are those without a speed.
        rate=0
        read -r rate <"$device/speed"
        [ "${rate:-0}" -gt 0 ] || continue
        [ "$speed" -gt 0 ] && [ "$speed" -le "$rate" ] || speed=$rate
    done
    for what in cpu io memory; do
        line=
        [ ! -r /proc/pressure/$what ] || read -r line </proc/pressure/$what
        pressure="$pressure $what=${line##*total=}"
    done
    echo "counters up=$up sectors=$sectors bytes=$bytes" \
        "speed=$speed$pressure"
} 2>/dev/null

echo "machine hz=$(getconf CLK_TCK) cpus=$(getconf _NPROCESSORS_ONLN) own=$$"
if [ "$1" != 0 ]; then
    sync  # our earlier writes are not background load
    counters
    sleep "$1"
fi
counters
# A name may contain anything and ends at the last parenthesis; bit 21 of the
# flags marks threads of the kernel, which are not background load.
cat /proc/[0-9]*/stat 2>/dev/null | awk '{
    rest = name = $0
    sub(/.*\) /, "", rest)
    sub(/^[^(]*\(/, "", name)
    sub(/\) [^)]*$/, "", name)
    if (split(rest, of, " ") < 20 || int(of[7] / 2097152) % 2) next
    print "process", $1, of[2], of[20], of[12] + of[13], of[14] + of[15], name
}'
