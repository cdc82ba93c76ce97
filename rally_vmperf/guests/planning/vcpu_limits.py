# SPDX-License-Identifier: Apache-2.0
"""Limits on the vCPUs of guests, in the extra specs of flavors.

Within each period, a vCPU runs for at most the quota.
"""

import collections.abc
import re

#: The extra specs that limit each vCPU, in microseconds.
QUOTA, PERIOD = "quota:cpu_quota", "quota:cpu_period"
#: The period of libvirt in microseconds.
_DEFAULT_PERIOD = 100000
#: The values that libvirt accepts; 0 is that of a limit which is not set.
_QUOTAS = re.compile("0|-[1-9][0-9]{0,13}|[1-9][0-9]{3,13}")
_PERIODS = re.compile("0|[1-9][0-9]{3,5}|1000000")

ExtraSpecs = collections.abc.Mapping[str, str]


def describe_invalid(specs: ExtraSpecs) -> str:
    """Return the limit that libvirt does not accept as text, or ""."""
    period, quota = specs.get(PERIOD, "0"), specs.get(QUOTA, "-1")
    if not _PERIODS.fullmatch(period):
        return (
            f"{PERIOD}={period!r:.80}: must be an integer from 1000 to "
            f"1000000, in microseconds, or 0 for {_DEFAULT_PERIOD}"
        )
    if not _QUOTAS.fullmatch(quota):
        return (
            f"{QUOTA}={quota!r:.80}: must be an integer >= 1000, the "
            f"microseconds in each {int(period) or _DEFAULT_PERIOD} that a "
            "vCPU may run, or 0 or negative for no limit"
        )
    return ""


def find_share(specs: ExtraSpecs) -> float:
    """Return the share of a processor that a vCPU may use.

    A limit that libvirt does not accept is none.
    """
    quota = int(specs.get(QUOTA, -1)) if not describe_invalid(specs) else -1
    if quota <= 0:
        return 1.0
    return min(1.0, quota / (int(specs.get(PERIOD, 0)) or _DEFAULT_PERIOD))
