"""Tools: the programs that workloads need, and their versions."""

import collections.abc
import dataclasses
import re

_DOTTED = re.compile(r"[0-9]{1,9}(?:\.[0-9]{1,9})+")


@dataclasses.dataclass(frozen=True, kw_only=True)
class AtLeast:
    """The oldest version of a tool that will do.

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
    :param packages: its package by ``dnf`` and ``zypper``, where that is not
        called ``package`` as it is by ``apt``
    :param advice: where that package is to be had, if not in every release
    :param at_least: None for a tool of which every version will do
    """

    command: str
    package: str
    version: tuple[str, ...]
    measures: bool = True
    packages: collections.abc.Mapping[str, str] = dataclasses.field(
        default_factory=dict
    )
    advice: collections.abc.Mapping[str, str] = dataclasses.field(
        default_factory=dict
    )
    at_least: AtLeast | None = None


def upstream(told: str) -> tuple[int, ...]:
    """Return the version in a line, without the distribution's revision.

    :param told: the first line that a tool says of itself, or the name and
        version of its package
    :return: nothing when there is none
    """
    found = _DOTTED.search(told)
    return tuple(map(int, found[0].split("."))) if found else ()


def oldest(tool: Tool) -> tuple[int, ...]:
    """Return the oldest version of a tool that will do, nothing for any."""
    return upstream(tool.at_least.version) if tool.at_least else ()


def too_old(tool: Tool, told: str) -> str:
    """Return why a version of a tool will not do, or nothing if it does.

    A tool that does not tell its version may be of any.
    """
    known, wanted = upstream(told), tool.at_least
    if not known or wanted is None or known >= oldest(tool):
        return ""
    return (
        f"{tool.command} {'.'.join(map(str, known))} is older than "
        f"{wanted.version}: {wanted.why}; {wanted.remedy}"
    )
