#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Hook of mmdebstrap: configure the guest, and leave nothing of its making.
# usage: finish.sh CHROOT; this folder is in $VMPERF_IMAGE_FILES
set -eu
root=$1
files=$VMPERF_IMAGE_FILES

install -D -m 644 "$files/configure.py" "$root/usr/lib/vmperf-guest/configure.py"
install -m 644 "$files/vmperf-guest.service" "$files/vmperf-commands.service" \
    "$root/etc/systemd/system/"
install -m 644 "$files/sshd.conf" "$root/etc/ssh/sshd_config.d/vmperf.conf"
install -m 644 "$files/ethernet.network" \
    "$root/etc/systemd/network/10-ethernet.network"
chroot "$root" systemctl enable --quiet \
    systemd-networkd.service systemd-networkd-wait-online.service \
    systemd-resolved.service vmperf-guest.service
grep -v -e '^#' -e '^$' "$files/masked-units.txt" | while read -r unit
do
    ln -sf /dev/null "$root/etc/systemd/system/$unit"
done

# names without a version for the boot loader; the packages keep theirs
ln "$root"/boot/vmlinuz-* "$root/boot/vmlinuz"
ln "$root"/boot/initrd.img-* "$root/boot/initrd"

install -D -m 644 "$files/extlinux.conf" "$root/boot/extlinux/extlinux.conf"
install -m 644 "$files/vmperf-image" "$root/etc/vmperf-image"

# The boot loader mounts the only file system, and nothing checks it again.
: > "$root/etc/fstab"
echo guest > "$root/etc/hostname"

# Nobody logs in by password.
chroot "$root" useradd --create-home --shell /bin/bash --groups adm debian
echo 'debian ALL=(ALL) NOPASSWD:ALL' > "$root/etc/sudoers.d/debian"
chmod 440 "$root/etc/sudoers.d/debian"

# each guest makes its own
rm -f "$root"/etc/ssh/ssh_host_*
: > "$root/etc/machine-id"
ln -sf ../run/systemd/resolve/stub-resolv.conf "$root/etc/resolv.conf"
install -D -m 644 "$files/resolved.conf" \
    "$root/etc/systemd/resolved.conf.d/vmperf.conf"

rm -f "$root/etc/apt/sources.list" "$root/etc/apt/apt.conf.d/99mmdebstrap"
rm -rf "$root"/etc/apt/sources.list.d/*
install -m 644 "$files/debian.sources" "$root/etc/apt/sources.list.d/"
rm -rf "$root"/var/lib/apt/lists/* "$root"/var/cache/apt/*.bin

# The users and groups of the packages exist.
touch "$root/etc/.updated" "$root/var/.updated"

chroot "$root" dpkg-query --show > "$files/manifest"
