"""Tools: the programs that workloads need, and their versions."""

import collections.abc
import dataclasses
import re
import typing as t

Side = t.Literal["machine", "peer", "both"]

_DOTTED = re.compile(r"[0-9]{1,9}(?:\.[0-9]{1,9})+")


@dataclasses.dataclass(frozen=True, kw_only=True)
class AtLeast:
    """The oldest version of a tool that is accepted.

    :param why: what an older one lacks
    :param remedy: where a newer one is to be had
    """

    version: str
    why: str
    remedy: str


@dataclasses.dataclass(frozen=True, kw_only=True)
class Tool:
    """A program that a machine needs, and how to ask for its version.

    :param version: prints it in the first line that it prints at all, be
        that on standard output or (bzip2) on standard error; empty for a
        program that cannot tell, whose package is asked
    :param measures: False for a program that only prepares, whose version
        two machines need not agree on
    :param side: the measured machines, the peer, or both
    :param package: by ``apt``; empty where no distribution has one
    :param packages: its package by ``dnf`` and ``zypper``, where that is not
        called ``package`` as it is by ``apt``
    :param advice: where that package is to be had, if not in every release
    :param at_least: None for a tool of which every version will do
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
    asks: str = "--version",
    *,
    package: str = "",
    **more: t.Any,
) -> Tool:
    """Return a tool that is in the package of its own name, unless said.

    :param asks: its argument that asks for its version; empty for one that
        cannot tell
    :param more: as of ``Tool``
    """
    return Tool(
        command=command,
        package=package or command,
        version=(command, asks) if asks else (),
        **more,
    )


def newer(
    tools: collections.abc.Iterable[Tool], command: str, at_least: AtLeast
) -> tuple[Tool, ...]:
    """Return the tools, with the oldest accepted version of one of them."""
    return tuple(
        dataclasses.replace(tool, at_least=at_least)
        if tool.command == command
        else tool
        for tool in tools
    )


def upstream(told: str) -> tuple[int, ...]:
    """Return the version in a line, without the distribution's revision.

    :param told: the first line that a tool says of itself, or the name and
        version of its package
    :return: nothing when there is none
    """
    found = _DOTTED.search(told)
    return tuple(map(int, found[0].split("."))) if found else ()


def oldest(tool: Tool) -> tuple[int, ...]:
    """Return the oldest accepted version of a tool, empty for any version."""
    return upstream(tool.at_least.version) if tool.at_least else ()


def too_old(tool: Tool, told: str) -> str:
    """Return why a version of a tool is too old, or an empty text.

    A tool that does not report its version is accepted.
    """
    known, wanted = upstream(told), tool.at_least
    if not known or wanted is None or known >= oldest(tool):
        return ""
    return (
        f"{tool.command} {'.'.join(map(str, known))} is older than "
        f"{wanted.version}: {wanted.why}; {wanted.remedy}"
    )
