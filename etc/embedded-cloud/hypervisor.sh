#!/bin/bash
# The second hypervisor: hypervisor.sh CLOUD
# It has namespaces of its own for networks, mounts, processes, IPC, cgroups and
# the host name. Its first process is a supervisord with libvirtd, nova-compute
# and the linuxbridge agent; the end of it ends all, guests too.
set -euo pipefail
cloud=$1
own=$cloud/data/hypervisor-2
# shellcheck disable=SC1091
. "$cloud/etc/container.env"
if [ -e /sys/fs/cgroup/cgroup.controllers ]; then
    groups=(/sys/fs/cgroup)
else
    groups=(/sys/fs/cgroup/*)
fi

start() {
    local path file name
    chmod 711 "$own" "$own/instances"
    for path in "${groups[@]}"; do
        mkdir -p "$path/hypervisor-2"
        for file in cpuset.cpus cpuset.mems; do
            [ ! -e "$path/$file" ] || [ -e "$path/cgroup.controllers" ] ||
                cat "$path/$file" >"$path/hypervisor-2/$file"
        done
    done
    for name in mgmt2-br ext2-br; do
        ip link delete "$name" 2>/dev/null || true
    done
    (
        for path in "${groups[@]}"; do
            echo "$BASHPID" >"$path/hypervisor-2/cgroup.procs"
        done
        # 9: the first network namespace, with the bridges.
        exec 9</proc/self/ns/net
        exec unshare --mount --net --pid --uts --ipc --cgroup --fork \
            --kill-child --propagation private \
            "$BASH" "$0" "$cloud" inside "${groups[@]##*/}"
    ) &
    child=$!
    if [ -e /sys/fs/cgroup/cgroup.controllers ]; then
        until [ "$(cat "/proc/$child/task/$child/children")" ]; do
            sleep 0.02
        done
        mkdir -p /sys/fs/cgroup/hypervisor-2/wait
        echo "$child" >/sys/fs/cgroup/hypervisor-2/wait/cgroup.procs
    fi
    wait "$child"
}

mount_cgroups() {
    local at=/sys/fs/cgroup name
    if [ "$1" = cgroup ]; then
        mount -t cgroup2 cgroup2 $at
        until [ "$(cat $at/wait/cgroup.procs 2>/dev/null)" ]; do
            sleep 0.02
        done
        mkdir -p $at/init
        for name in $(cat $at/cgroup.procs); do
            echo "$name" >$at/init/cgroup.procs || true
        done
        for name in $(cat $at/cgroup.controllers); do
            echo "+$name" >$at/cgroup.subtree_control || true
        done
        return
    fi
    mount -t tmpfs -o mode=755 tmpfs $at
    for name in "$@"; do
        mkdir "$at/$name"
        mount -t cgroup -o "$name" cgroup "$at/$name"
    done
}

inside() {
    local pair name bridge
    exec 7</proc/self/ns/net
    first() { nsenter --net=/proc/self/fd/9 "$@"; }
    for pair in "mgmt2 br-mgmt" "ext2 br-ex"; do
        read -r name bridge <<<"$pair"
        first ip link add "$name-br" type veth peer name "$name" \
            netns /proc/self/fd/7
        first ip link set "$name-br" up master "$bridge"
        ip link set "$name" up
    done
    exec 7<&- 9<&-
    ip link set lo up
    ip address add "$SECOND_ADDRESS/$PREFIX" dev mgmt2
    sysctl -qw net.bridge.bridge-nf-call-iptables=1 || true
    sysctl -qw net.ipv4.tcp_orphan_retries=1
    hostname "$HYPERVISOR_2"

    mount -t proc -o nosuid,nodev,noexec proc /proc
    # Copies would keep the namespaces of routers from being removed.
    awk '$2 ~ "^/run/netns/" {print $2}' /proc/self/mounts |
        xargs -r -n1 umount
    umount -R /sys
    mount -t sysfs -o nosuid,nodev,noexec,ro sysfs /sys
    mount_cgroups "$@"
    mount -t tmpfs -o mode=755,nosuid,nodev tmpfs /run
    mkdir -p /run/lock
    umount /etc/libvirt /var/{lib,cache,log}/libvirt
    . "$cloud/bin/libvirt-folders.sh"
    mount_libvirt "$own/libvirt"
    # The same path, another folder: Nova sends the paths of the source, and
    # takes the same folder for shared storage.
    mount --bind "$own/instances" "$cloud/data/nova/instances"
    exec supervisord --nodaemon \
        --configuration "$cloud/etc/supervisord-2.conf"
}

if [ "${2:-}" = inside ]; then
    shift 2
    inside "$@"
else
    start
fi
