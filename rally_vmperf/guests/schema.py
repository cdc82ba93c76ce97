"""The options of the vmperf_guests context."""

import typing as t

from rally_vmperf.guests import schema_group


def _seconds(description: str) -> dict[str, t.Any]:
    return {
        "type": "number",
        "exclusiveMinimum": 0,
        "description": description,
    }


_HOP: dict[str, t.Any] = {
    "properties": {
        "address": {
            "type": "string",
            "minLength": 1,
            "description": "Its address or name.",
        },
        "port": {
            "type": "integer",
            "minimum": 1,
            "maximum": 65535,
            "description": "Port of its SSH server.",
        },
        "user": {
            "type": "string",
            "minLength": 1,
            "description": "Login name on it.",
        },
        "key_file": schema_group.file(
            "Private key; by default the user's own keys."
        ),
        "known_hosts": schema_group.file(
            "Its host key; by default the user's own file."
        ),
    },
    "required": ["address", "user"],
    "additionalProperties": False,
}
#: One jump host, or several in the order in which they are gone through.
JUMP: dict[str, t.Any] = {
    "type": ["object", "array"],
    **_HOP,
    "items": {"type": "object", **_HOP},
    "minItems": 1,
    "maxItems": 8,
    "description": "Jump host through which SSH goes, or a list of them in "
    "order: {address, port, user, key_file, known_hosts}.",
}

PROPERTIES: dict[str, t.Any] = {
    **schema_group.PROPERTIES,
    "groups": schema_group.GROUPS,
    "network": schema_group.reference(
        "Network of the guests; by default the one that the network context "
        "made, else the only one that the project sees."
    ),
    "networks": {
        "type": "array",
        "minItems": 1,
        "maxItems": 8,
        "items": schema_group.reference(
            "Network of the guests, by name or by id."
        ),
        "description": "Several networks in place of one, in the order of "
        "the guests' network cards.",
    },
    "reach_on": schema_group.reference(
        "Which of the networks guests are reached on; by default the external "
        "one, or with floating addresses the one behind a router."
    ),
    "measure_on": schema_group.reference(
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
    "floating_network": schema_group.reference(
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
    "jump": JUMP,
    "namespace": {
        "type": "string",
        "minLength": 1,
        "description": "Network namespace of this machine out of which "
        "guests are reached, as ip netns names it.",
    },
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
    **schema_group.DEFAULTS,
    "address": "auto",
    "ip_version": 4,
    "max_host_share": 90,
    "boot_timeout": 600,
    "ssh_timeout": 300,
    "install": True,
}

_ONE_GROUP = ("image", "flavor", "count")
#: One group by ``image`` and ``flavor``, or several by ``groups``.
ONE_FORM: dict[str, t.Any] = {
    "if": {"required": ["groups"]},
    "then": {"not": {"anyOf": [{"required": [key]} for key in _ONE_GROUP]}},
    "else": {"required": ["image", "flavor"]},
}
