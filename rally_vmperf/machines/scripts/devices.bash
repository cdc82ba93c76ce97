# SPDX-License-Identifier: Apache-2.0
# Provide volumes, which workloads measure, in a work directory, as root.
#
#   attach FOLDER MAKE COUNT VOLUME... TITLE...
#   detach FOLDER  unmount them, and remove what attach made outside FOLDER
#
# VOLUME is ID PATH FORM LEAST MOST: the device whose serial number begins
# with ID, or that of PATH, between LEAST and MOST bytes.  attach links it as
# volume-1, volume-2, ... in FOLDER and in the directories TITLE in it; with
# the FORM filesystem it is mounted, with a new file system if MAKE is 1, and
# volume-1.fs is a link to a directory in it, so that nothing is written to
# another disk after a reboot.  It can be repeated then.  For each volume it
# prints "volume NUMBER BYTES DEVICE", without a DEVICE if there is none;
# volumes of another size are neither linked nor written.
export LC_ALL=C

find_device() {  # ID: print the path of the device
    local block id=$1 link name serial
    for block in /sys/block/*; do
        serial=
        # virtio has the first 20 characters, without the end of a line.
        IFS= read -r serial <"$block/serial" || [ -n "$serial" ] ||
            # Page 80h of SCSI: a header of 4 bytes, and the serial number.
            serial=$(tail -c +5 "$block/device/vpd_pg80" | tr -d '\0 ')
        if matches "$serial"; then
            echo "/dev/$(find_multipath "$block")"
            return
        fi
    done 2>/dev/null
    for link in /dev/disk/by-id/*; do
        name=${link##*/}
        if [ -b "$link" ] && [[ $name = *[_-]"${id:0:20}" ||
            $name = *[_-]"$id" ]]; then
            readlink -f -- "$link"
            return
        fi
    done
}

find_multipath() {  # BLOCK: print the device of which it is a path, or it
    local holder uuid
    for holder in "$1"/holders/dm-*; do
        uuid=
        IFS= read -r uuid <"$holder/dm/uuid"
        if [[ $uuid = mpath-* ]]; then
            echo "${holder##*/}"
            return
        fi
    done 2>/dev/null
    echo "${1##*/}"
}

matches() {  # SERIAL: return whether it is the one of $id
    [ "$1" = "$id" ] || [ "$1" = "${id:0:20}" ]
}

attach() {
    local bytes device directories=() folder form id least made make=$2 most
    local number owner path shown target title volumes=()
    folder=$1
    owner=$(stat -c %u:%g -- "$folder") || return
    volumes=("${@:4:5*$3}")
    for title in "${@:4+5*$3}"; do
        directories+=("$folder/$title")
        [ -d "$folder/$title" ] ||
            install -d -m 0700 -o "${owner%:*}" -g "${owner#*:}" \
                -- "$folder/$title" || return
    done
    for ((number = 1; ${#volumes[@]}; number++)); do
        id=${volumes[0]} path=${volumes[1]} form=${volumes[2]}
        least=${volumes[3]} most=${volumes[4]}
        volumes=("${volumes[@]:5}")
        device=${path:-$(find_device "$id")}
        bytes=$([ -b "$device" ] && blockdev --getsize64 "$device")
        shown=$device
        [ -n "$bytes" ] || bytes=0 shown=
        echo "volume $number $bytes${shown:+ $shown}"
        [ -n "$shown" ] && ((least <= bytes && bytes <= most)) || continue
        target=$(own_node "$device" "$folder" "$number" "$owner") &&
            link "$target" "volume-$number" || return
        [ "$form" = filesystem ] || continue
        mount_device "$device" "$folder/.volume-$number" "$make" &&
            link "$folder/.volume-$number/files" "volume-$number.fs" ||
            return
    done
}

link() {  # TARGET NAME: link it in the work directory and in those below
    local directory
    for directory in "$folder" "${directories[@]}"; do
        ln -sfnT -- "$1" "$directory/$2" || return
    done
}

# A user other than root gets a node of this device, and of no other one.
# udev resets the owner of the usual node whenever a program has written.
own_node() {  # DEVICE FOLDER NUMBER OWNER: print the path
    local node=/dev/${2##*/}-$3
    if [ "${4%:*}" = 0 ]; then
        echo "$1"
        return
    fi
    rm -f -- "$node"
    mknod -m 0600 -- "$node" b $(stat -Lc '0x%t 0x%T' -- "$1") &&
        chown -- "$4" "$node" && echo "$node"
}

mount_device() {  # DEVICE POINT MAKE
    mountpoint -q -- "$2" && return
    # Otherwise the kernel would initialise it during the measurement.
    [ "$3" = 0 ] || mkfs.ext4 -q -F \
        -E lazy_itable_init=0,lazy_journal_init=0 -- "$1" >&2 || return
    mkdir -p -- "$2" && mount -t ext4 -- "$1" "$2" &&
        mkdir -p -- "$2/files" && chown -- "$owner" "$2/files"
}

detach() {
    local point
    for point in "$1"/.volume-*; do
        if mountpoint -q -- "$point"; then
            umount -- "$point" || return
        fi
    done
    rm -f -- "/dev/${1##*/}"-*
}

"$@"
