#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The second hypervisor: hypervisor.sh CLOUD
# It has namespaces of its own for networks, mounts, processes, IPC, cgroups and
# the host name. Its first process is a supervisord with libvirtd, nova-compute
# and the linuxbridge agent; the end of it ends all, guests too.
set -euo pipefail
cloud=$1
own=$cloud/data/hypervisor-2
. "$cloud/etc/container.env"
. "$cloud/bin/cgroups.sh"

start() {
    start_namespaces hypervisor-2 "$BASH" "$0" "$cloud" inside
    wait "$child"
}

inside() {
    local version names
    make_link mgmt2 mgmt2-br
    outside ip link set mgmt2-br up master br-mgmt
    make_link ext2 ext2-br
    outside ip link set ext2-br up master br-ex
    exec 9<&-
    ip link set lo up
    ip address add "$SECOND_ADDRESS/$PREFIX" dev mgmt2
    sysctl -qw net.bridge.bridge-nf-call-iptables=1 || true
    sysctl -qw net.ipv4.tcp_orphan_retries=1
    # Guests reach nothing here, from whichever bridge.
    iptables -w -A INPUT -i lo -j ACCEPT
    iptables -w -A INPUT ! -i mgmt2 -j DROP
    iptables -w -A FORWARD ! -i mgmt2 -o mgmt2 -j DROP
    hostname "$HYPERVISOR_2"

    mount -t proc -o nosuid,nodev,noexec proc /proc
    # Copies would keep the namespaces of routers from being removed.
    awk '$2 ~ "^/run/netns/" {print $2}' /proc/self/mounts |
        xargs -r -n1 umount
    version=$(is_v2 && echo 2 || echo 1)
    names=$(list_hierarchies)
    umount -R /sys
    mount -t sysfs -o nosuid,nodev,noexec,ro sysfs /sys
    mount_groups $groups "$version" $names
    mount -t tmpfs -o mode=755,nosuid,nodev tmpfs /run
    mkdir -p /run/lock /run/sshd
    umount /etc/libvirt /var/{lib,cache,log}/libvirt
    . "$cloud/bin/libvirt-folders.sh"
    mount_libvirt "$own/libvirt"
    # The same path, another folder: Nova sends the paths of the source, and
    # takes the same folder for shared storage.
    mount --bind "$own/instances" "$cloud/data/nova/instances"
    exec supervisord --nodaemon \
        --configuration "$cloud/etc/supervisord-2.conf"
}

"${2:-start}"
