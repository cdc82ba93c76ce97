#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Hook of mmdebstrap: what must be there before the kernel's initramfs is made.
# usage: before-packages.sh CHROOT; this folder is in $VMPERF_IMAGE_FILES
set -eu
root=$1
files=$VMPERF_IMAGE_FILES
mkdir -p "$root/etc/initramfs-tools/hooks" "$root/etc/initramfs-tools/conf.d"
install -m 755 "$files/initramfs-modules.sh" \
    "$root/etc/initramfs-tools/hooks/vmperf"
install -m 644 "$files/initramfs.conf" \
    "$root/etc/initramfs-tools/conf.d/vmperf"
