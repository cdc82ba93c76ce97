# SPDX-License-Identifier: Apache-2.0
"""Signs of failures and host keys on the console of a guest.

The text of a guest is not trusted.
"""

import dataclasses
import re

from rally_vmperf.guests import cloud
from rally_vmperf.guests import errors
from rally_vmperf.machines import base
from rally_vmperf.machines.remote import hostkey

_ESCAPES = re.compile(r"\x1b(\[[0-9;?]*[ -/]*[@-~]|[@-Z\\-_])")
_LINES, _WIDTH = 15, 200
#: The maximum characters of the text and of a line; a key has up to 1400.
_MAX_CONSOLE_CHARACTERS, _MAX_LINE_CHARACTERS = 1 << 18, 2000
#: Lines of a whole boot; Nova returns 100 KiB at most.
_WHOLE_BOOT = 2000


@dataclasses.dataclass(frozen=True, kw_only=True)
class ConsoleDiagnosis:
    """A diagnosis of a guest's failure from its console.

    :param hints: The explanations of the signs on the console.
    :param end: The last lines of the console, or the reason without any.
    """

    hints: list[str]
    end: str


def read_console(connection: cloud.Connection, server_id: str) -> str:
    """Return the console as plain lines.

    :raises GuestError: If Nova does not return the console.
    """
    with cloud.convert_errors("console"):
        try:
            answer = connection.compute.get_server_console_output(
                server_id, length=_WHOLE_BOOT
            )
        except ValueError:
            # The SDK reads even an empty response as JSON.
            answer = {}
    text = answer.get("output") if isinstance(answer, dict) else None
    return clean_text(text if isinstance(text, str) else "")


def diagnose(
    connection: cloud.Connection, server_id: str, host_key: str | None = None
) -> ConsoleDiagnosis:
    """Return the diagnosis of a guest's failure.

    :param host_key: The expected public key lines; None if they are not known.
    """
    try:
        text = read_console(connection, server_id)
    except errors.GuestError as error:
        return ConsoleDiagnosis(hints=[], end=f"(no {error})")
    return ConsoleDiagnosis(
        hints=find_hints(text, host_key),
        end=sanitise(text) or "(the console is empty)",
    )


def clean_text(text: str) -> str:
    """Return the end of a text with printable lines of limited length.

    The time of a search may grow with the square of the length of a line.
    """
    lines = _ESCAPES.sub("", text[-_MAX_CONSOLE_CHARACTERS:]).splitlines()
    return "\n".join(
        "".join(
            c if c.isprintable() else " " for c in line[:_MAX_LINE_CHARACTERS]
        ).rstrip()
        for line in lines
    )


def sanitise(text: str) -> str:
    """Return the last lines of a text, printable and of limited length."""
    lines = [line[:_WIDTH] for line in clean_text(text).split("\n") if line]
    return "\n".join(lines[-_LINES:])


NO_BOOT = (
    "its disk is not bootable; check the format of the image and its firmware "
    "(BIOS or UEFI)"
)
NO_ROOT = (
    "its kernel finds no root disk; check the image's disk bus and the "
    "drivers in its initramfs"
)
PANIC = "its kernel panicked; check that image and flavor fit together"
OOPS = "its kernel failed (oops); look at the end of its console"
NO_MEMORY = "it ran out of memory; choose a larger flavor"
NO_SPACE = "its disk is full; choose a larger flavor"
EMERGENCY = "its boot ended in emergency mode; check the image's file systems"
NO_ADDRESS = "it has no address; check the DHCP agent of its network"
NO_METADATA = (
    "it found no metadata, so that it lacks the generated keys; "
    "check the metadata service, or set config_drive: true"
)
CLOUD_INIT = "its cloud-init failed; check the image and user_data"
USER_DATA = "it could not process user_data; check it"
NO_SSH_SERVER = "its SSH server did not start; check the image"
OTHER_KEY = (
    "its SSH host key differs from the expected one; if user data did not "
    "reach it, set config_drive: true, otherwise set host_key to the source "
    "of its key"
)

#: Patterns on consoles, the most specific first.
_SIGNS = (
    (r"No bootable (?:device|option)|not a bootable disk", NO_BOOT),
    (r"grub rescue>|Entering rescue mode", NO_BOOT),
    (r"Unable to mount root fs|Gave up waiting for root", NO_ROOT),
    (r"Kernel panic - not syncing", PANIC),
    (r"\bOops: |BUG: unable to handle|kernel BUG at ", OOPS),
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
    (r"vmperf-guest: (?:user data|bootcmd|write_files): ", USER_DATA),
    (r"Failed to start .*(?:OpenSSH|OpenBSD Secure Shell)", NO_SSH_SERVER),
    (r"sshd: no hostkeys available", NO_SSH_SERVER),
)


def find_hints(text: str, host_key: str | None = None) -> list[str]:
    """Return one line for each sign of a failure on a console.

    :param host_key: The public key lines, one of which the guest must show.
    """
    text = clean_text(text)
    hint_list = [hint for pattern, hint in _SIGNS if re.search(pattern, text)]
    if host_key and has_other_keys(text, host_key):
        hint_list.append(OTHER_KEY)
    return list(dict.fromkeys(hint_list))


#: The hints on failures after which a guest does not answer.
_FATAL = (NO_BOOT, NO_ROOT, PANIC, OOPS, EMERGENCY)
#: The first lines of a boot: of the firmware, and of the kernel.
_START = re.compile(r"SeaBIOS \(version|\bLinux version [0-9]")


def find_fatal_hint(text: str) -> str:
    """Return the sign on a console that a guest will not answer, or "".

    Signs of earlier boots are ignored.
    """
    text = clean_text(text)
    starts = [match.start() for match in _START.finditer(text)]
    hints = find_hints(text[starts[-1] :] if starts else text)
    return next((hint for hint in hints if hint in _FATAL), "")


def has_booted(text: str) -> bool:
    """Return whether a console shows that the guest is configured.

    That is a line of cloud-init, or of ``configure.py`` in the guest image.
    """
    for line in text.split("\n"):
        _, _, message = line.partition("Cloud-init v. ")
        if "vmperf-guest: finished " in line or " finished at " in message:
            return True
    return False


_BEGIN = "-----BEGIN SSH HOST KEY KEYS-----"
_END = "-----END SSH HOST KEY KEYS-----"
_KEY = re.compile(
    r"\b(ssh-ed25519|ssh-rsa|ecdsa-sha2-nistp(?:256|384|521))"
    r" (AAAA[A-Za-z0-9+/]{40,1400}={0,2})(?![^\s])"
)
_MAX_KEYS = 8


def read_keys(text: str) -> list[str]:
    """Return the public key lines of the last complete block.

    Lines of the kernel may occur between them. Comments and invalid keys are
    omitted.
    """
    before, end, _ = text.rpartition(_END)
    _, begin, block = before.rpartition(_BEGIN)
    if not (begin and end):
        return []
    keys = _KEY.findall(block)[:_MAX_KEYS]
    return [line for line in map(" ".join, keys) if _is_key(line)]


def _is_key(line: str) -> bool:
    """Return whether a console line is a valid public host key."""
    try:
        hostkey.parse_host_keys(line)
    except base.MachineError:
        return False
    return True


def has_other_keys(text: str, host_key: str) -> bool:
    """Return whether a console shows keys, but none of the expected ones.

    :param host_key: The expected public key lines.
    """
    shown = set(read_keys(text))
    expected = {
        " ".join(line.split()[:2]) for line in host_key.strip().splitlines()
    }
    return bool(shown) and not shown & expected
