"""What a console is a sign of when its guest does not answer; pure."""

import re

from rally_vmperf.guests import console_keys

NO_BOOT = (
    "nothing on its disk boots; check the image's format and its firmware "
    "(BIOS or UEFI)"
)
NO_ROOT = (
    "its kernel finds no root disk; check the image's disk bus and the "
    "drivers in its initramfs"
)
PANIC = "its kernel panicked; check that image and flavor fit together"
NO_MEMORY = "it ran out of memory; choose a larger flavor"
NO_SPACE = "its disk is full; choose a larger flavor"
EMERGENCY = "its boot ended in emergency mode; check the image's file systems"
NO_ADDRESS = "it got no address; check the DHCP agent of its network"
NO_METADATA = (
    "its cloud-init found no metadata, so that it has none of our keys; "
    "check the metadata service, or set config_drive: true"
)
CLOUD_INIT = "its cloud-init failed; check the image and user_data"
NO_SSH_SERVER = "its SSH server did not start; check the image"
OTHER_KEY = (
    "it shows another SSH host key than the one that is expected; if user "
    "data did not reach it, set config_drive: true, else say by host_key how "
    "its key is known"
)

#: What stands on consoles, the most telling first.
_SIGNS = (
    (r"No bootable (?:device|option)|not a bootable disk", NO_BOOT),
    (r"grub rescue>|Entering rescue mode", NO_BOOT),
    (r"Unable to mount root fs|Gave up waiting for root", NO_ROOT),
    (r"Kernel panic - not syncing", PANIC),
    (r"Out of memory: Kill", NO_MEMORY),
    (r"No space left on device", NO_SPACE),
    (r"You are in emergency mode|Give root password for", EMERGENCY),
    (r"No DHCPOFFERS received|udhcpc: no lease", NO_ADDRESS),
    (r"Failed to start .*(?:[Ww]ait for Network|Raise network)", NO_ADDRESS),
    (r"DataSourceNone|No instance datasource found", NO_METADATA),
    (r"giving up on md|Giving up on (?:md|OpenStack)", NO_METADATA),
    (r"Failed to start .*cloud-(?:init|config)", CLOUD_INIT),
    (r"Failed to start .*Cloud-init:", CLOUD_INIT),
    (r"cloud-init\[\d+\]: .*Traceback", CLOUD_INIT),
    (r"Failed to start .*(?:OpenSSH|OpenBSD Secure Shell)", NO_SSH_SERVER),
    (r"sshd: no hostkeys available", NO_SSH_SERVER),
)


def hints(text: str, host_key: str | None = None) -> list[str]:
    """Return what a console tells, in words of ours.

    :param host_key: public key lines of which the guest should show one
    """
    found = [hint for pattern, hint in _SIGNS if re.search(pattern, text)]
    if host_key and console_keys.differ(text, host_key):
        found.append(OTHER_KEY)
    return list(dict.fromkeys(found))
