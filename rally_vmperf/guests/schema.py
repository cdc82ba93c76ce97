"""The options of the vmperf_guests context."""

import typing as t

_REFERENCE_TO = "{} of the guests, by name or by id."


def _reference(description: str) -> dict[str, t.Any]:
    return {
        "type": "object",
        "description": description,
        "properties": {
            "name": {"type": "string", "description": "Its exact name."},
            "id": {"type": "string", "description": "Its identifier."},
        },
        "minProperties": 1,
        "maxProperties": 1,
        "additionalProperties": False,
    }


def _seconds(description: str) -> dict[str, t.Any]:
    return {
        "type": "number",
        "exclusiveMinimum": 0,
        "description": description,
    }


PROPERTIES: dict[str, t.Any] = {
    "image": _reference(_REFERENCE_TO.format("Image")),
    "flavor": _reference(_REFERENCE_TO.format("Flavor")),
    "count": {
        "type": "integer",
        "minimum": 1,
        "maximum": 32,
        "description": "How many guests are booted.",
    },
    "network": _reference(
        "Network of the guests; by default the one that the network context "
        "made, else the only one that the project sees."
    ),
    "address": {
        "enum": ["auto", "floating", "fixed"],
        "description": "Address by which guests are reached; auto takes the "
        "fixed one on an external network, else a floating one.",
    },
    "ip_version": {
        "enum": [4, 6, "any"],
        "description": "Version of the address by which guests are reached; "
        "any prefers 4.",
    },
    "floating_network": _reference(
        "External network of the floating addresses; by default the one "
        "behind the router, else the only one."
    ),
    "host": {
        "type": "string",
        "minLength": 1,
        "description": "Compute host to force the guests on; administrators "
        "only, and the guests are then the administrator's.",
    },
    "availability_zone": {
        "type": "string",
        "minLength": 1,
        "description": "Availability zone of the guests.",
    },
    "user": {
        "type": "string",
        "pattern": "^[a-z_][a-z0-9_-]{0,31}$",
        "description": "Login name that the image's cloud-init provides.",
    },
    "user_data": {
        "type": "string",
        "description": "A cloud-config document that guests get as well.",
    },
    "boot_timeout": _seconds("Seconds in which all must be active."),
    "ssh_timeout": _seconds(
        "Seconds in which all must answer SSH and finish booting, once they "
        "are active."
    ),
    "config_drive": {
        "type": "boolean",
        "description": "Hand user data over on a drive, not by the metadata "
        "service.",
    },
    "install": {
        "type": "boolean",
        "description": "Install the tools that the image lacks; nothing is "
        "installed without it.",
    },
    "proxy": {
        "type": "string",
        "description": "HTTP proxy by which the guests' package manager "
        "reaches its mirrors, http://HOST:PORT.",
    },
    "tools": {
        "type": "string",
        "minLength": 1,
        "description": "Folder made by 'rally-vmperf tools fetch', from which "
        "guests get packages instead of from their mirrors.",
    },
}

DEFAULTS: dict[str, t.Any] = {
    "count": 1,
    "address": "auto",
    "ip_version": 4,
    "user": "debian",
    "boot_timeout": 600,
    "ssh_timeout": 300,
    "config_drive": False,
    "install": True,
}
