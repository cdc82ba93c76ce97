"""Errors of commands that change the host."""

from rally_vmperf import errors


class HostError(errors.VMPerfError):
    """A program failed, or the host does not allow what was requested."""
