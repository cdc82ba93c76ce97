# SPDX-License-Identifier: Apache-2.0
"""The options of the vmperf_guests context."""

from rally_vmperf import documents
from rally_vmperf import json_schema

Schema = documents.Schema

#: Maximum guests of a task; quota, hosts and ports may limit it further.
MAX_GUESTS = 1000
#: Maximum volumes in one element of the list, and elements of the list.
MAX_VOLUMES = 16


def _mapping_of_one(description: str, properties: Schema) -> Schema:
    """Return the schema of a mapping with exactly one of these keys."""
    return json_schema.closed_mapping(
        properties,
        description=description,
        minProperties=1,
        maxProperties=1,
    )


def _reference(description: str) -> Schema:
    """Return the schema of a reference to a resource, by name or by id."""
    return _mapping_of_one(
        description,
        {
            "name": json_schema.text("Its exact name."),
            "id": json_schema.text("Its identifier."),
        },
    )


def _values(description: str, name_rules: Schema) -> Schema:
    """Return the schema of a mapping from names to texts."""
    return json_schema.values(
        json_schema.name(maxLength=255),
        description,
        minProperties=1,
        maxProperties=64,
        propertyNames={
            "pattern": r"^[A-Za-z0-9_][A-Za-z0-9_.:-]{0,254}$(?!\n)",
            **name_rules,
        },
    )


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

_HOP = json_schema.closed_mapping(
    {
        "address": json_schema.name(
            "Its address or name, or a Host of ~/.ssh/config."
        ),
        "port": json_schema.integer(
            "Port of its SSH server.", minimum=1, maximum=65535
        ),
        "user": json_schema.name("Login name."),
        "key_file": json_schema.name(
            "Private key; default: the keys of the user."
        ),
        "known_hosts": json_schema.name(
            "File with its host key; default: the file of the user."
        ),
    },
    "address",
)
_VOLUME = {
    "size_gib": json_schema.integer("Size of the volume in GiB.", minimum=1),
    "type": json_schema.name(
        "Name of the volume type; default: that of the cloud."
    ),
}
#: One jump host, or several in the order of the route.
JUMP: Schema = {
    **_HOP,
    **json_schema.array(
        _HOP,
        "Jump host for SSH, or a list of them in order: "
        "{address, port, user, key_file, known_hosts}.",
        minItems=1,
        maxItems=8,
    ),
    "type": ["object", "array"],
}

