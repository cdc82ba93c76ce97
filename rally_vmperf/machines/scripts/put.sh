# Write standard input to file $1 with mode $2, whole or not at all.
set -eu
mkdir -p -- "$(dirname -- "$1")"
part="$1.part.$$"
trap 'rm -f -- "$part"' EXIT
(umask 077; cat >"$part")
chmod -- "$2" "$part"
mv -fT -- "$part" "$1"
