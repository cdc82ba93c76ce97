"""The options of the vmperf_guests context."""

import typing as t

from rally_vmperf.guests import schema_jump

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


#: One jump host, or several in the order in which they are gone through.
JUMP = schema_jump.JUMP


def _one_of(
    description: str, properties: dict[str, t.Any]
) -> dict[str, t.Any]:
    return {
        "type": "object",
        "description": description,
        "properties": properties,
        "minProperties": 1,
        "maxProperties": 1,
        "additionalProperties": False,
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
    "networks": {
        "type": "array",
        "minItems": 1,
        "maxItems": 8,
        "items": _reference(_REFERENCE_TO.format("Network")),
        "description": "Several networks in place of one, in the order of "
        "the guests' network cards.",
    },
    "reach_on": _reference(
        "Which of the networks guests are reached on; by default the external "
        "one, or with floating addresses the one behind a router."
    ),
    "measure_on": _reference(
        "Which of the networks carries the traffic from guest to guest; by "
        "default the one that guests are reached on."
    ),
    "address": {
        "enum": ["auto", "floating", "fixed"],
        "description": "Address by which guests are reached; auto takes the "
        "fixed one on an external network, through a jump host and out of a "
        "namespace, else a floating one.",
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
    "aggregate": {
        "type": "string",
        "minLength": 1,
        "description": "Name of the host aggregate to force the guests into; "
        "administrators only, and the guests are then the administrator's.",
    },
    "availability_zone": {
        "type": "string",
        "minLength": 1,
        "description": "Availability zone of the guests.",
    },
    "server_group": {
        "enum": [
            "affinity",
            "anti-affinity",
            "soft-affinity",
            "soft-anti-affinity",
        ],
        "description": "Whether the guests share a host (affinity) or each "
        "has another; soft means where possible.",
    },
    "boot_volume": {
        "type": "object",
        "description": "Boot from a volume of this size and type, not from "
        "the flavor's disk.",
        "properties": {
            "size_gib": {
                "type": "integer",
                "minimum": 1,
                "description": "Size of the volume in GiB.",
            },
            "type": {
                "type": "string",
                "minLength": 1,
                "description": "Name of the volume type; by default the "
                "cloud's.",
            },
        },
        "required": ["size_gib"],
        "additionalProperties": False,
    },
    "user": {
        "type": "string",
        "pattern": "^[a-z_][a-z0-9_-]{0,31}$",
        "description": "Login name that the image provides.",
    },
    "user_data": {
        "type": "string",
        "description": "A cloud-config document that guests get as well.",
    },
    "jump": JUMP,
    "namespace": {
        "type": "string",
        "minLength": 1,
        "description": "Network namespace of this machine out of which "
        "guests are reached, as ip netns names it.",
    },
    "login": _one_of(
        "What lets one into guests whose image takes no key from Nova.",
        {
            "key_file": schema_jump.file(
                "Private key of a public one in the image."
            ),
            "password_file": schema_jump.file(
                "File with the password as first line."
            ),
        },
    ),
    "host_key": _one_of(
        "How the guests' host key is known; by default it is given.",
        {
            "given": {"const": True, "description": "Ours, by user data."},
            "known": {
                "type": "string",
                "minLength": 1,
                "description": "Public key line of what is in the image.",
            },
            "console": {
                "const": True,
                "description": "Read from the console log, through Nova.",
            },
        },
    ),
    "max_host_share": {
        "type": "number",
        "exclusiveMinimum": 0,
        "maximum": 100,
        "description": "How full the guests may make a host, in percent of "
        "what Nova may give away there; seen by administrators only.",
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
    "max_host_share": 90,
    "boot_timeout": 600,
    "ssh_timeout": 300,
    "config_drive": False,
    "install": True,
}
