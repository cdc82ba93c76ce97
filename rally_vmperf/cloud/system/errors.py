"""Errors of the embedded cloud's commands."""

from rally_vmperf import errors


class CloudError(errors.VMPerfError):
    """The cloud or the image cannot be made; the message says why."""


class DamageError(CloudError):
    """The databases are damaged and must be recreated."""


class AddressError(CloudError):
    """Another process uses an address that a service needs."""
