# Write standard input to file $1 with mode $2, whole or not at all.
set -eu
umask 077
folder=$(dirname -- "$1")
[ -d "$folder" ] || mkdir -- "$folder"
part=$(mktemp -- "$1.part.XXXXXXXXXX")
trap 'rm -f -- "$part"' EXIT
cat >"$part"
chmod -- "$2" "$part"
mv -fT -- "$part" "$1"
