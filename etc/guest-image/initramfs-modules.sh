#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Hook of initramfs-tools: the drivers of the disks and buses guests have.
[ "${1:-}" = prereqs ] && exit 0
. /usr/share/initramfs-tools/hook-functions
for module in virtio_pci virtio_blk virtio_scsi virtio_net virtio_rng \
    sd_mod sr_mod cdrom isofs ata_piix ata_generic ahci e1000 \
    ext4 crc32c_generic
do
    manual_add_modules $module
done
