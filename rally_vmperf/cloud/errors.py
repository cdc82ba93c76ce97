"""What the embedded cloud's commands end with when they cannot go on."""


class CloudError(Exception):
    """The cloud or the image cannot be made; the message says why."""
