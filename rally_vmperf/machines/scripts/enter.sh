# SPDX-License-Identifier: Apache-2.0
# Enter control groups by writing to their files, then become a command.
#
# Arguments: FILE... -- COMMAND...
while [ "$1" != -- ]; do
    echo $$ >"$1" || exit 126
    shift
done
shift
exec "$@"
