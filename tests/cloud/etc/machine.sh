#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A machine next to the guests: a network namespace in the network "public",
# and the sshd in it. Each step can be repeated.
set -euo pipefail
cloud=$1 name=$2 address=$3
. "$cloud/etc/container.env"

namespace=vmperf-$name
[ -e "/run/netns/$namespace" ] || ip netns add "$namespace"
[ -e "/sys/class/net/$name" ] ||
    ip link add "$name" type veth peer name eth0 netns "$namespace"
ip link set "$name" up master br-ex
ip -n "$namespace" link set lo up
ip -n "$namespace" address replace "$address/$PREFIX" dev eth0
ip -n "$namespace" link set eth0 up
ip -n "$namespace" route replace default via "$EXTERNAL_GATEWAY"
exec ip netns exec "$namespace" /usr/sbin/sshd -D -e \
    -f "$cloud/etc/sshd_config" -o "ListenAddress=$address:22" \
    -o "PidFile=$cloud/run/$name-sshd.pid"
