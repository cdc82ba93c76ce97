# SPDX-License-Identifier: Apache-2.0
# Write standard input atomically to file $1 with mode $2.
set -eu
umask 077
directory=$(dirname -- "$1")
# Another command may create it at the same time.
[ -d "$directory" ] || mkdir -- "$directory" || [ -d "$directory" ]
part=$(mktemp -- "$1.part.XXXXXXXXXX")
trap 'rm -f -- "$part"' EXIT
cat >"$part"
chmod -- "$2" "$part"
mv -fT -- "$part" "$1"
