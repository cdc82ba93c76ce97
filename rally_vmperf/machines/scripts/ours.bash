# What the scripts below share: which folders are ours, and how they go away.
# Each folder that folder.bash makes has a file with the folder's own name,
# which nobody could foresee.
export LC_ALL=C
umask 077

made() {  # FOLDER: whether it is one that we made, and not a copy of it
    local name
    [ -O "$1" ] && [ -O "$1/.made-by-rally-vmperf" ] &&
        [ -f "$1/.made-by-rally-vmperf" ] &&
        IFS= read -r name <"$1/.made-by-rally-vmperf" &&
        [ "$name" = "${1##*/}" ]
}

ours() {  # PATH: whether it is a folder that we made, or below one
    local path=$1
    [[ $path = /* && $path != */ && $path/ != */../* && $path/ != */./* ]] &&
        while [ -n "$path" ] && [ ! -L "$path" ]; do
            made "$path" && return
            path=${path%/*}
        done
    echo "$1 is not below a folder that rally-vmperf made" >&2
    return 1
}

remove() {  # PATH...: nothing of another's, through a link or on a mount
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
