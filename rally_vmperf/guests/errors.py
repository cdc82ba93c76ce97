"""Errors of guests."""

from rally_vmperf import errors


class GuestError(errors.VMPerfError):
    """Guests cannot be booted, found or removed; one line."""
