"""What the embedded cloud's commands end with when they cannot go on."""


class CloudError(Exception):
    """The cloud or the image cannot be made; the message says why."""


class DamageError(CloudError):
    """What the databases hold cannot be used; they must be made anew."""


class AddressError(CloudError):
    """A foreign process has what a service needs."""
