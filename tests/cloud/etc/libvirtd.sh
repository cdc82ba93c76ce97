#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# libvirtd.sh CONFIGURATION OF SUPERVISORD
# Nova disables a host whose libvirtd has ended: nova-compute starts again.
supervisorctl -c "$1" signal KILL nova-compute >/dev/null 2>&1
exec libvirtd --config /etc/libvirt/libvirtd.conf
