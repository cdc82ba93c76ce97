# SPDX-License-Identifier: Apache-2.0
"""Calls to a fake cloud, counted and open to interruption."""

import functools
import inspect
import re
import types
import typing as t

Thing = types.SimpleNamespace
Things = dict[str, Thing]


@functools.cache
def _get_signature(proxy: type, name: str) -> inspect.Signature:
    """Return the signature of a method of the SDK."""
    return inspect.signature(getattr(proxy, name))


def call(method: t.Callable[..., t.Any]) -> t.Callable[..., t.Any]:
    """Make a method a call to ``self.cloud``.

    The SDK must accept the arguments, too: ``self.proxy`` is its class.
    """

    @functools.wraps(method)
    def counted(self: t.Any, *args: t.Any, **kwargs: t.Any) -> t.Any:
        signature = _get_signature(self.proxy, method.__name__)
        signature.bind(self, *args, **kwargs)
        self.cloud.calls.append(method.__name__)
        self.cloud.queries.append((method.__name__, kwargs))
        self.cloud.interrupt(method.__name__, False)
        answer = method(self, *args, **kwargs)
        if isinstance(answer, list):
            self.cloud.listed += len(answer)
        self.cloud.interrupt(method.__name__, True)
        return answer

    return counted


def named(things: t.Iterable[Thing], name: str | None) -> list[Thing]:
    """Return the things whose names match, as Nova does with an expression."""
    return [thing for thing in things if re.search(name or "", thing.name)]


def matching(
    things: t.Iterable[Thing], query: dict[str, t.Any]
) -> list[Thing]:
    """Return the things that match a query: a value, or one of a list.

    A resource without a project matches any project.
    """
    accepted = {
        key: value if isinstance(value, list) else [value]
        for key, value in query.items()
    }
    return [
        thing
        for thing in things
        if all(
            getattr(thing, key, values[0] if key == "project_id" else None)
            in values
            for key, values in accepted.items()
        )
    ]
