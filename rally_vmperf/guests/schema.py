"""The options of the vmperf_guests context."""

import typing as t

from rally_vmperf import documents

Schema = documents.Schema

#: Maximum guests of a task; quota, hosts and ports may limit it further.
MAX_GUESTS = 1000


def _text(description: str, **rules: t.Any) -> Schema:
    """Return the JSON Schema of a text."""
    return {"type": "string", "description": description, **rules}


def _name(description: str) -> Schema:
    """Return the schema of a text that is not empty."""
    return _text(description, minLength=1)


def _integer(description: str, **limits: int) -> Schema:
    """Return the JSON Schema of an integer within limits."""
    return {"type": "integer", "description": description, **limits}


def _positive(description: str, **limits: int) -> Schema:
    """Return the JSON Schema of a number > 0 within limits."""
    limits["exclusiveMinimum"] = 0
    return {"type": "number", "description": description, **limits}


def _choice(description: str, *choices: object) -> Schema:
    """Return the JSON Schema of one of several values."""
    return {"enum": list(choices), "description": description}


def _boolean(description: str) -> Schema:
    """Return the JSON Schema of a boolean."""
    return {"type": "boolean", "description": description}


def _mapping(properties: Schema, *required: str, **rules: t.Any) -> Schema:
    """Return the schema of a mapping that has no other keys."""
    if required:
        rules["required"] = list(required)
    return {
        "type": "object",
        "properties": properties,
        "additionalProperties": False,
        **rules,
    }


def _mapping_of_one(description: str, properties: Schema) -> Schema:
    """Return the schema of a mapping with exactly one of these keys."""
    return _mapping(
        properties,
        description=description,
        minProperties=1,
        maxProperties=1,
    )


def _reference(description: str) -> Schema:
    """Return the schema of a reference to a resource, by name or by id."""
    return _mapping_of_one(
        description,
        {"name": _text("Its exact name."), "id": _text("Its identifier.")},
    )


def _array(element_schema: Schema, description: str, **rules: t.Any) -> Schema:
    """Return the JSON Schema of a list that is not empty."""
    return {
        "type": "array",
        "minItems": 1,
        "items": element_schema,
        "description": description,
        **rules,
    }


def _values(description: str, name_rules: Schema) -> Schema:
    """Return the schema of a mapping from names to texts."""
    return {
        "type": "object",
        "minProperties": 1,
        "maxProperties": 64,
        "propertyNames": {
            "pattern": r"^[A-Za-z0-9_][A-Za-z0-9_.:-]{0,254}$(?!\n)",
            **name_rules,
        },
        "additionalProperties": {
            "type": "string",
            "minLength": 1,
            "maxLength": 255,
        },
        "description": description,
    }


#: Fields of an image that are not properties.
IMAGE_FIELDS = (
    "checksum",
    "container_format",
    "created_at",
    "direct_url",
    "disk_format",
    "file",
    "id",
    "locations",
    "min_disk",
    "min_ram",
    "name",
    "os_hash_algo",
    "os_hash_value",
    "os_hidden",
    "owner",
    "protected",
    "schema",
    "self",
    "size",
    "status",
    "stores",
    "tags",
    "updated_at",
    "virtual_size",
    "visibility",
)

_HOP = _mapping(
    {
        "address": _name("Its address or name, or a Host of ~/.ssh/config."),
        "port": _integer("Port of its SSH server.", minimum=1, maximum=65535),
        "user": _name("Login name."),
        "key_file": _name("Private key; default: the keys of the user."),
        "known_hosts": _name(
            "File with its host key; default: the file of the user."
        ),
    },
    "address",
)
#: One jump host, or several in the order of the route.
JUMP: Schema = {
    **_HOP,
    **_array(
        _HOP,
        "Jump host for SSH, or a list of them in order: "
        "{address, port, user, key_file, known_hosts}.",
        maxItems=8,
    ),
    "type": ["object", "array"],
}

