#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# In front of tc: on a kernel without sfq, cls_fw or act_police, set the limits
# that libvirt asks for (a flavor's quota:vif_*) by means such a kernel has.
real=/usr/sbin/tc
line=" $* "

# word NAME: the word after NAME on the command line
word() { [[ $line =~ " $1 "([^ ]+) ]] && echo "${BASH_REMATCH[1]}"; }

if [[ $line == *" qdisc del "*" ingress "* ]]; then
    tap=$(word dev)
    mirror=ifb${tap#tap}
    [[ $tap == tap* && -e /sys/class/net/$mirror ]] &&
        ip link delete "$mirror"
    exec $real "$@"
fi

$real "$@" 2>/dev/null && exit 0

case $line in
*" sfq perturb "*)
    # fair queueing inside one guest's class: a plain queue will do
    exec $real ${line/ sfq perturb 10 / pfifo }
    ;;
*" fw flowid "*)
    # traffic without this filter goes to the default class, which is limited
    exit 0
    ;;
*" police rate "*)
    # no policer: pass what comes in over an ifb device, and shape it there
    tap=$(word dev)
    mirror=ifb${tap#tap}
    rate=$(word rate)
    burst=$(word burst)
    [[ -e /sys/class/net/$mirror ]] || ip link add "$mirror" type ifb
    ip link set "$mirror" up
    $real qdisc replace dev "$mirror" root tbf \
        rate "$rate" burst "${burst:-64kb}" latency 100ms
    exec $real filter add dev "$tap" parent ffff: protocol all u32 \
        match u32 0 0 action mirred egress redirect dev "$mirror"
    ;;
esac
exec $real "$@"
