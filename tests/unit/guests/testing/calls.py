"""Calls to a fake cloud, counted and open to interruption."""

import functools
import types
import typing as t

Thing = types.SimpleNamespace
Things = dict[str, Thing]


def call(method: t.Callable[..., t.Any]) -> t.Callable[..., t.Any]:
    """Make a method a call to ``self.cloud``."""

    @functools.wraps(method)
    def counted(self: t.Any, *args: t.Any, **kwargs: t.Any) -> t.Any:
        self.cloud.calls.append(method.__name__)
        self.cloud.interrupt(method.__name__, False)
        answer = method(self, *args, **kwargs)
        self.cloud.interrupt(method.__name__, True)
        return answer

    return counted
