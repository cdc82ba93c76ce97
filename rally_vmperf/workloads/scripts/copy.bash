# Copy a directory, print the duration in seconds, and remove the copy.
#
# Argument: "flush" if the copy must be on the disk at the end.  Dirty pages of other
# programs are written before.  An earlier run may have been interrupted.
export LC_ALL=C
set -e
rm -rf copy
sync -f tree
# Twice, so that lost or changed characters are detected.
TIMEFORMAT='seconds %3R, that is %3R'
time {
    cp -rT tree copy
    [ "$1" != flush ] || sync -f copy
}
rm -rf copy
