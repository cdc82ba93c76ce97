# SPDX-License-Identifier: Apache-2.0
# Copy a directory, print the duration in seconds, and remove the copy.
#
# Arguments: "flush" if the copy must be on the disk at the end, and the parent
# of the directory if it is another one.  Dirty pages of other programs are
# written before.  An earlier run may have been interrupted.
export LC_ALL=C
set -e
flush=
if [ "$1" = flush ]; then
    flush=1
    shift
fi
cd -- "${1:-.}"
rm -rf copy
sync -f tree
# Twice, so that lost or changed characters are detected.
TIMEFORMAT='seconds %3R, that is %3R'
time {
    cp -rT tree copy
    [ -z "$flush" ] || sync -f copy
}
rm -rf copy
