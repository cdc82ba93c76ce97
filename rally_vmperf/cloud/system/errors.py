"""Errors of the embedded cloud's commands."""

from rally_vmperf import errors


class CloudError(errors.VMPerfError):
    """The cloud or the image cannot be made; the message says why."""
