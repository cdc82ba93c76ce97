"""Limits by the name of a metric, or by a glob over names."""

import collections.abc
import fnmatch
import math
import re

_WILDCARD = re.compile(r"\[[^\]]+\]|\*|\?")


class Limits:
    """A limit for each metric that a pattern matches.

    The metric's own name wins, then the most exact pattern: of two patterns,
    one is more exact if the other matches all of its metrics, and more. Where
    neither does there is no order (``conflict``), and a task with such limits
    is refused.

    :param patterns: metric or glob -> limit
    :raises ValueError: for a limit that is not a finite number
    """

    def __init__(self, patterns: collections.abc.Mapping[str, float]) -> None:
        for pattern, limit in patterns.items():
            if isinstance(limit, bool) or not math.isfinite(limit):
                raise ValueError(
                    f"Limit {pattern!r} is {limit!r}, but must be a number"
                )
        self._patterns = dict(patterns)

    def __bool__(self) -> bool:
        return bool(self._patterns)

    def for_metric(
        self, name: str, among: collections.abc.Collection[str] = ()
    ) -> tuple[float, str] | None:
        """Return the limit of a metric and the pattern that gave it.

        :param among: names of all metrics that limits are put to
        """
        matching = [one for one in self._patterns if _matches(one, name)]
        if not matching:
            return None
        pattern = min(
            matching,
            key=lambda one: (
                one != name,
                sum(_matches(one, other) for other in among),
                -len(_WILDCARD.sub("", one)),
                one,
            ),
        )
        return float(self._patterns[pattern]), pattern

    def conflict(
        self, names: collections.abc.Collection[str]
    ) -> tuple[str, str, str] | None:
        """Return a metric and two patterns that disagree on its limit.

        They match it, give it different limits, and neither matches only
        metrics that the other matches as well, and fewer. None where there
        is no such metric.

        :param names: of all metrics that limits are put to
        """
        every = {
            pattern: {name for name in names if _matches(pattern, name)}
            for pattern in self._patterns
        }
        for name in sorted(set(names) - self._patterns.keys()):
            matching = [one for one in every if name in every[one]]
            exact = [
                one
                for one in matching
                if not any(every[other] < every[one] for other in matching)
            ]
            for other in exact[1:]:
                if self._patterns[other] != self._patterns[exact[0]]:
                    return name, exact[0], other
        return None

    def unmatched(
        self, names: collections.abc.Iterable[str]
    ) -> tuple[str, ...]:
        """Return the patterns that match none of these metrics, sorted."""
        names = list(names)
        return tuple(
            sorted(
                pattern
                for pattern in self._patterns
                if not any(_matches(pattern, name) for name in names)
            )
        )


def _matches(pattern: str, name: str) -> bool:
    return pattern == name or fnmatch.fnmatchcase(name, pattern)
