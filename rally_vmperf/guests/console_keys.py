"""Host keys in the text of a console, as cloud-init prints them; pure."""

import re

from rally_vmperf.machines import base
from rally_vmperf.machines import hostkey

_BLOCK = re.compile(
    r"-----BEGIN SSH HOST KEY KEYS-----(.*?)-----END SSH HOST KEY KEYS-----",
    re.DOTALL,
)
_KEY = re.compile(
    r"\b(ssh-ed25519|ssh-rsa|ecdsa-sha2-nistp(?:256|384|521))"
    r" (AAAA[A-Za-z0-9+/]{40,1400}={0,2})(?![^\s])"
)
_MOST = 8


def read(text: str) -> list[str]:
    """Return the public key lines of the last whole block.

    Lines of the kernel may stand between them; comments are left out, and
    what only looks like a key.
    """
    blocks = _BLOCK.findall(text)
    if not blocks:
        return []
    found = _KEY.findall(blocks[-1])[:_MOST]
    return [line for line in map(" ".join, found) if _is_key(line)]


def _is_key(line: str) -> bool:
    try:
        hostkey.pinned(line)
    except base.MachineError:
        return False
    return True


def differ(text: str, host_key: str) -> bool:
    """Tell whether a console shows keys, and none of those expected.

    :param host_key: public key lines
    """
    shown = set(read(text))
    expected = {
        " ".join(line.split()[:2]) for line in host_key.strip().splitlines()
    }
    return bool(shown) and not shown & expected
