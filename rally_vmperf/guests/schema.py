"""The options of the vmperf_guests context."""

import typing as t

Schema = dict[str, t.Any]

#: Guests that a task may ask for; quota, hosts and ports may give fewer.
MAX_GUESTS = 1000


def _text(description: str, **rules: t.Any) -> Schema:
    return {"type": "string", "description": description, **rules}


def _name(description: str) -> Schema:
    """Return the schema of a text that is not empty."""
    return _text(description, minLength=1)


def _whole(description: str, **limits: int) -> Schema:
    return {"type": "integer", "description": description, **limits}


def _seconds(description: str) -> Schema:
    return {
        "type": "number",
        "exclusiveMinimum": 0,
        "description": description,
    }


def _choice(description: str, *values: object) -> Schema:
    return {"enum": list(values), "description": description}


def _flag(description: str) -> Schema:
    return {"type": "boolean", "description": description}


def _closed(properties: Schema, *required: str, **rules: t.Any) -> Schema:
    """Return the schema of a mapping that has no other keys."""
    if required:
        rules["required"] = list(required)
    return {
        "type": "object",
        "properties": properties,
        "additionalProperties": False,
        **rules,
    }


def _one_of(description: str, properties: Schema) -> Schema:
    """Return the schema of a mapping with exactly one of these keys."""
    return _closed(
        properties,
        description=description,
        minProperties=1,
        maxProperties=1,
    )


def _reference(description: str) -> Schema:
    """Return the schema of a reference to a resource, by name or by id."""
    return _one_of(
        description,
        {"name": _text("Its exact name."), "id": _text("Its identifier.")},
    )


def _several(items: Schema, description: str) -> Schema:
    return {
        "type": "array",
        "minItems": 1,
        "maxItems": 8,
        "items": items,
        "description": description,
    }


#: What may differ from group to group.
_GROUP: Schema = {
    "image": _reference("Image of the guests, by name or by id."),
    "flavor": _reference("Flavor of the guests, by name or by id."),
    "count": _whole(
        "How many guests are booted.", minimum=1, maximum=MAX_GUESTS
    ),
    "boot_volume": _closed(
        {
            "size_gib": _whole("Size of the volume in GiB.", minimum=1),
            "type": _name("Name of the volume type; by default the cloud's."),
        },
        "size_gib",
        description="Boot from a volume of this size and type, not from the "
        "flavor's disk.",
    ),
    "user": _text(
        "Login name that the image provides.",
        pattern=r"^[a-z_][a-z0-9_-]{0,31}$(?!\n)",
    ),
    "user_data": _text("A cloud-config document that guests get as well."),
    "login": _one_of(
        "Login for guests whose image takes no key from Nova.",
        {
            "key_file": _name("Private key of a public one in the image."),
            "password_file": _name("File with the password as first line."),
        },
    ),
    "host_key": _one_of(
        "How the guests' host key is known; by default it is given.",
        {
            "generated": {
                "const": True,
                "description": "Generated, and given by user data.",
            },
            "public_key": _name("Public line of the key in the image."),
            "console": {
                "const": True,
                "description": "Read from the console log, through Nova.",
            },
        },
    ),
    "config_drive": _flag(
        "Provide user data on a config drive, not by the metadata service."
    ),
}

_HOP = _closed(
    {
        "address": _name("Its address or name, or a Host of ~/.ssh/config."),
        "port": _whole("Port of its SSH server.", minimum=1, maximum=65535),
        "user": _name("Login name on it."),
        "key_file": _name("Private key; by default the user's own keys."),
        "known_hosts": _name("Its host key; by default the user's own file."),
    },
    "address",
)
#: One jump host, or several in the order in which they are gone through.
JUMP: Schema = {
    **_HOP,
    **_several(
        _HOP,
        "Jump host through which SSH goes, or a list of them in order: "
        "{address, port, user, key_file, known_hosts}.",
    ),
    "type": ["object", "array"],
}