PROPERTIES: Schema = {
    "image": _reference("Image of the guests, by name or by id."),
    "flavor": _reference("Flavor of the guests, by name or by id."),
    "count": _integer("Number of guests.", minimum=1, maximum=MAX_GUESTS),
    "boot_volume": _mapping(
        {
            "size_gib": _integer("Size of the volume in GiB.", minimum=1),
            "type": _name(
                "Name of the volume type; default: that of the cloud."
            ),
        },
        "size_gib",
        description="Volume to boot from, in place of the disk of the flavor.",
    ),
    "user": _text(
        "Login name that the image provides.",
        pattern=r"^[a-z_][a-z0-9_-]{0,31}$(?!\n)",
    ),
    "user_data": _text("Additional cloud-config document for the guests."),
    "login": _mapping_of_one(
        "Login for guests whose image does not accept a key from Nova.",
        {
            "key_file": _name("Private key of a public key in the image."),
            "password_file": _name(
                "File with the password in the first line."
            ),
        },
    ),
    "host_key": _mapping_of_one(
        "Source of the guests' host key; default: generated.",
        {
            "generated": {
                "const": True,
                "description": "Generated and set by user data.",
            },
            "public_key": _name("Public line of the key in the image."),
            "console": {
                "const": True,
                "description": "Read from the console log, through Nova.",
            },
        },
    ),
    "config_drive": _boolean(
        "Provide user data on a config drive instead of the metadata service."
    ),
    "extra_specs": _values(
        "Extra specs, such as {hw:cpu_policy: dedicated}, for a temporary "
        "copy of the flavor. The environment requires an administrator.",
        {},
    ),
    "image_properties": _values(
        "Properties, such as {hw_vif_model: e1000}, for a temporary copy of "
        "the image.",
        {"not": {"enum": list(IMAGE_FIELDS)}},
    ),
    "network": _reference(
        "Network of the guests; default: the network created by the network "
        "context, else the only network that the project sees."
    ),
    "networks": _array(
        _reference("Network of the guests, by name or by id."),
        "Several networks in place of one, in the order of the guests' ports.",
        maxItems=8,
    ),
    "ssh_network": _reference(
        "Network for SSH to the guests; default: the external network, or "
        "with floating IPs the network behind a router."
    ),
    "traffic_network": _reference(
        "Network for the traffic between guests; default: the network for SSH."
    ),
    "address": _choice(
        "Address for SSH to the guests. auto: the fixed address on an "
        "external network, through a jump host or from a namespace, otherwise "
        "a floating IP.",
        *("auto", "floating", "fixed"),
    ),
    "ip_version": _choice(
        "IP version of the address for SSH to the guests.",
        *(4, 6),
    ),
    "floating_network": _reference(
        "External network of the floating IPs; default: the network "
        "behind the router, else the only external network."
    ),
    "host": _name(
        "Compute host to force the guests on; administrators only. The "
        "guests then belong to the administrator."
    ),
    "hosts": _array(
        _name("Name of a compute host."),
        "Compute hosts to force the guests on in rotation, in place of one "
        "host; administrators only.",
        uniqueItems=True,
    ),
    "aggregate": _name(
        "Name of the host aggregate to force the guests into; administrators "
        "only. The guests then belong to the administrator."
    ),
    "availability_zone": _name("Availability zone of the guests."),
    "server_group": _choice(
        "Policy of the server group: one host for all guests (affinity) or "
        "different hosts; soft: if possible.",
        *("affinity", "anti-affinity", "soft-affinity", "soft-anti-affinity"),
    ),
    "jump": JUMP,
    "namespace": _name(
        "Network namespace of this machine for connections to the guests, "
        "as listed by ip netns."
    ),
    "allowed_sources": _array(
        _name("An address or a network, such as 192.0.2.0/24."),
        "Networks from which the guests' security group allows SSH and ICMP; "
        "default: the networks from which this machine, or the jump host, "
        "reaches the guests. 0.0.0.0/0 and ::/0: all networks.",
    ),
    "key_type": _choice(
        "Type of the SSH keys that are generated for the run; ecdsa is "
        "required if guests enforce FIPS 140. Default: ecdsa if this machine "
        "enforces it, else ed25519.",
        *("ed25519", "ecdsa"),
    ),
    "max_host_share": _positive(
        "Maximum utilisation of a host with the guests, in percent of the "
        "resources that Nova may allocate there; only administrators see it.",
        maximum=100,
    ),
    "max_image_copy_gib": _positive(
        "Maximum size in GiB of an image that is copied for image_properties."
    ),
    "empty_host": _boolean(
        "Reject a host that has guests of others after the boot; "
        "administrators only."
    ),
    "boot_timeout": _positive("Seconds until all guests must be active."),
    "ssh_timeout": _positive(
        "Seconds until all active guests must answer SSH and finish booting."
    ),
    "install": _boolean(
        "Install tools that are missing in the image; if false, nothing is "
        "installed."
    ),
    "proxy": _text(
        "HTTP proxy of the guests' package manager, http://HOST:PORT."
    ),
    "proxy_login": _name(
        "File with USER:PASSWORD for the proxy in its first line; its content "
        "is not recorded."
    ),
    "bundle": _name(
        "Bundle created by 'rally-vmperf tools bundle'. The guests run its "
        "programs instead of their own; bare metal must use the same bundle."
    ),
}

DEFAULTS: Schema = {
    "count": 1,
    "user": "debian",
    "config_drive": False,
    "address": "auto",
    "ip_version": 4,
    "max_host_share": 90,
    "max_image_copy_gib": 10,
    "empty_host": False,
    "boot_timeout": 600,
    "ssh_timeout": 300,
    "install": True,
}

#: JSON Schema of all options; guests require an image and a flavor.
OPTIONS: Schema = _mapping(PROPERTIES)
#: JSON Schema of the keys alone; the values are checked with the context.
KEYS: Schema = _mapping({key: {} for key in PROPERTIES})
