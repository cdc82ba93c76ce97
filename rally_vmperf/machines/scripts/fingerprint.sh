# SPDX-License-Identifier: Apache-2.0
# Print the properties of a machine in sections that start with "@@ name".
#
# Few programs are started: each costs an emulated machine dozens of
# milliseconds.
export LC_ALL=C
section() {
    printf '\n@@ %s\n' "$1"
}
show() {  # section, file
    section "$1"
    head -c 65536 -- "$2" 2>/dev/null
}
line() {  # section, file of one line: no program is started for it
    section "$1"
    word "$2"
}
say() {  # section, command
    section "$1"
    shift
    "$@" 2>/dev/null </dev/null
}
link() {  # last part of where a symbolic link leads, if it leads anywhere
    [ -e "$1" ] && target=$(readlink -- "$1") && printf '%s' "${target##*/}"
}
controller() {  # the driver of the controller of a SCSI, SATA or IDE disk
    [ "$(link "$1/subsystem")" = scsi ] || return
    # Above the host, target and logical unit; ATA has a port in between.
    link "$1/../../../driver" || link "$1/../../../../driver"
}
multipath() {  # the identifier of the device of which a disk is a path
    for holder in "$1"/holders/dm-*; do
        word "$holder/dm/uuid" >/dev/null
        case $line in mpath-*) return ;; esac
    done
    holder= line=
}
lowest() {  # the disk below a logical volume, a partition or a multipath
    name=$1
    while [ -e "/sys/class/block/$name" ]; do
        if [ -e "/sys/class/block/$name/partition" ]; then
            name=$(readlink -- "/sys/class/block/$name")
            name=${name%/*} name=${name##*/}
        fi
        word "/sys/class/block/$name/dm/uuid" >/dev/null
        # The first path is the disk; other devices with several are none.
        set -- "/sys/class/block/$name"/slaves/*
        case "$# $line" in "1 "?* | *" mpath-"*) ;; *) break ;; esac
        [ -e "$1" ] && name=${1##*/} || break
    done
    printf '%s' "$name"
}
few() {  # whether no more than 64 came before
    [ $((count += 1)) -le 64 ]
}
number() {  # how many of these files there are
    [ -e "$1" ] && printf '%s' "$#"
}
offloads() {  # what a network interface does in place of the processor
    ethtool -k "$1" 2>/dev/null | while IFS=': ' read -r key value _; do
        case $key in
        tcp-segmentation-offload | generic-segmentation-offload | \
            generic-receive-offload | large-receive-offload | \
            rx-checksumming | tx-checksumming)
            printf '%s:%s ' "$key" "$value" ;;
        esac
    done
}
word() {  # a file's first line
    line=
    [ -r "$1" ] && IFS= read -r line <"$1"
    printf '%s' "$line"
} 2>/dev/null

# One processor is enough, and hosts have hundreds.
section cpuinfo
sed '/^$/q' /proc/cpuinfo
say lscpu lscpu
show meminfo /proc/meminfo
line kernel /proc/sys/kernel/osrelease
line cmdline /proc/cmdline
show os /etc/os-release
section mitigations
cd /sys/devices/system/cpu/vulnerabilities 2>/dev/null &&
    grep . -- *
line governor /sys/devices/system/cpu/cpu0/cpufreq/scaling_governor
line scaling_driver /sys/devices/system/cpu/cpu0/cpufreq/scaling_driver
line no_turbo /sys/devices/system/cpu/intel_pstate/no_turbo
line boost /sys/devices/system/cpu/cpufreq/boost
line transparent_huge_pages /sys/kernel/mm/transparent_hugepage/enabled
line smt /sys/devices/system/cpu/smt/active
line online_cpus /sys/devices/system/cpu/online
section zoneinfo  # the pages that the firmware hands over
grep -E '^ +present ' /proc/zoneinfo 2>/dev/null
section page_kib
while read -r key size _; do
    [ "$key" = KernelPageSize: ] && printf '%s' "$size" && break
done 2>/dev/null </proc/self/smaps
section isolated  # an empty list is known, too
[ -r /sys/devices/system/cpu/isolated ] &&
    printf 'cpus=%s' "$(word /sys/devices/system/cpu/isolated)"
say nodes echo /sys/devices/system/node/node[0-9]*
say detect_virt systemd-detect-virt --vm
line clocksources \
    /sys/devices/system/clocksource/clocksource0/available_clocksource
line hypervisor /sys/hypervisor/type
line dmi_vendor /sys/class/dmi/id/sys_vendor
line dmi_product /sys/class/dmi/id/product_name
line dmi_chassis /sys/class/dmi/id/chassis_version
section boot_id
sha256sum </proc/sys/kernel/random/boot_id
section machine_id
[ -s /etc/machine-id ] && sha256sum </etc/machine-id

line node /proc/sys/kernel/hostname
section routes
head -n 64 /proc/net/route 2>/dev/null

section disks
count=0 known=
for device in /sys/block/*; do
    [ -e "$device/device" ] || continue
    multipath "$device"
    case $known in *" $line "*) continue ;; esac  # another path of a disk
    [ -z "$line" ] || known="$known $line "
    path=${holder##*/}
    few || continue
    printf 'name=%s\tmodel=%s\tdriver=%s\tbus=%s\trotational=%s' \
        "${device##*/}" "$(word "$device/device/model")" \
        "$(link "$device/device/driver" || link "$device/device/device/driver")" \
        "$(link "$device/device/subsystem")" \
        "$(word "$device/queue/rotational")"
    printf '\tcontroller=%s' "$(controller "$device/device")"
    [ -z "$path" ] || printf '\tmultipath=%s' "$path"
    printf '\tscheduler=%s\twrite_cache=%s\tsectors=%s\tqueues=%s\n' \
        "$(word "$device/queue/scheduler")" \
        "$(word "$device/queue/write_cache")" "$(word "$device/size")" \
        "$(number "$device"/mq/*)"
done

section root_disk
root=
while read -r _ _ device _ point _; do
    [ "$point" = / ] && root=$device
done 2>/dev/null </proc/self/mountinfo
if [ -e "/sys/dev/block/$root/dev" ] &&
    target=$(readlink -- "/sys/dev/block/$root"); then
    lowest "${target##*/}"
fi

section nets
count=0
for device in /sys/class/net/*; do
    [ -e "$device/device" ] && few || continue
    printf 'name=%s\tdriver=%s\tspeed=%s\tmtu=%s' "${device##*/}" \
        "$(link "$device/device/driver")" "$(word "$device/speed")" \
        "$(word "$device/mtu")"
    printf '\tqueues=%s\toffloads=%s\n' \
        "$(number "$device"/queues/rx-*)" "$(offloads "${device##*/}")"
done
