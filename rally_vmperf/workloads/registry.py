"""The registry of workloads: the modules of the packages that offer some.

A package offers workloads by an entry point of ``rally_vmperf.workloads``.
Each of its modules is a workload of the same name, unless it begins with an
underscore.  The module is imported when the workload is asked for, so that a
list of names costs nothing.
"""

import collections.abc
import dataclasses
import functools
import importlib
import importlib.metadata
import importlib.util
import pkgutil

from rally_vmperf.workloads import base

GROUP = "rally_vmperf.workloads"


@dataclasses.dataclass(frozen=True)
class _Found:
    """Modules by the names of their workloads, and what is broken."""

    modules: dict[str, list[str]]
    broken: list[str]


def names() -> tuple[str, ...]:
    """Return the names of all workloads, sorted."""
    return tuple(sorted(find().modules))


def get(name: str) -> base.Workload:
    """Return the workload of that name.

    :raises base.WorkloadError: naming the workloads that there are, or what
        is wrong with the package of this one
    """
    modules = find().modules.get(name, [])
    if not modules:
        there_are = ", ".join(names()) or "none, install rally-vmperf again"
        what = f"no workload {name!r}; there are: {there_are}"
        raise base.WorkloadError("; ".join([what, *find().broken]))
    if len(modules) > 1:
        raise base.WorkloadError(
            f"workload {name!r} is in {' and in '.join(sorted(modules))}; "
            "uninstall all but one"
        )
    return _load(name, modules[0])


def packages(wanted: collections.abc.Iterable[str]) -> tuple[str, ...]:
    """Return the Debian packages of all tools of workloads, sorted.

    :param wanted: names of workloads
    :raises base.WorkloadError: for a name that no workload has
    """
    tools = [tool for name in wanted for tool in get(name).TOOLS]
    return tuple(sorted({tool.package for tool in tools} - {""}))


@functools.cache
def find() -> _Found:
    """Return the workloads that the installed packages offer."""
    modules: dict[str, list[str]] = {}
    broken = []
    for entry in importlib.metadata.entry_points(group=GROUP):
        try:
            spec = importlib.util.find_spec(entry.value)
        except ImportError:
            spec = None
        if spec is None or spec.submodule_search_locations is None:
            broken.append(
                f"entry point {entry.name!r} of {GROUP} names {entry.value}, "
                "which is no package that can be imported; repair or "
                "uninstall what it came with"
            )
            continue
        for one in _public(spec.submodule_search_locations):
            module = f"{entry.value}.{one}"
            if module not in modules.setdefault(one, []):
                modules[one].append(module)
    return _Found(modules, broken)


def _public(
    folders: collections.abc.Iterable[str],
) -> collections.abc.Iterator[str]:
    for one in pkgutil.iter_modules(folders):
        if not one.ispkg and not one.name.startswith("_"):
            yield one.name


def _load(name: str, path: str) -> base.Workload:
    try:
        module = importlib.import_module(path)
    except ImportError as error:
        raise base.WorkloadError(
            f"workload {name!r}: {path} cannot be imported: {error}; repair "
            "or uninstall the package"
        ) from error
    for kind in vars(module).values():
        if (
            isinstance(kind, type)
            and issubclass(kind, base.Workload)
            and vars(kind).get("name") == name
        ):
            return kind()
    raise base.WorkloadError(
        f"workload {name!r}: {path} has no class of base.Workload whose name "
        f"is {name!r}; name one so, or begin the module's name with _"
    )
