# SPDX-License-Identifier: Apache-2.0
# Read by init.sh and hypervisor.sh.
# mount_libvirt FOLDER: libvirt's folders of one hypervisor.
mount_libvirt() {
    mount --bind "$1/etc" /etc/libvirt
    local part
    for part in lib cache log; do
        mount --bind "$1/$part" "/var/$part/libvirt"
    done
}
