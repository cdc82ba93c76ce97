"""The options of a group of guests."""

import typing as t


def reference(description: str) -> dict[str, t.Any]:
    """Return the schema of something of the cloud's, by name or by id."""
    return one_of(
        description,
        {
            "name": {"type": "string", "description": "Its exact name."},
            "id": {"type": "string", "description": "Its identifier."},
        },
    )


def one_of(description: str, properties: dict[str, t.Any]) -> dict[str, t.Any]:
    """Return the schema of a mapping with exactly one of these keys."""
    return {
        "type": "object",
        "description": description,
        "properties": properties,
        "minProperties": 1,
        "maxProperties": 1,
        "additionalProperties": False,
    }


def file(description: str) -> dict[str, t.Any]:
    """Return the schema of the name of a file."""
    return {"type": "string", "minLength": 1, "description": description}


PROPERTIES: dict[str, t.Any] = {
    "image": reference("Image of the guests, by name or by id."),
    "flavor": reference("Flavor of the guests, by name or by id."),
    "count": {
        "type": "integer",
        "minimum": 1,
        "maximum": 32,
        "description": "How many guests are booted.",
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
    "login": one_of(
        "What lets one into guests whose image takes no key from Nova.",
        {
            "key_file": file("Private key of a public one in the image."),
            "password_file": file("File with the password as first line."),
        },
    ),
    "host_key": one_of(
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
    "config_drive": {
        "type": "boolean",
        "description": "Hand user data over on a drive, not by the metadata "
        "service.",
    },
}

DEFAULTS: dict[str, t.Any] = {
    "count": 1,
    "user": "debian",
    "config_drive": False,
}

#: Several groups in place of one.
GROUPS: dict[str, t.Any] = {
    "type": "array",
    "minItems": 1,
    "maxItems": 8,
    "items": {
        "type": "object",
        "properties": {
            "name": {
                "type": "string",
                "pattern": "^[A-Za-z0-9][A-Za-z0-9._-]{0,31}$",
                "description": "What the group is called.",
            },
            **PROPERTIES,
        },
        "required": ["name", "image", "flavor"],
        "additionalProperties": False,
    },
    "description": "Several groups of guests in place of one: {name, image, "
    "flavor, count, ...}. What else a group may say holds for all groups when "
    "it is given beside them.",
}
