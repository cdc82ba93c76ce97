#!/bin/sh
# Run libvirtd with folders of its own in place of the machine's: called in a
# private mount namespace, so that nothing under /etc or /var is ever changed.
# usage: libvirtd.sh FOLDER libvirtd-argument...
set -eu
own=$1
shift
mount --bind "$own/etc" /etc/libvirt
mount --bind "$own/lib" /var/lib/libvirt
mount --bind "$own/cache" /var/cache/libvirt
mount --bind "$own/log" /var/log/libvirt
exec libvirtd "$@"
