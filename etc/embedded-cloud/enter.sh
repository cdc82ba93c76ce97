#!/bin/bash
# Start the container of the embedded cloud: enter.sh CLOUD
# CLOUD/root is the package root, which is mounted read-only. bin, etc, data,
# log and run have the same paths inside as outside. The process that remains
# on the host waits for the end of the container, and removes its cgroups and
# the end of its link. The lock that it holds shows that the container runs.
set -euo pipefail
cloud=$1
root=$cloud/root
# shellcheck disable=SC1091
. "$cloud/etc/container.env"
v2=/sys/fs/cgroup/cgroup.controllers

hierarchies() {
    local path
    if [ -e $v2 ]; then
        echo /sys/fs/cgroup
        return
    fi
    for path in /sys/fs/cgroup/*/; do
        path=${path%/}
        case $path in */systemd | */unified) continue ;; esac
        [ ! -e "$path/cgroup.procs" ] || [ -L "$path" ] || echo "$path"
    done
}

remove_groups() {
    local path group
    for path in $(hierarchies); do
        [ -d "$path/$CGROUP" ] || continue
        for _ in {1..100}; do
            # The innermost first.
            find "$path/$CGROUP" -depth -type d | while read -r group; do
                rmdir "$group" 2>/dev/null || true
            done
            [ -d "$path/$CGROUP" ] || break
            sleep 0.05
        done
    done
}

clean() {
    # The kernel keeps a network namespace, and the link, while a connection
    # that nobody owns repeats its last packet.
    ip link delete "$LINK" 2>/dev/null || true
    remove_groups
    rm -f "$cloud/container.pid"
}

hold() {
    local path file child init
    # The numbers of users in the root are those of others on the host.
    exec 8>"$cloud/container.lock"
    flock -n 8 || exit 1
    for path in $(hierarchies); do
        mkdir -p "$path/$CGROUP"
        # A cpuset of version 1 starts empty, and takes no process.
        for file in cpuset.cpus cpuset.mems; do
            [ ! -e "$path/$CGROUP/$file" ] || [ -e $v2 ] ||
                cat "$path/$file" >"$path/$CGROUP/$file"
        done
    done
    (
        for path in $(hierarchies); do
            echo "$BASHPID" >"$path/$CGROUP/cgroup.procs"
        done
        # 9: the host's network namespace, in which the link is made.
        exec 8>&- 9</proc/self/ns/net
        exec unshare --mount --net --pid --uts --ipc --cgroup --fork \
            --kill-child "$BASH" "$0" "$cloud" inside
    ) &
    child=$!
    until init=$(cat "/proc/$child/task/$child/children") && [ "$init" ]; do
        sleep 0.02
    done
    if [ -e $v2 ]; then
        # unshare is outside of the namespace of cgroups, and in its root:
        # no controller can be enabled while a process is there.
        mkdir -p "/sys/fs/cgroup/$CGROUP/wait"
        echo "$child" >"/sys/fs/cgroup/$CGROUP/wait/cgroup.procs"
    fi
    init=${init% }
    echo "$init $(readlink "/proc/$init/ns/pid")" \
        >"$cloud/container.pid"
    wait "$child" || true
    clean
}

node() {
    [ -e "/dev/$1" ] || return 0
    mkdir -p "$(dirname "$root/dev/$1")"
    : >"$root/dev/$1"
    mount --bind "/dev/$1" "$root/dev/$1"
}

mount_cgroups() {
    local at=$root/sys/fs/cgroup path name
    if [ -e $v2 ]; then
        mount -t cgroup2 cgroup2 "$at"
        until [ "$(cat "$at/wait/cgroup.procs" 2>/dev/null)" ]; do
            sleep 0.02
        done
        mkdir -p "$at/init"
        for name in $(cat "$at/cgroup.procs"); do
            echo "$name" >"$at/init/cgroup.procs" || true
        done
        for name in $(cat "$at/cgroup.controllers"); do
            echo "+$name" >"$at/cgroup.subtree_control" || true
        done
        return
    fi
    mount -t tmpfs -o mode=755 tmpfs "$at"
    for path in $(hierarchies); do
        name=${path##*/}
        mkdir "$at/$name"
        mount -t cgroup -o "$name" cgroup "$at/$name"
    done
}

connect() {
    # 7: our network namespace as a file. A number of a process would be
    # looked up in the /proc of the host.
    exec 7</proc/self/ns/net
    outside() { nsenter --net=/proc/self/fd/9 "$@"; }
    outside ip link delete "$LINK" 2>/dev/null || true
    outside ip link add "$LINK" type veth peer name uplink \
        netns /proc/self/fd/7
    outside ip address add "$HOST_ADDRESS/$PREFIX" dev "$LINK"
    outside ip link set "$LINK" addrgenmode none
    outside ip link set "$LINK" up
    outside ip route add "$EXTERNAL_NETWORK" via "$API_ADDRESS"
    exec 7<&- 9<&-
}

inside() {
    local name
    connect
    mount --make-rprivate /
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
    for name in null zero full random urandom tty net/tun kvm vhost-net; do
        node "$name"
    done
    mkdir "$root/dev/pts" "$root/dev/shm"
    mount -t devpts -o newinstance,ptmxmode=0666,mode=620,gid=5 devpts \
        "$root/dev/pts"
    ln -s pts/ptmx "$root/dev/ptmx"
    ln -s /proc/self/fd "$root/dev/fd"
    mount -t tmpfs -o mode=1777,nosuid,nodev tmpfs "$root/dev/shm"
    mount -t tmpfs -o mode=755,nosuid,nodev tmpfs "$root/run"
    for name in tmp var/tmp; do
        mount -t tmpfs -o mode=1777,nosuid,nodev tmpfs "$root/$name"
    done
    for name in bin etc data log run; do
        mount --bind "$cloud/$name" "$root$cloud/$name"
    done
    [ ! -d /lib/modules ] ||
        mount --bind -o ro /lib/modules "$root/lib/modules"
    mount_cgroups
    cd "$root"
    pivot_root . .
    umount -l .
    exec env -i "PATH=$cloud/bin:/usr/sbin:/usr/bin:/sbin:/bin" \
        "HOME=$cloud/data" LANG=C.UTF-8 /bin/bash "$cloud/bin/init.sh" "$cloud"
}

case ${2:-hold} in
hold) hold ;;
inside) inside ;;
clean) clean ;;
esac
