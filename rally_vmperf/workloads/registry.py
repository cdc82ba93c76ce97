# SPDX-License-Identifier: Apache-2.0
"""The registry of workloads.

A package provides workloads by an entry point in the group
``rally_vmperf.workloads``.  Each module of the package is a workload of the
same name, unless its name begins with an underscore.  The module is imported
when the workload is requested, so that listing the names imports nothing.
"""

import collections.abc
import functools
import importlib
import importlib.metadata
import importlib.util
import pkgutil
import typing as t

from rally_vmperf.workloads import base

GROUP = "rally_vmperf.workloads"


def workload_names() -> tuple[str, ...]:
    """Return the sorted names of all workloads."""
    modules_by_name, _ = discover()
    return tuple(sorted(modules_by_name))


def get_workload(name: str) -> base.Workload:
    """Return the Workload object with that name.

    :raises base.WorkloadError: If the workload does not exist, or its
        package is broken.
    """
    modules_by_name, broken = discover()
    modules = modules_by_name.get(name, [])
    if not modules:
        available = (
            ", ".join(workload_names()) or "none; reinstall rally-vmperf"
        )
        problem = f"workload {name!r} does not exist; available: {available}"
        raise base.WorkloadError("; ".join([problem, *broken]))
    if len(modules) > 1:
        raise base.WorkloadError(
            f"workload {name!r} is in {' and in '.join(sorted(modules))}; "
            "uninstall all but one"
        )
    return _create_workload(name, modules[0])


def drivable_workload_names() -> tuple[str, ...]:
    """Return the sorted names of workloads that can be driven at a rate."""
    workloads = map(get_workload, workload_names())
    return tuple(
        workload.name
        for workload in workloads
        if workload.offers(workload.complete({}))
    )


def add_defaults(name: str, arguments: base.Arguments) -> dict[str, t.Any]:
    """Return recorded arguments with the defaults of later ones as a dict.

    A record lacks the arguments that its workload did not have then.  Those
    of an unknown workload do not change.

    :param name: The name of the workload.
    """
    if name not in workload_names():
        return dict(arguments)
    properties = get_workload(name).ARGUMENTS["properties"]
    defaults = {key: rule["default"] for key, rule in properties.items()}
    return {**defaults, **arguments}


def debian_packages(names: collections.abc.Iterable[str]) -> tuple[str, ...]:
    """Return the sorted Debian packages of the tools of workloads.

    :param names: The names of the workloads.
    :raises base.WorkloadError: If a workload does not exist.
    """
    tools = [tool for name in names for tool in get_workload(name).TOOLS]
    return tuple(sorted({tool.package for tool in tools} - {""}))


@functools.cache
def discover() -> tuple[dict[str, list[str]], list[str]]:
    """Return the modules of all workloads by name, and import problems."""
    modules: dict[str, list[str]] = {}
    broken = []
    for entry_point in importlib.metadata.entry_points(group=GROUP):
        try:
            spec = importlib.util.find_spec(entry_point.value)
        except ImportError:
            spec = None
        if spec is None or spec.submodule_search_locations is None:
            broken.append(
                f"entry point {entry_point.name!r} of {GROUP}: package "
                f"{entry_point.value} cannot be imported; repair or uninstall "
                "its distribution"
            )
            continue
        for module in pkgutil.iter_modules(spec.submodule_search_locations):
            if module.ispkg or module.name.startswith("_"):
                continue
            path = f"{entry_point.value}.{module.name}"
            if path not in modules.setdefault(module.name, []):
                modules[module.name].append(path)
    return modules, broken


def _create_workload(name: str, path: str) -> base.Workload:
    """Import a module and return an instance of its Workload class."""
    try:
        module = importlib.import_module(path)
    except ImportError as error:
        raise base.WorkloadError(
            f"workload {name!r}: {path} cannot be imported: {error}; repair "
            "or uninstall the package"
        ) from error
    for attribute in vars(module).values():
        if (
            isinstance(attribute, type)
            and issubclass(attribute, base.Workload)
            and vars(attribute).get("name") == name
        ):
            return attribute()
    raise base.WorkloadError(
        f"workload {name!r}: {path} has no subclass of base.Workload with "
        f"name = {name!r}; add one, or prefix the module name with _"
    )
