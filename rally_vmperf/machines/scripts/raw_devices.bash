# SPDX-License-Identifier: Apache-2.0
# Check whether raw block devices may be overwritten, as root.
#
#   check DEVICE...  print for each "device NUMBER PATH BYTES", or
#                    "device NUMBER refused CAUSE DETAIL"
#   clear DEVICE...  erase the signatures of file systems on them
#
# Nothing is written by check.  A device is refused if it is not a block
# device, has no medium, is read-only, is mounted, is swap, is a part of
# another device (LVM, RAID, device mapper), has partitions or a signature, or
# is in use by another program.
export LC_ALL=C

check() {
    local bytes number=0 path refusal
    for path; do
        ((++number))
        refusal=$(find_refusal "$path") || refusal="unknown $refusal"
        if [ -z "$refusal" ]; then
            bytes=$(blockdev --getsize64 "$path")
            echo "device $number $(readlink -f -- "$path") $bytes"
        else
            # The first line, without control characters.
            refusal=${refusal%%$'\n'*}
            echo "device $number refused ${refusal//[[:cntrl:]]/?}"
        fi
    done
}

find_refusal() {  # DEVICE: print the cause and a detail, or nothing
    local bytes holder numbers output part parts=() status system type
    [ -e "$1" ] || { echo absent; return; }
    [ -b "$1" ] || { echo "kind $(stat -Lc %F -- "$1")"; return; }
    system=/sys/dev/block/$(number "$1") || return
    for part in "$system"/*/partition; do
        [ ! -e "$part" ] || parts+=("${part%/partition}")
    done
    for part in "$system" "${parts[@]}"; do
        numbers+=" $(<"$part/dev") "
    done || return
    find_mount && return
    find_swap && return
    for holder in "$system"/holders/* "${parts[@]/%//holders/*}"; do
        for holder in $holder; do
            [ ! -e "$holder" ] || { echo "holder ${holder##*/}"; return; }
        done
    done
    ((${#parts[@]} == 0)) || { echo "partitions ${parts[0]##*/}"; return; }
    bytes=$(blockdev --getsize64 "$1") || return
    ((bytes > 0)) || { echo empty; return; }
    [ "$(blockdev --getro "$1")" = 0 ] || { echo readonly; return; }
    output=$(wipefs --no-act --parsable -- "$1" 2>&1) ||
        { echo "$output"; return 1; }
    type=$(grep -v '^#' <<<"$output")
    [ -z "$type" ] || { type=${type%%$'\n'*}; echo "signature ${type##*,}"; return; }
    # Without --force, it opens the device for itself alone (O_EXCL).
    output=$(wipefs --no-act --all -- "$1" 2>&1)
    status=$?
    [[ $output != *busy* ]] || { echo busy; return; }
    ((status == 0)) || { echo "$output"; return 1; }
}

number() {  # DEVICE: print its numbers, MAJOR:MINOR
    local hexadecimal
    hexadecimal=$(stat -Lc '%t %T' -- "$1") || return
    set -- $hexadecimal
    echo "$((16#$1)):$((16#$2))"
}

find_mount() {  # print where one of the devices is mounted
    local device point
    while read -r _ _ device _ point _; do
        [[ $numbers != *" $device "* ]] || { echo "mounted $point"; return; }
    done </proc/self/mountinfo
    return 1
}

find_swap() {  # print which of the devices is swap
    local name
    while read -r name _; do
        [ -b "$name" ] && [[ $numbers = *" $(number "$name") "* ]] &&
            { echo "swap $name"; return; }
    done </proc/swaps
    return 1
}

clear() {
    local path status=0
    for path; do
        wipefs --all --quiet -- "$path" || status=1
    done
    return $status
}

"$@"
