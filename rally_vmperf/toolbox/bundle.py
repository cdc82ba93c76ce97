"""Bundles of tools: programs with their libraries, the same on any Linux.

A bundle is one compressed archive, made of the packages of one release.
Unpacked it has::

    bundle.json     what it holds
    programs/fio    the program as it is packaged
    lib/            the libraries that the programs need, and ld.so
    bin/fio         a script that runs the program with these libraries
"""

import collections.abc
import dataclasses
import os
import pathlib
import tarfile
import typing as t

from rally_vmperf import documents
from rally_vmperf import errors

Json = dict[str, t.Any]

#: Name of what describes a bundle, the first file of the archive.
NAME = "bundle.json"
VERSION = 1
#: Bytes of that description.
_LARGEST = 1 << 20

SCHEMA: Json = {
    "$schema": "http://json-schema.org/draft-07/schema#",
    "title": "Bundle of tools",
    "type": "object",
    "additionalProperties": False,
    "required": ["version", "distribution", "architecture", "programs"],
    "properties": {
        "version": {"const": VERSION},
        "distribution": {"type": "string", "minLength": 1},
        "architecture": {"type": "string", "minLength": 1},
        "programs": {
            "type": "object",
            "minProperties": 1,
            "propertyNames": {
                "pattern": r"^[A-Za-z0-9][A-Za-z0-9._+-]*$(?!\n)"
            },
            "additionalProperties": {
                "type": "object",
                "additionalProperties": False,
                "required": ["package", "version", "sha256"],
                "properties": {
                    "package": {"type": "string"},
                    "version": {"type": "string"},
                    "sha256": {
                        "type": "string",
                        "pattern": r"^[0-9a-f]{64}$(?!\n)",
                    },
                },
            },
        },
    },
}


class BundleError(errors.VMPerfError):
    """A bundle that cannot be made or used; the message is one line."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Program:
    """A program of a bundle.

    :param package: that it is from
    :param version: of that package
    :param sha256: of the program's own file
    """

    package: str
    version: str
    sha256: str


@dataclasses.dataclass(frozen=True, kw_only=True)
class Bundle:
    """A bundle on Rally's machine.

    :param architecture: as packages name it, such as ``amd64``
    """

    path: pathlib.Path
    distribution: str
    architecture: str
    programs: collections.abc.Mapping[str, Program]


def load(path: str | os.PathLike[str]) -> Bundle:
    """Return what a bundle holds.

    :raises BundleError: when it is none
    """
    location = pathlib.Path(path).expanduser()
    try:
        with tarfile.open(location, "r:gz") as archive:
            first = archive.next()
            stream = None
            if first is not None and first.name == NAME:
                stream = archive.extractfile(first)
            if stream is None:
                raise tarfile.TarError(f"its first file is not {NAME}")
            content = documents.parse_json(
                stream.read(_LARGEST).decode(), f"bundle {location}"
            )
        documents.check(SCHEMA, content, f"bundle {location}")
    except (OSError, EOFError, tarfile.TarError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise BundleError(
            f"bundle {location}: {why}; {_remedy(location)}"
        ) from None
    except documents.DocumentError as error:
        raise BundleError(f"{error}; {_remedy(location)}") from None
    return Bundle(
        path=location,
        distribution=content["distribution"],
        architecture=content["architecture"],
        programs={
            name: Program(**one) for name, one in content["programs"].items()
        },
    )


def _remedy(location: pathlib.Path) -> str:
    return f"make it with: rally-vmperf tools bundle {location} --task TASK"
