#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The first process of the container: it makes the networks, then supervisord
# takes its place.
set -euo pipefail
cloud=$1
. "$cloud/etc/container.env"

hostname "$HYPERVISOR_1"
ip link set lo up
# br-mgmt: APIs, messages, VXLAN and live migration. br-ex: the network
# "public". The container forwards between the host and br-ex.
for bridge in br-mgmt br-ex; do
    ip link add "$bridge" type bridge
    ip link set "$bridge" up
done
ip link set uplink up master br-mgmt
ip address add "$API_ADDRESS/$PREFIX" dev br-mgmt
ip address add "$EXTERNAL_GATEWAY/$PREFIX" dev br-ex
# No bridge mapping: Nova plugs guests into the bridge of the agent, which
# moves nothing but a physical interface there, here the end of a veth pair.
ip link add ext1 type veth peer name ext1-br
ip link set ext1-br up master br-ex
ip link set ext1 up

sysctl -qw net.ipv4.ip_forward=1
# Connections without an owner keep the network namespace.
sysctl -qw net.ipv4.tcp_orphan_retries=1
sysctl -qw net.bridge.bridge-nf-call-iptables=1 || true
# Guests, the peer and the control machine answer the host; they reach neither it
# nor the APIs, from whichever bridge: the kernel answers for each address on all of them. What
# the host forwards for others is dropped. RabbitMQ and Ceph are for hypervisors.
iptables-restore -w <<RULES
*filter
:vmperf-answers - [0:0]
-A vmperf-answers -m conntrack --ctstate ESTABLISHED,RELATED -j RETURN
-A vmperf-answers -j DROP
-A INPUT -i lo -j ACCEPT
-A INPUT ! -i br-mgmt ! -p icmp -j vmperf-answers
-A INPUT -i br-mgmt ! -s $MANAGEMENT_NETWORK -j DROP
-A INPUT -p tcp --dport 5672 ! -s $SECOND_ADDRESS -j DROP
-A INPUT -p tcp --dport 3300 ! -s $SECOND_ADDRESS -j DROP
-A INPUT -p tcp --dport 6789:7300 ! -s $SECOND_ADDRESS -j DROP
-A INPUT ! -i br-mgmt -p udp --dport 8472 -j DROP
-A FORWARD ! -i br-mgmt -o br-mgmt -j vmperf-answers
-A FORWARD -i br-mgmt -o br-ex ! -s $HOST_ADDRESS -j DROP
COMMIT
RULES

mkdir -p /run/lock /run/netns /run/sshd "$cloud/run/mariadb"
chown mysql: "$cloud/run/mariadb" "$cloud/data/mysql"
mkdir -m 700 "$cloud/run/libvirt-$API_ADDRESS" \
    "$cloud/run/libvirt-$SECOND_ADDRESS"
chgrp libvirt-qemu "$cloud/data/nova"
cat >/run/hosts <<HOSTS
127.0.0.1 localhost
$API_ADDRESS $HYPERVISOR_1
$SECOND_ADDRESS $HYPERVISOR_2
HOSTS
mount --bind /run/hosts /etc/hosts
# The home of the user who logs in to the peer and the control machine.
mount --bind "$cloud/data/peer" /root
. "$cloud/bin/libvirt-folders.sh"
mount_libvirt "$cloud/data/libvirt"

exec supervisord --nodaemon --configuration "$cloud/etc/supervisord.conf"
