# SPDX-License-Identifier: Apache-2.0
"""Bundles of tools: programs with their libraries, for any Linux.

A bundle is one compressed archive, which contains programs from the packages
of one release. Its content is::

    bundle.json     the description of the bundle
    programs/fio    the program from its package
    lib/            the libraries that the programs require, and ld.so
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
from rally_vmperf import json_schema

Json = dict[str, t.Any]

#: The name of the description, which is the first file in the archive.
NAME = "bundle.json"
VERSION = 1
#: The maximum size of the description in bytes.
_LARGEST = 1 << 20

_PROGRAM = json_schema.closed_mapping(
    {
        "package": json_schema.text(),
        "version": json_schema.text(),
        "sha256": json_schema.text(pattern=r"^[0-9a-f]{64}$(?!\n)"),
    },
    *("package", "version", "sha256"),
)
SCHEMA: Json = {
    "$schema": "http://json-schema.org/draft-07/schema#",
    "title": "Bundle of tools",
    **json_schema.closed_mapping(
        {
            "version": {"const": VERSION},
            "distribution": json_schema.name(),
            "architecture": json_schema.name(),
            "programs": json_schema.values(
                _PROGRAM,
                minProperties=1,
                propertyNames={
                    "pattern": r"^[A-Za-z0-9][A-Za-z0-9._+-]*$(?!\n)"
                },
            ),
        },
        *("version", "distribution", "architecture", "programs"),
    ),
}


class BundleError(errors.VMPerfError):
    """A bundle that cannot be created or used; the message is one line."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Program:
    """A program in a bundle.

    :param package: The name of the package that contains the program.
    :param version: The version of the package.
    :param sha256: The SHA-256 digest of the program file.
    """

    package: str
    version: str
    sha256: str


@dataclasses.dataclass(frozen=True, kw_only=True)
class Bundle:
    """A bundle on Rally's machine.

    :param path: The path of the archive.
    :param distribution: The release of the packages, such as ``bookworm``.
    :param architecture: The architecture in the notation of Debian packages,
        such as ``amd64``.
    :param programs: The programs by name.
    """

    path: pathlib.Path
    distribution: str
    architecture: str
    programs: collections.abc.Mapping[str, Program]


def load(path: str | os.PathLike[str]) -> Bundle:
    """Read an archive's description; return it as a Bundle.

    :param path: The path of the archive.
    :raises BundleError: If the file is not a valid bundle.
    """
    location = pathlib.Path(path).expanduser()
    try:
        with (
            open(location, "rb", opener=documents.open_regular) as packed,
            tarfile.open(fileobj=packed, mode="r:gz") as archive,
        ):
            first = archive.next()
            stream = None
            # A link would have the content of another file.
            if first is not None and first.name == NAME and first.isreg():
                stream = archive.extractfile(first)
            if stream is None:
                raise tarfile.TarError(
                    f"its first member is not a file {NAME}"
                )
            content = documents.parse_json(
                stream.read(_LARGEST).decode(), f"bundle {location}"
            )
        documents.check(SCHEMA, content, f"bundle {location}")
    except (OSError, EOFError, tarfile.TarError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise BundleError(
            f"bundle {location}: {reason}; {_remedy(location)}"
        ) from None
    except documents.DocumentError as error:
        raise BundleError(f"{error}; {_remedy(location)}") from None
    return Bundle(
        path=location,
        distribution=content["distribution"],
        architecture=content["architecture"],
        programs={
            name: Program(**fields)
            for name, fields in content["programs"].items()
        },
    )


def _remedy(location: pathlib.Path) -> str:
    """Return the advice how to create a bundle as text."""
    return f"create it with: rally-vmperf tools bundle {location} --task TASK"