PROPERTIES: Schema = {
    **_GROUP,
    "groups": _several(
        _closed(
            {
                "name": _text(
                    "Name of the group.",
                    pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,31}$(?!\n)",
                ),
                **_GROUP,
            },
            *("name", "image", "flavor"),
        ),
        "Several groups of guests in place of one: {name, image, flavor, "
        "count, ...}. Other options of a group that are given beside "
        "groups hold for all of them.",
    ),
    "network": _reference(
        "Network of the guests; by default the one that the network context "
        "made, else the only one that the project sees."
    ),
    "networks": _several(
        _reference("Network of the guests, by name or by id."),
        "Several networks in place of one, in the order of the guests' ports.",
    ),
    "ssh_network": _reference(
        "Which of the networks guests are reached on; by default the external "
        "one, or with floating IPs the one behind a router."
    ),
    "traffic_network": _reference(
        "Which of the networks carries the traffic from guest to guest; by "
        "default the one that guests are reached on."
    ),
    "address": _choice(
        "Address by which guests are reached; auto takes the fixed one on an "
        "external network, through a jump host and out of a namespace, else a "
        "floating one.",
        *("auto", "floating", "fixed"),
    ),
    "ip_version": _choice(
        "Version of the address by which guests are reached.",
        *(4, 6),
    ),
    "floating_network": _reference(
        "External network of the floating IPs; by default the one "
        "behind the router, else the only one."
    ),
    "host": _name(
        "Compute host to force the guests on; administrators only, and the "
        "guests are then the administrator's."
    ),
    "hosts": {
        "type": "array",
        "minItems": 1,
        "uniqueItems": True,
        "items": _name("Name of a compute host."),
        "description": "Compute hosts to force the guests on in turn, in "
        "place of one host; administrators only, likewise.",
    },
    "aggregate": _name(
        "Name of the host aggregate to force the guests into; administrators "
        "only, and the guests are then the administrator's."
    ),
    "availability_zone": _name("Availability zone of the guests."),
    "server_group": _choice(
        "Whether the guests share a host (affinity) or each has another; soft "
        "means where possible.",
        *("affinity", "anti-affinity", "soft-affinity", "soft-anti-affinity"),
    ),
    "jump": JUMP,
    "namespace": _name(
        "Network namespace of this machine out of which guests are reached, "
        "as ip netns names it."
    ),
    "allowed_sources": {
        "type": "array",
        "minItems": 1,
        "items": _name("An address or a network, such as 192.0.2.0/24."),
        "description": "Networks from which the guests' security group lets "
        "in SSH and ICMP; by default those out of which this machine, or the "
        "jump host, reaches them. 0.0.0.0/0 and ::/0 are everywhere.",
    },
    "key_type": _choice(
        "Type of the SSH keys that are made for the run: ecdsa where guests "
        "are held to FIPS 140; by default only where this machine is.",
        *("ed25519", "ecdsa"),
    ),
    "max_host_share": {
        "type": "number",
        "exclusiveMinimum": 0,
        "maximum": 100,
        "description": "How full the guests may make a host, in percent of "
        "what Nova may allocate there; seen by administrators only.",
    },
    "boot_timeout": _seconds("Seconds in which all must be active."),
    "ssh_timeout": _seconds(
        "Seconds in which all must answer SSH and finish booting, once they "
        "are active."
    ),
    "install": _flag(
        "Install the tools that the image lacks; nothing is installed without "
        "it."
    ),
    "proxy": _text(
        "HTTP proxy by which the guests' package manager reaches its mirrors, "
        "http://HOST:PORT."
    ),
    "proxy_login": _name(
        "File with USER:PASSWORD for the proxy in its first line; its content "
        "gets into no record."
    ),
    "bundle": _name(
        "Bundle made by 'rally-vmperf tools bundle', whose programs the "
        "guests run, whatever they have; bare metal has to run the same."
    ),
}

DEFAULTS: Schema = {
    "count": 1,
    "user": "debian",
    "config_drive": False,
    "address": "auto",
    "ip_version": 4,
    "max_host_share": 90,
    "boot_timeout": 600,
    "ssh_timeout": 300,
    "install": True,
}

_ONE_GROUP = ("image", "flavor", "count")
#: One group by ``image`` and ``flavor``, or several by ``groups``.
ONE_FORM: Schema = {
    "if": {"required": ["groups"]},
    "then": {"not": {"anyOf": [{"required": [key]} for key in _ONE_GROUP]}},
    "else": {"required": ["image", "flavor"]},
}
