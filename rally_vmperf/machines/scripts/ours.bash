# SPDX-License-Identifier: Apache-2.0
# Functions that check and remove the directories of rally-vmperf.
# Each directory that folder.bash creates contains a file with the name of the
# directory, which is random.
export LC_ALL=C
umask 077

made() {  # DIRECTORY: return whether we made it, and it is not a copy
    local name
    [ -O "$1" ] && [ -O "$1/.made-by-rally-vmperf" ] &&
        [ -f "$1/.made-by-rally-vmperf" ] &&
        IFS= read -r name <"$1/.made-by-rally-vmperf" &&
        [ "$name" = "${1##*/}" ]
}

ours() {  # PATH: return whether it is, or is below, a directory that we made
    local path=$1
    [[ $path = /* && $path != */ && $path/ != */../* && $path/ != */./* ]] &&
        while [ -n "$path" ] && [ ! -L "$path" ]; do
            made "$path" && return
            path=${path%/*}
        done
    echo "$1 is not below a directory that rally-vmperf made" >&2
    return 1
}

remove() {  # PATH...: follows no links and crosses no mounts
    local found=() mounts path
    mapfile -t mounts </proc/self/mountinfo
    for path; do
        [ -e "$path" ] || [ -L "$path" ] || continue
        ours "$path" || return
        found+=("$path")
        path=${path//\\/\\134} path=${path// /\\040}
        [[ "${mounts[*]} " != *" $path"[/\ ]* ]] || {
            echo "something is mounted below $path" >&2
            return 1
        }
    done
    rm -rf --one-file-system -- "${found[@]}"
}
