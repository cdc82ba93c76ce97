# SPDX-License-Identifier: Apache-2.0
"""Errors of guests."""

from rally_vmperf import errors


class GuestError(errors.VMPerfError):
    """A failure to boot, find or remove guests, in one line."""
