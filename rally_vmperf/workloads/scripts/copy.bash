# Copy a folder, say how many seconds that took, and remove the copy.
#
# Argument: "flush" if the copy shall be on the disk by then.  What others have
# left to write is written before.  An earlier run may have been ended halfway.
export LC_ALL=C
set -e
rm -rf copy
sync -f tree
# Twice, so that what is lost or changed on its way is noticed.
TIMEFORMAT='seconds %3R, that is %3R'
time {
    cp -rT tree copy
    [ "$1" != flush ] || sync -f copy
}
rm -rf copy
