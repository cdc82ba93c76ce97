# SPDX-License-Identifier: Apache-2.0
# Run a server in a private directory, and without the rights of root.
#
#   serve.bash UID DIRECTORY COUNT FILE... COMMAND...
#
# DIRECTORY is created, and the COUNT FILEs are linked into it.  If the caller
# is root, the server has the user and group ID UID, and owns DIRECTORY.
# It cannot enter any parent of DIRECTORY, and its temporary files are in it.
set -e
umask 077
uid=$1 directory=$2 files=("${@:4:$3}") prefix=()
shift $((3 + $3))
mkdir -- "$directory"
for file in "${files[@]}"; do
    chmod -- 0644 "$file"
    ln -- "$file" "$directory/"
done
if ((EUID == 0)); then
    chown -- "$uid:$uid" "$directory"
    prefix=(setpriv --reuid "$uid" --regid "$uid" --clear-groups
        --no-new-privs --)
fi
cd -- "$directory"
# Those of the caller may be private to root.
export TMPDIR=. TEMP=. TMP=.
exec -- "${prefix[@]}" "$@"
