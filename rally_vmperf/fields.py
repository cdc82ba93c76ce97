"""Types of the fields of stored dataclasses, with their rules.

A rule is a pair of a keyword of JSON Schema, or of the codec, and its value.
"""

import typing as t

from rally_vmperf import documents

#: The metadata of a field that the reader derives from other fields.
DERIVED = {"derived": True}
#: The rules that are not keywords of JSON Schema.
OF_CODEC = ("digits", "inline")
#: The rule of a dataclass whose fields become those of the whole document.
INLINE = ("inline", True)

Count = t.Annotated[int, ("minimum", 0)]
Positive = t.Annotated[int, ("minimum", 1)]
#: A number of which few digits are written, because a document has many.
Amount = t.Annotated[float, ("minimum", 0), ("digits", 5)]
Share = t.Annotated[float, ("minimum", 0), ("maximum", 1)]
#: The identifier of a task or of a run.
Identifier = t.Annotated[str, ("maxLength", 64)]
#: A time with a zone, ISO 8601.
Time = t.Annotated[str, ("format", "date-time")]
#: The name of a baseline or of a class of machines.
Name = t.Annotated[
    str, ("pattern", r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$(?!\n)")
]
#: The facts that a machine reports; ``definitions.json`` describes them.
Fingerprint = t.Annotated[
    documents.Facts, ("$ref", "#/definitions/fingerprint")
]
#: The path, the version and the checksum of each tool.
Tools = t.Annotated[documents.Facts, ("$ref", "#/definitions/tools")]
