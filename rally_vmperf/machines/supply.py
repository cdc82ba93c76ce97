"""How a machine that lacks tools may come by them."""

import collections.abc
import dataclasses
import typing as t

from rally_vmperf.toolbox import folder


class Requirement(t.Protocol):
    """A program, its package, and the command that tells its version."""

    @property
    def command(self) -> str: ...

    @property
    def package(self) -> str: ...

    @property
    def version(self) -> tuple[str, ...]: ...

    @property
    def packages(self) -> collections.abc.Mapping[str, str]: ...

    @property
    def advice(self) -> collections.abc.Mapping[str, str]: ...


@dataclasses.dataclass(frozen=True, kw_only=True)
class Supply:
    """What may be done for a machine that lacks tools.

    :param install: whether anything may be
    :param proxy: URL for its package manager, or empty
    :param tools: packages to send; else its package manager gets them
    """

    install: bool = True
    proxy: str = ""
    tools: folder.Toolbox | None = None


#: For machines on which nothing is to be installed.
NOTHING = Supply(install=False)


def packages(
    requirements: collections.abc.Iterable[Requirement], kind: str
) -> list[str]:
    """Return what the packages are called by a kind of package manager."""
    return sorted({r.packages.get(kind, r.package) for r in requirements})


def advice(
    requirements: collections.abc.Iterable[Requirement], kind: str
) -> str:
    """Return where such a package manager finds the packages; or nothing."""
    found = [r.advice[kind] for r in requirements if kind in r.advice]
    return "; ".join(dict.fromkeys(found))
