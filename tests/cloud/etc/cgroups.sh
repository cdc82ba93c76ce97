# SPDX-License-Identifier: Apache-2.0
# Read by enter.sh and hypervisor.sh: cgroups of version 1 and of version 2.
groups=/sys/fs/cgroup

is_v2() { [ -e $groups/cgroup.controllers ]; }

# Print the name of each hierarchy, "." with version 2.
list_hierarchies() {
    local path
    if is_v2; then
        echo .
        return
    fi
    for path in $groups/*; do
        case $path in */systemd | */unified) continue ;; esac
        [ ! -e "$path/cgroup.procs" ] || [ -L "$path" ] || echo "${path##*/}"
    done
}

# Make a group of a hierarchy: HIERARCHY NAME
make_group() {
    local file
    mkdir -p "$groups/$1/$2"
    # A cpuset of version 1 starts empty, and takes no process.
    for file in cpuset.cpus cpuset.mems; do
        is_v2 || [ ! -e "$groups/$1/$file" ] ||
            cat "$groups/$1/$file" >"$groups/$1/$2/$file"
    done
}

# Version 2 enables no controller in a group that has a process. unshare is in
# the root of the namespace, and invisible there: NAME PID
leave_root() {
    is_v2 || return 0
    mkdir -p "$groups/$1/wait"
    echo "$2" >"$groups/$1/wait/cgroup.procs"
}

# Mount the hierarchies of a namespace: DIRECTORY 1|2 NAME...
mount_groups() {
    local at=$1 version=$2 name
    shift 2
    if [ "$version" = 1 ]; then
        mount -t tmpfs -o mode=755 tmpfs "$at"
        for name in "$@"; do
            mkdir "$at/$name"
            mount -t cgroup -o "$name" cgroup "$at/$name"
        done
        return
    fi
    mount -t cgroup2 cgroup2 "$at"
    until [ "$(cat "$at/wait/cgroup.procs" 2>/dev/null)" ]; do sleep 0.02; done
    mkdir -p "$at/init"
    for name in $(cat "$at/cgroup.procs"); do
        echo "$name" >"$at/init/cgroup.procs" || true
    done
    for name in $(cat "$at/cgroup.controllers"); do
        echo "+$name" >"$at/cgroup.subtree_control" || true
    done
}

remove_groups() {
    local name path
    for name in $(list_hierarchies); do
        path=$groups/$name/$1
        for _ in {1..100}; do
            [ -d "$path" ] || break
            find "$path" -depth -type d -exec rmdir {} + 2>/dev/null || true
            sleep 0.02
        done
    done
}

# Run a program as the first one of new namespaces, and set child and init to
# the numbers of unshare and of the program: NAME PROGRAM...
start_namespaces() {
    local name=$1 hierarchy hierarchies
    shift
    hierarchies=$(list_hierarchies)
    for hierarchy in $hierarchies; do make_group "$hierarchy" "$name"; done
    # No program runs in the subshell: its only child is the first program.
    (
        for hierarchy in $hierarchies; do
            echo "$BASHPID" >"$groups/$hierarchy/$name/cgroup.procs"
        done
        # 9: the network namespace of this host.
        exec 8>&- 9</proc/self/ns/net
        exec unshare --mount --net --pid --uts --ipc --cgroup --fork \
            --kill-child --propagation private "$@"
    ) &
    child=$!
    until init=$(cat "/proc/$child/task/$child/children") && [ "$init" ]; do
        sleep 0.02
    done
    init=${init% }
    leave_root "$name" "$child"
}

# Make a veth pair between this network namespace and the one of 9:
#   make_link NAME NAME_OUTSIDE
# A number of a process would be looked up in the /proc of the host.
outside() { nsenter --net=/proc/self/fd/9 "$@"; }
make_link() {
    exec 7</proc/self/ns/net
    outside ip link delete "$2" 2>/dev/null || true
    outside ip link add "$2" type veth peer name "$1" netns /proc/self/fd/7
    exec 7<&-
    ip link set "$1" up
}
