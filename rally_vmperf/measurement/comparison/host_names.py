# SPDX-License-Identifier: Apache-2.0
"""Names of hosts, which Nova, Placement and systems write differently."""

import re

#: The identifier that members see in place of the name: SHA-224.
_HOST_ID = re.compile("[0-9a-f]{56}")
_SHOWN_DIGITS = 8


def shorten(name: str) -> str:
    """Return the name of a host, or the first digits of its ``hostId``."""
    return name[:_SHOWN_DIGITS] if _HOST_ID.fullmatch(name) else name


def same(name: str, other: str) -> bool:
    """Return whether two names are of one host, with or without its domain.

    Nova may use the short name of a host while its system or Placement uses
    the fully qualified one.
    """
    short, long = sorted((name.lower(), other.lower()), key=len)
    return long == short or ("." not in short and long.startswith(short + "."))
