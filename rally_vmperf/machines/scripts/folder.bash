# Create and remove a private directory with a random name.
#
#   make PARENT       create one in PARENT and print its path
#   remove DIRECTORY  remove it with its content
#
# PARENT may be relative to the user's home.  If it is not safe, exits with 3
# and prints the reason, the unsafe value and its directory, a line each.
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
    echo "${folder##*/}" >"$folder/.made-by-rally-vmperf" || exit 1
    echo "$folder"
}

check() {  # DIRECTORY UID MODE OWNER
    [ "$2" = 0 ] || [ "$2" = "$EUID" ] || refuse owner "$4 (uid $2)" "$1"
    ((8#$3 & 8#22 && !(8#$3 & 8#1000))) && refuse mode "$3" "$1"
}

refuse() {
    printf '%s\n' "$@"
    exit 3
}

unset CDPATH
"$@"
