# SPDX-License-Identifier: Apache-2.0
"""The tools that workloads need, and their versions."""

import collections.abc
import dataclasses
import re
import typing as t

Side = t.Literal["machine", "peer", "both"]

_DOTTED = re.compile(r"[0-9]{1,9}(?:\.[0-9]{1,9})+")


@dataclasses.dataclass(frozen=True, kw_only=True)
class MinimumVersion:
    """The oldest accepted version of a tool.

    :param reason: The reason why older versions are rejected.
    :param remedy: The source of a newer version.
    :param omits: The metric that older versions omit; empty if they are
        rejected.
    """

    version: str
    reason: str
    remedy: str
    omits: str = ""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Tool:
    """A program that a machine needs, and the command for its version.

    :param version: The command whose first line of output, on standard
        output or (bzip2) standard error, contains the version; empty if the
        version of its package is used.
    :param affects_results: False for a program that only prepares; its
        version may differ between two machines.
    :param side: The machines that need it: the measured ones, the peer, or
        both.
    :param package: The package name in ``apt``; empty if no distribution has
        a package.
    :param packages: The package names in ``dnf`` and ``zypper`` that differ
        from ``package``.
    :param advice: The source of the package, by package manager, if not all
        releases contain it.
    :param minimum_version: The oldest accepted version; None for any version.
    :param comparable_from: The oldest version of a load generator that is
        comparable with other versions of the same major number; empty for
        any version, None for a program whose own code is measured.
    """

    command: str
    package: str
    version: tuple[str, ...]
    affects_results: bool = True
    side: Side = "both"
    packages: collections.abc.Mapping[str, str] = dataclasses.field(
        default_factory=dict
    )
    advice: collections.abc.Mapping[str, str] = dataclasses.field(
        default_factory=dict
    )
    minimum_version: MinimumVersion | None = None
    comparable_from: tuple[int, ...] | None = None

    def is_comparable(self, *versions: str) -> bool:
        """Return whether two versions of the tool generate the same load.

        :param versions: The first line of the output of each version.
        """
        if self.comparable_from is None:
            return False
        parsed = [parse_version(version) for version in versions]
        majors = {version[:1] for version in parsed}
        return min(parsed) >= self.comparable_from and len(majors) == 1


def define(
    command: str,
    version_argument: str = "--version",
    *,
    package: str = "",
    **fields: t.Any,
) -> Tool:
    """Return a Tool, by default with a package of the same name.

    :param version_argument: The argument that prints the version; empty if
        the tool does not report it.
    :param package: The name of the package; empty for that of the command.
    :param fields: The other fields of ``Tool``.
    """
    return Tool(
        command=command,
        package=package or command,
        version=(command, version_argument) if version_argument else (),
        **fields,
    )


def load_generator(
    command: str, version_argument: str = "--version", **fields: t.Any
) -> Tool:
    """Return the Tool of a load generator with comparable versions."""
    return define(command, version_argument, comparable_from=(), **fields)


def auxiliary(command: str, **fields: t.Any) -> Tool:
    """Return the Tool of a program that does not affect the results."""
    return define(command, affects_results=False, **fields)


def require_version(
    tools: collections.abc.Iterable[Tool],
    command: str,
    minimum_version: MinimumVersion,
) -> tuple[Tool, ...]:
    """Return the Tools, one of them with a new minimum version."""
    return tuple(
        dataclasses.replace(tool, minimum_version=minimum_version)
        if tool.command == command
        else tool
        for tool in tools
    )


def parse_version(text: str) -> tuple[int, ...]:
    """Return the numbers of the version in a line as a tuple.

    :param text: The first line of the output of a tool, or the name and
        version of its package.
    :return: The version; empty if the line contains none.
    """
    match = _DOTTED.search(text)
    return tuple(map(int, match[0].split("."))) if match else ()


def minimum_version(tool: Tool) -> tuple[int, ...]:
    """Return a tool's oldest accepted version as a tuple, empty for any."""
    minimum = tool.minimum_version
    return parse_version(minimum.version) if minimum else ()


def strictness(tool: Tool) -> tuple[tuple[int, ...], bool]:
    """Return the oldest accepted version, and whether others are rejected."""
    minimum = tool.minimum_version
    return minimum_version(tool), bool(minimum and not minimum.omits)


def version_problem(tool: Tool, reported: str) -> str:
    """Return the reason to reject a version as text, or "".

    A tool that does not report its version is accepted.
    """
    minimum = tool.minimum_version
    is_rejected = minimum is not None and not minimum.omits
    return _describe_old(tool, reported) if is_rejected else ""


def describe_omission(tool: Tool, reported: str) -> str:
    """Return which metric a version omits as text, or ""."""
    minimum = tool.minimum_version
    if minimum is None or not (minimum.omits and reported):
        return ""
    problem = _describe_old(tool, reported)
    return problem and f"{minimum.omits} is omitted: {problem}"


def _describe_old(tool: Tool, reported: str) -> str:
    """Return that a version is older than the minimum as text, or ""."""
    version, minimum = parse_version(reported), tool.minimum_version
    if not version or minimum is None or version >= minimum_version(tool):
        return ""
    return (
        f"{tool.command} {'.'.join(map(str, version))} is older than "
        f"{minimum.version}: {minimum.reason}; {minimum.remedy}"
    )
