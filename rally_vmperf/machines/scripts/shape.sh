# SPDX-License-Identifier: Apache-2.0
# Limit programs to CPUs and memory with control groups.
#
#   look ROOT                        print the available controllers and the CPUs
#   up ROOT NAME CPUS NODES BYTES    make group NAME; print the files to enter
#   down ROOT NAME...                end what runs in the groups, remove them
export LC_ALL=C
umask 077

look() {
    if [ -f "$1/cgroup.controllers" ]; then
        case " $(cat "$1/cgroup.controllers") " in
        *\ cpuset\ *memory\ * | *\ memory\ *cpuset\ *)
            if [ -d /run/systemd/system ] && command -v systemd-run; then
                method=systemd
            else
                method=cgroup2
            fi ;;
        esac
    elif [ -f "$1/cpuset/cpuset.cpus" ] &&
        [ -f "$1/memory/memory.limit_in_bytes" ]; then
        method=cgroup1
    fi >/dev/null
    echo "method=${method:-taskset}"
    echo "memory_kib=$(sed -n 's/^MemTotal: *\([0-9]*\).*/\1/p' /proc/meminfo)"
    echo "allowed=$(sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' \
        /proc/self/status)"
    lscpu -p=CPU,CORE,NODE
}

sweep() {  # empty groups of runs that died; rmdir spares those in use
    # The hour is for runs that live: between commands theirs are empty too.
    find "$@" -maxdepth 1 -type d -name 'rally-vmperf-*' -mmin +60 \
        -exec rmdir {} + 2>/dev/null
}

up() {
    root=$1 name=$2 cpus=$3 nodes=$4 bytes=$5
    set -e
    if [ -f "$root/cgroup.controllers" ]; then
        sweep "$root" || true
        echo '+cpuset +memory' >"$root/cgroup.subtree_control"
        group=$root/$name
        mkdir "$group"
        touch "$group"  # else the kernel forgets how old it is
        echo "$cpus" >"$group/cpuset.cpus"
        echo "$nodes" >"$group/cpuset.mems"
        echo "$bytes" >"$group/memory.max"
        [ ! -e "$group/memory.swap.max" ] || echo 0 >"$group/memory.swap.max"
        echo "$group/cgroup.procs"
    else
        sweep "$root/cpuset" "$root/memory" || true
        mkdir "$root/cpuset/$name" "$root/memory/$name"
        touch "$root/cpuset/$name" "$root/memory/$name"
        group=$root/cpuset/$name
        echo "$cpus" >"$group/cpuset.cpus"
        echo "$nodes" >"$group/cpuset.mems"
        echo "$group/cgroup.procs"
        group=$root/memory/$name
        echo "$bytes" >"$group/memory.limit_in_bytes"
        # Memory and swap together: nothing is left for swap.
        [ ! -e "$group/memory.memsw.limit_in_bytes" ] ||
            echo "$bytes" >"$group/memory.memsw.limit_in_bytes"
        echo "$group/cgroup.procs"
    fi
}

down() {
    root=$1
    shift
    for name; do
        for group in "$root/$name" "$root/cpuset/$name" "$root/memory/$name"; do
            [ ! -d "$group" ] || remove "$group" || failed=1
        done
    done
    exit "${failed:-0}"
}

remove() {
    for _ in 1 2 3 4 5 6 7 8 9 10; do
        while read -r process; do
            kill -KILL "$process"
        done <"$1/cgroup.procs" 2>/dev/null
        rmdir "$1" 2>/dev/null && return
        sleep 0.2
    done
    rmdir "$1"
}

"$@"
