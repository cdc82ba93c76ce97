"""What goes wrong with guests."""


class GuestError(Exception):
    """Guests cannot be had, found or removed; one line."""
