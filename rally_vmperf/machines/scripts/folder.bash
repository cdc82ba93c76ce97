# Make and remove a folder of ours, which no other user can foresee or open.
#
#   make PARENT    make one in PARENT, print where it is
#   remove FOLDER  remove it with all that is in it
#
# PARENT may be relative to the user's home.  Where it is refused: exits with
# 3 and prints the reason, what was seen, and of which folder, a line each.
make() {
    local above=() at folder path=$1 seen
    [[ $path = /* ]] || path=${HOME:?is not set}/$path
    cd -P -- "$path" || refuse absent "" "$path"
    [[ $PWD != *[[:cntrl:]]* ]] || refuse name "" "$PWD"
    # Who can rename one of these can put his own in its place.
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
    echo "${folder##*/}" >"$folder/.made-by-rally-vmperf" || exit 1
    echo "$folder"
}

check() {  # FOLDER UID MODE OWNER
    [ "$2" = 0 ] || [ "$2" = "$EUID" ] || refuse owner "$4 (uid $2)" "$1"
    ((8#$3 & 8#22 && !(8#$3 & 8#1000))) && refuse mode "$3" "$1"
}

refuse() {
    printf '%s\n' "$@"
    exit 3
}

unset CDPATH
"$@"
