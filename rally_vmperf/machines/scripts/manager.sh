# SPDX-License-Identifier: Apache-2.0
# Print the first of some programs that this machine has.
#
# usage: manager.sh PROGRAM...
for program; do
    if command -v "$program" >/dev/null; then
        echo "$program"
        break
    fi
done