PROPERTIES: Schema = {
    "image": _reference("Image of the guests, by name or by id."),
    "flavor": _reference("Flavor of the guests, by name or by id."),
    "count": json_schema.integer(
        "Number of guests; default: the number that the scenario needs.",
        minimum=1,
        maximum=MAX_GUESTS,
    ),
    "boot_volume": json_schema.closed_mapping(
        _VOLUME,
        "size_gib",
        description="Volume to boot from, in place of the disk of the flavor.",
    ),
    "volumes": json_schema.array(
        json_schema.closed_mapping(
            {
                **_VOLUME,
                "count": json_schema.integer(
                    "Number of such volumes of each guest; default 1.",
                    minimum=1,
                    maximum=MAX_VOLUMES,
                ),
            },
            "size_gib",
        ),
        "Data volumes of each guest, a list of {size_gib, type, count}. "
        "Workloads with target: volume use the first one.",
        minItems=1,
        maxItems=MAX_VOLUMES,
    ),
    "user": json_schema.text(
        "Login name that the image provides.",
        pattern=r"^[a-z_][a-z0-9_-]{0,31}$(?!\n)",
    ),
    "user_data": json_schema.text(
        "Additional cloud-config document for the guests."
    ),
    "login": _mapping_of_one(
        "Login for guests whose image does not accept a key from Nova.",
        {
            "key_file": json_schema.name(
                "Private key of a public key in the image."
            ),
            "password_file": json_schema.name(
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
            "public_key": json_schema.name(
                "Public line of the key in the image."
            ),
            "console": {
                "const": True,
                "description": "Read from the console log, through Nova.",
            },
        },
    ),
    "config_drive": json_schema.flag(
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
    "networks": json_schema.array(
        _reference("Network of the guests, by name or by id."),
        "Several networks in place of one, in the order of the guests' ports.",
        minItems=1,
        maxItems=8,
    ),
    "ssh_network": _reference(
        "Network for SSH to the guests; default: the external network, or "
        "with floating IPs the network behind a router."
    ),
    "traffic_network": _reference(
        "Network for the traffic between guests; default: the network for SSH."
    ),
    "address": json_schema.choice(
        ("auto", "floating", "fixed"),
        "Address for SSH to the guests. auto: the fixed address on an "
        "external network, through a jump host or from a namespace, otherwise "
        "a floating IP.",
    ),
    "ip_version": json_schema.choice(
        (4, 6), "IP version of the address for SSH to the guests."
    ),
    "floating_network": _reference(
        "External network of the floating IPs; default: the network "
        "behind the router, else the only external network."
    ),
    "host": json_schema.name(
        "Compute host to force the guests on; administrators only. The "
        "guests then belong to the administrator."
    ),
    "hosts": json_schema.array(
        json_schema.name("Name of a compute host."),
        "Compute hosts to force the guests on in rotation, in place of one "
        "host; administrators only.",
        minItems=1,
        uniqueItems=True,
    ),
    "aggregate": json_schema.name(
        "Name of the host aggregate to force the guests into; administrators "
        "only. The guests then belong to the administrator."
    ),
    "availability_zone": json_schema.name("Availability zone of the guests."),
    "server_group": json_schema.choice(
        ("affinity", "anti-affinity", "soft-affinity", "soft-anti-affinity"),
        "Policy of the server group: one host for all guests (affinity) or "
        "different hosts; soft: if possible.",
    ),
    "jump": JUMP,
    "namespace": json_schema.name(
        "Network namespace of this machine for connections to the guests, "
        "as listed by ip netns."
    ),
    "allowed_sources": json_schema.array(
        json_schema.name("An address or a network, such as 192.0.2.0/24."),
        "Networks from which the guests' security group allows SSH and ICMP; "
        "default: the networks from which this machine, or the jump host, "
        "reaches the guests. 0.0.0.0/0 and ::/0: all networks.",
        minItems=1,
    ),
    "key_type": json_schema.choice(
        ("ed25519", "ecdsa"),
        "Type of the SSH keys that are generated for the run; ecdsa is "
        "required if guests enforce FIPS 140. Default: ecdsa if this machine "
        "enforces it, else ed25519.",
    ),
    "max_host_share": json_schema.number(
        "Maximum utilisation of a host with the guests, in percent of the "
        "resources that Nova may allocate there; only administrators see it.",
        exclusiveMinimum=0,
        maximum=100,
    ),
    "max_image_copy_gib": json_schema.number(
        "Maximum size in GiB of an image that is copied for image_properties.",
        exclusiveMinimum=0,
    ),
    "empty_host": json_schema.flag(
        "Reject a host that has guests of others after the boot; "
        "administrators only."
    ),
    "boot_timeout": json_schema.number(
        "Seconds until all guests must be active.", exclusiveMinimum=0
    ),
    "ssh_timeout": json_schema.number(
        "Seconds until all active guests must answer SSH and finish booting.",
        exclusiveMinimum=0,
    ),
    "install": json_schema.flag(
        "Install tools that are missing in the image; if false, nothing is "
        "installed."
    ),
    "proxy": json_schema.text(
        "HTTP proxy of the guests' package manager, http://HOST:PORT."
    ),
    "proxy_login": json_schema.name(
        "File with USER:PASSWORD for the proxy in its first line; its content "
        "is not recorded."
    ),
    "bundle": json_schema.name(
        "Bundle created by 'rally-vmperf tools bundle'. The guests run its "
        "programs instead of their own; bare metal must use the same bundle."
    ),
}

DEFAULTS: Schema = {
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
OPTIONS: Schema = json_schema.closed_mapping(PROPERTIES)
_REQUIRED = ("image", "flavor")
#: The options that refer to a resource; a text is its name.
_REFERENCES = (
    *_REQUIRED,
    "network",
    "ssh_network",
    "traffic_network",
    "floating_network",
)
#: JSON Schema of the keys, and of the options that checks of tasks merge or
#: compute; the other options are checked with the context.
KEYS: Schema = json_schema.closed_mapping(
    {
        key: option
        if key in ("count", "extra_specs", "image_properties", "volumes")
        else {}
        for key, option in PROPERTIES.items()
    }
)


def _build_option(key: str) -> Schema:
    """Return the schema of an option as a task has it."""
    option = PROPERTIES[key]
    if key in _REFERENCES:
        option = {**option, "type": ["object", "string"], "minLength": 1}
    return option if key in _REQUIRED else json_schema.optional(option)


#: JSON Schema of the options in a task, of which some can be empty.
CONFIG: Schema = json_schema.closed_mapping(
    {key: _build_option(key) for key in PROPERTIES}, *_REQUIRED
)


def normalize(options: documents.Arguments) -> documents.Arguments:
    """Return options without empty ones, with references as mappings."""
    return {
        key: {"name": option}
        if key in _REFERENCES and isinstance(option, str)
        else option
        for key, option in options.items()
        if option not in json_schema.EMPTY
    }
