#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Run a command while a disk is mounted, in a mount namespace of its own: a
# process that starts meanwhile would take the mount with it otherwise, and
# the disk would be written to after the end.
# usage: unshare --mount with-disk.sh DISK FOLDER COMMAND [ARGUMENT...]
set -eu
disk=$1
folder=$2
shift 2
mount -o loop,noatime "$disk" "$folder"
"$@"
umount "$folder"
