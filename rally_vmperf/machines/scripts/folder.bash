# SPDX-License-Identifier: Apache-2.0
# Create, list and remove private directories with random names.
#
#   make PARENT OWNER  create one in PARENT for a process; print its path, and
#                      the bytes that are available in it, or "unknown"
#   remove DIRECTORY   remove it with its content
#   list PARENT...     print those in PARENTs, with the processes in them
#   end DIRECTORY      end the processes in it, then remove it
#
# PARENT may be relative to the user's home.  If it is not safe, make exits
# with 3 and prints the reason, the unsafe value and its directory, a line each.
make() {
    local above=() at folder path=$1 seen
    [[ $path = /* ]] || path=${HOME:?is not set}/$path
    cd -P -- "$path" || refuse absent "" "$path"
    [[ $PWD != *[[:cntrl:]]* ]] || refuse name "" "$PWD"
    # A user who can rename one of these can replace it.
    path=$PWD
    while above+=("${path:-/}"); [ -n "$path" ]; do path=${path%/*}; done
    mapfile -t seen < <(stat -c '%u %a %U' -- "${above[@]}")
    [ "${#seen[@]}" = "${#above[@]}" ] || exit 1
    for at in "${!above[@]}"; do
        check "${above[at]}" ${seen[at]}
    done
    folder=$(mktemp -d -- "${PWD%/}/rally-vmperf-XXXXXXXXXX") || exit 1
    [ -O "$folder" ] || {
        rmdir -- "$folder"
        refuse given "$(id -un)" "$PWD"
    }
    printf '%s\n' "${folder##*/}" "$2" >"$folder/.made-by-rally-vmperf" ||
        exit 1
    echo "$folder"
    available "$folder"
}

available() {  # DIRECTORY: root may use the reserved blocks, too
    local bytes=unknown size blocks reserved_too free
    read -r size blocks reserved_too free < <(
        stat -f -c '%S %b %f %a' -- "$1" 2>/dev/null
    )
    ((EUID)) || free=$reserved_too
    # A file system without a size, such as one of FUSE, has no limit here.
    [ "${blocks:-0}" = 0 ] || bytes=$((size * free))
    echo "available $bytes"
}

check() {  # DIRECTORY UID MODE OWNER
    [ "$2" = 0 ] || [ "$2" = "$EUID" ] || refuse owner "$4 (uid $2)" "$1"
    ((8#$3 & 8#22 && !(8#$3 & 8#1000))) && refuse mode "$3" "$1"
}

refuse() {
    printf '%s\n' "$@"
    exit 3
}

# Print for each: directory PATH, owner, age, kib, process PID UID NAME.
list() {
    local directories=() directory known="" made owner path pid program size
    read_working_directories
    for path; do
        [[ $path = /* ]] || path=${HOME:-}/$path
        path=$(cd -P -- "$path" 2>/dev/null && pwd) || continue
        directories+=("${path%/}"/rally-vmperf-??????????)
    done
    for directory in "${directories[@]}"; do
        [[ $directory != *[[:cntrl:]]* && $known != *"$directory/"* ]] &&
            [ ! -L "$directory" ] && made "$directory" || continue
        known+=$directory/
        size=$(du -skx -- "$directory" 2>/dev/null)
        {
            read -r _
            read -r owner
        } <"$directory/.made-by-rally-vmperf"
        made=$(stat -c %Y -- "$directory/.made-by-rally-vmperf")
        printf '%s\n' "directory $directory" "owner $owner" \
            "age $(($(date +%s) - made))" "kib ${size%%[!0-9]*}"
        for pid in $(inside "$directory"); do
            read -r program <"/proc/$pid/comm" &&
                echo "process $pid $(stat -c %u "/proc/$pid") $program"
        done 2>/dev/null
    done
    return 0  # although the last process may have ended meanwhile
}

read_working_directories() {  # into cwds, by PID
    local link
    cwds=()
    cd /
    while IFS= read -r -d '' link; do
        cwds[${link%%/*}]=${link#* }
    done < <(find /proc -maxdepth 2 -path '/proc/[0-9]*/cwd' \
        -printf '%P %l\0' 2>/dev/null)
}

inside() {  # DIRECTORY: print the PIDs there, but not those of a terminal
    local pid fields
    for pid in "${!cwds[@]}"; do
        [[ ${cwds[pid]}/ = "$1"/* ]] && read -r fields <"/proc/$pid/stat" &&
            fields=(${fields##*) }) && [ "${fields[4]}" = 0 ] && echo "$pid"
    done 2>/dev/null
}

end() {  # a process that ignores SIGTERM is killed after two seconds
    local round pids signal=TERM
    ours "$1" && made "$1" || return
    for ((round = 0; round < 30; round++)); do
        read_working_directories
        pids=$(inside "$1")
        [ -n "$pids" ] || break
        ((round < 10)) || signal=KILL
        kill -s "$signal" -- $pids
        sleep 0.2
    done 2>/dev/null
    [ -z "$pids" ] || { echo "cannot end the processes" $pids >&2; return 1; }
    release_volumes "$1"
    remove "$1"
}

release_volumes() {  # DIRECTORY: what devices.bash has made for it
    local as_root=() node point
    ((EUID == 0)) || as_root=(sudo -n --)
    for point in "$1"/.volume-*; do
        ! mountpoint -q -- "$point" || "${as_root[@]}" umount -- "$point"
    done
    for node in "/dev/${1##*/}"-*; do
        [ ! -e "$node" ] || "${as_root[@]}" rm -f -- "$node"
    done
}

unset CDPATH
"$@"
