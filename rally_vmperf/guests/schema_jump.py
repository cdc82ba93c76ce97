"""The options of a jump host."""

import typing as t


def file(description: str) -> dict[str, t.Any]:
    """Return the schema of the name of a file."""
    return {"type": "string", "minLength": 1, "description": description}


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
        "key_file": file("Private key; by default the user's own keys."),
        "known_hosts": file("Its host key; by default the user's own file."),
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
