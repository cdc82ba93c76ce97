#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Start the container of the embedded cloud: enter.sh CLOUD
# CLOUD/root is the package root, which is mounted read-only. bin, etc, data,
# log and run have the same paths inside as outside. The process that remains
# on the host waits for the end of the container, and removes its cgroups and
# the end of its link. The lock that it holds shows that the container runs.
set -euo pipefail
cloud=$1
root=$cloud/root
. "$cloud/etc/container.env"
. "$cloud/bin/cgroups.sh"
# The capabilities that no service needs.
UNUSED=-audit_control,-audit_read,-mac_admin,-mac_override,-sys_boot
UNUSED+=,-sys_pacct,-sys_rawio,-sys_time,-syslog,-wake_alarm

clean() {
    # The kernel keeps a network namespace, and the link, while a connection
    # that nobody owns repeats its last packet.
    ip link delete "$LINK" 2>/dev/null || true
    remove_groups "$CGROUP"
    rm -f "$cloud/container.pid"
}

hold() {
    exec 8>"$cloud/container.lock"
    flock -n 8 || exit 1
    start_namespaces "$CGROUP" "$BASH" "$0" "$cloud" inside
    echo "$init $(readlink "/proc/$init/ns/pid")" >"$cloud/container.pid"
    wait "$child" || true
    clean
}

node() {
    [ -e "/dev/$1" ] || return 0
    mkdir -p "$(dirname "$root/dev/$1")"
    : >"$root/dev/$1"
    mount --bind "/dev/$1" "$root/dev/$1"
}

inside() {
    local name
    make_link uplink "$LINK"
    outside ip address add "$HOST_ADDRESS/$PREFIX" dev "$LINK"
    outside ip link set "$LINK" addrgenmode none
    outside ip link set "$LINK" up
    outside ip route add "$EXTERNAL_NETWORK" via "$API_ADDRESS"
    exec 9<&-

    mount --bind "$root" "$root"
    for name in bin etc data log run; do
        mkdir -p "$root$cloud/$name"
    done
    mount -o remount,bind,ro "$root"
    mount -t proc -o nosuid,nodev,noexec proc "$root/proc"
    # The kernel's settings are the host's, except for those of the network.
    mount --bind "$root/proc/sys" "$root/proc/sys"
    mount --bind "$root/proc/sys/net" "$root/proc/sys/net"
    mount -o remount,bind,ro "$root/proc/sys"
    mount -t sysfs -o nosuid,nodev,noexec,ro sysfs "$root/sys"
    mount -t tmpfs -o mode=755,nosuid tmpfs "$root/dev"
    # With a /dev/kvm that guests cannot use, libvirtd probes QEMU all the time.
    for name in null zero full random urandom tty net/tun vhost-net $KVM; do
        node "$name"
    done
    mkdir "$root/dev/pts" "$root/dev/shm"
    mount -t devpts -o newinstance,ptmxmode=0666,mode=620,gid=5 devpts \
        "$root/dev/pts"
    ln -s pts/ptmx "$root/dev/ptmx"
    ln -s /proc/self/fd "$root/dev/fd"
    mount -t tmpfs -o mode=755,nosuid,nodev tmpfs "$root/run"
    for name in dev/shm tmp var/tmp; do
        mount -t tmpfs -o mode=1777,nosuid,nodev tmpfs "$root/$name"
    done
    for name in bin etc data log run; do
        mount --bind "$cloud/$name" "$root$cloud/$name"
    done
    [ ! -d /lib/modules ] ||
        mount --bind -o ro /lib/modules "$root/lib/modules"
    mount_groups "$root$groups" "$(is_v2 && echo 2 || echo 1)" \
        $(list_hierarchies)
    cd "$root"
    pivot_root . .
    umount -l .
    # Without the last two, every import of eventlet imports setuptools and
    # dnspython: a third of the time in which the services start.
    exec env -i "PATH=$cloud/bin:/usr/sbin:/usr/bin:/sbin:/bin" \
        "HOME=$cloud/data" LANG=C.UTF-8 SETUPTOOLS_USE_DISTUTILS=stdlib \
        EVENTLET_NO_GREENDNS=yes setpriv --bounding-set "$UNUSED" \
        /bin/bash "$cloud/bin/init.sh" "$cloud"
}

"${2:-hold}"
