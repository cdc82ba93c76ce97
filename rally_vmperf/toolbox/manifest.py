"""The manifest of a folder of packages: its files, and for which guests."""

import collections.abc
import dataclasses
import typing as t

from rally_vmperf import documents
from rally_vmperf import errors

VERSION = 1
#: Name of the manifest in its folder.
NAME = "tools.json"

Json = dict[str, t.Any]

#: A part of a path, neither . nor .., without control characters.
_PART = r"(?!\.\.?(/|$))[^/\x00-\x1f]+"

_FILE: Json = {
    "type": "object",
    "additionalProperties": False,
    "required": ["path", "target", "size", "sha256"],
    "properties": {
        "path": {
            "type": "string",
            "pattern": rf"^{_PART}(/{_PART})*$(?!\n)",
            "description": "Path below the folder.",
        },
        "target": {
            "type": "string",
            "pattern": r"^(repodata/)?[A-Za-z0-9][A-Za-z0-9._+~^-]*$(?!\n)",
            "description": "Its name in a guest, as the index has it.",
        },
        "size": {"type": "integer", "minimum": 0, "description": "Bytes."},
        "sha256": {"type": "string", "pattern": r"^[0-9a-f]{64}$(?!\n)"},
        "package": {"type": "string", "description": "Name of the package."},
        "version": {"type": "string", "description": "Its version."},
    },
}

SCHEMA: Json = {
    "$schema": "http://json-schema.org/draft-07/schema#",
    "title": "Folder of packages for guests",
    "type": "object",
    "additionalProperties": False,
    "required": ["version", "sets"],
    "properties": {
        "version": {"const": VERSION},
        "sets": {
            "type": "array",
            "description": "One for each release and architecture.",
            "items": {
                "type": "object",
                "additionalProperties": False,
                "required": [
                    *("family", "distribution", "architecture"),
                    *("index", "packages"),
                ],
                "properties": {
                    "family": {"enum": ["deb", "rpm"]},
                    "distribution": {
                        "type": "string",
                        "pattern": r"^[a-z0-9][a-z0-9._-]*$(?!\n)",
                        "description": "Code name of the release, or "
                        "distribution and version, such as rocky-9.",
                    },
                    "architecture": {
                        "type": "string",
                        "pattern": r"^[a-z0-9_-]+$(?!\n)",
                    },
                    "index": {"type": "array", "items": _FILE},
                    "packages": {
                        "type": "array",
                        "minItems": 1,
                        "items": {
                            **_FILE,
                            "required": [
                                *_FILE["required"],
                                "package",
                                "version",
                            ],
                        },
                    },
                },
            },
        },
    },
}


class ToolboxError(errors.VMPerfError):
    """A folder of packages cannot be made or used; one line."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class File:
    """A file of the folder, and its name in a guest.

    :param path: below the folder
    :param package: name and version, unless the file is part of an index
    """

    path: str
    target: str
    size: int
    sha256: str
    package: str = ""
    version: str = ""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Set:
    """The packages for guests of one release and architecture.

    :param index: what a package manager reads to find packages
    """

    family: str
    distribution: str
    architecture: str
    index: tuple[File, ...]
    packages: tuple[File, ...]

    def __str__(self) -> str:
        return f"{self.distribution} ({self.architecture})"


def decode(content: t.Any, origin: str) -> tuple[Set, ...]:
    """Return the sets in a manifest.

    :param origin: what messages call it
    :raises ToolboxError: when it is not a manifest
    """
    error = documents.first_error(SCHEMA, content, exact=True)
    if error is not None:
        raise ToolboxError(
            f"{origin}: {error.json_path[2:] or 'content'}: "
            f"{error.message[:200]}; make it again with: rally-vmperf tools "
            "fetch, or tools index"
        )
    return tuple(
        Set(
            **{
                **one,
                "index": tuple(File(**file) for file in one["index"]),
                "packages": tuple(File(**file) for file in one["packages"]),
            }
        )
        for one in content["sets"]
    )


def encode(sets: collections.abc.Iterable[Set]) -> Json:
    """Return the manifest of sets as plain data."""
    return {
        "version": VERSION,
        "sets": [
            {
                **dataclasses.asdict(one),
                "index": [_plain(file) for file in one.index],
                "packages": [_plain(file) for file in one.packages],
            }
            for one in sets
        ],
    }


def _plain(file: File) -> Json:
    return {key: v for key, v in dataclasses.asdict(file).items() if v != ""}
