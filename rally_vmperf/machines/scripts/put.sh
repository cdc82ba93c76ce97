# Write standard input atomically to file $1 with mode $2.
set -eu
umask 077
directory=$(dirname -- "$1")
[ -d "$directory" ] || mkdir -- "$directory"
part=$(mktemp -- "$1.part.XXXXXXXXXX")
trap 'rm -f -- "$part"' EXIT
cat >"$part"
chmod -- "$2" "$part"
mv -fT -- "$part" "$1"
