"""The modules through which a value passes, found by tracing a run."""

import collections.abc
import dataclasses
import pathlib
import sys
import types
import typing as t

#: How deep the value is looked for in what a function takes and returns.
_DEPTH = 7
#: Parts of a container that are looked at.
_MOST = 400


def modules(
    call: collections.abc.Callable[[], object], sentinel: float
) -> set[str]:
    """Return the modules of ours whose functions take or return a value.

    :param call: is run once; threads that it starts are not followed
    :param sentinel: a number that nothing else is likely to hold; text that
        shows it is not followed
    """
    found: set[str] = set()

    def look(frame: types.FrameType, event: str, argument: t.Any) -> None:
        name = frame.f_globals.get("__name__", "")
        if not name.startswith("rally_vmperf.") or name in found:
            return
        if event == "call":
            code = frame.f_code
            count = code.co_argcount + code.co_kwonlyargcount
            names = code.co_varnames[: count + 2]
            values = [frame.f_locals.get(one) for one in names]
        elif event == "return":
            values = [argument]
        else:
            return
        if any(_holds(one, sentinel, _DEPTH, set()) for one in values):
            found.add(name)

    sys.setprofile(look)
    try:
        call()
    finally:
        sys.setprofile(None)
    return found


def _holds(value: t.Any, sentinel: float, depth: int, seen: set[int]) -> bool:
    if isinstance(value, float):
        return value == sentinel
    simple = (str, bytes, int, type(None), type, pathlib.PurePath)
    if depth == 0 or isinstance(value, simple) or id(value) in seen:
        return False
    seen.add(id(value))
    return any(_holds(one, sentinel, depth - 1, seen) for one in _parts(value))


def _parts(value: t.Any) -> collections.abc.Iterable[t.Any]:
    if isinstance(value, collections.abc.Mapping):
        return list(value.values())[:_MOST]
    if isinstance(value, (list, tuple, set, frozenset)):
        return list(value)[:_MOST]
    if dataclasses.is_dataclass(value) or type(value).__module__.startswith(
        "rally_vmperf"
    ):
        return list(getattr(value, "__dict__", {}).values())
    return ()
