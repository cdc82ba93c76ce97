"""The tools that workloads need, and their versions."""

import collections.abc
import dataclasses
import re
import typing as t

Side = t.Literal["machine", "peer", "both"]

_DOTTED = re.compile(r"[0-9]{1,9}(?:\.[0-9]{1,9})+")


@dataclasses.dataclass(frozen=True, kw_only=True)
class AtLeast:
    """The oldest accepted version of a tool.

    :param why: The reason why older versions are rejected.
    :param remedy: The source of a newer version.
    """

    version: str
    why: str
    remedy: str


@dataclasses.dataclass(frozen=True, kw_only=True)
class Tool:
    """A program that a machine needs, and the command for its version.

    :param version: The command whose first line of output, on standard
        output or (bzip2) standard error, contains the version; empty if the
        version of its package is used.
    :param measures: False for a program that only prepares; its version may
        differ between two machines.
    :param side: The machines that need it: the measured ones, the peer, or
        both.
    :param package: The package name in ``apt``; empty if no distribution has
        a package.
    :param packages: The package names in ``dnf`` and ``zypper`` that differ
        from ``package``.
    :param advice: The source of the package, by package manager, if not all
        releases contain it.
    :param at_least: The oldest accepted version; None for any version.
    """

    command: str
    package: str
    version: tuple[str, ...]
    measures: bool = True
    side: Side = "both"
    packages: collections.abc.Mapping[str, str] = dataclasses.field(
        default_factory=dict
    )
    advice: collections.abc.Mapping[str, str] = dataclasses.field(
        default_factory=dict
    )
    at_least: AtLeast | None = None


def of(
    command: str,
    version_argument: str = "--version",
    *,
    package: str = "",
    **fields: t.Any,
) -> Tool:
    """Return a tool, by default with a package of the same name.

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


def newer(
    tools: collections.abc.Iterable[Tool], command: str, at_least: AtLeast
) -> tuple[Tool, ...]:
    """Return the tools with a minimum version of one of them."""
    return tuple(
        dataclasses.replace(tool, at_least=at_least)
        if tool.command == command
        else tool
        for tool in tools
    )


def upstream(text: str) -> tuple[int, ...]:
    """Return the version in a line without the revision of the distribution.

    :param text: The first line of the output of a tool, or the name and
        version of its package.
    :return: The version; empty if the line contains none.
    """
    match = _DOTTED.search(text)
    return tuple(map(int, match[0].split("."))) if match else ()


def oldest(tool: Tool) -> tuple[int, ...]:
    """Return the oldest accepted version of a tool; empty for any version."""
    return upstream(tool.at_least.version) if tool.at_least else ()


def too_old(tool: Tool, reported: str) -> str:
    """Return the reason why a version is rejected, or an empty text.

    A tool that does not report its version is accepted.
    """
    version, minimum = upstream(reported), tool.at_least
    if not version or minimum is None or version >= oldest(tool):
        return ""
    return (
        f"{tool.command} {'.'.join(map(str, version))} is older than "
        f"{minimum.version}: {minimum.why}; {minimum.remedy}"
    )
