"""Limits by the name of a metric, or by a glob over names."""

import collections.abc
import fnmatch
import math
import re

_WILDCARD = re.compile(r"\[[^\]]+\]|\*|\?")


class Limits:
    """A limit for each metric that a pattern matches.

    The most exact pattern wins: the metric's own name before any glob; of
    globs the one with most characters that are no wildcard, then the one
    whose first wildcard comes latest, then the one with fewest ``*``.

    :param patterns: metric or glob -> limit
    :raises ValueError: for a limit that is not a finite number
    """

    def __init__(self, patterns: collections.abc.Mapping[str, float]) -> None:
        for pattern, limit in patterns.items():
            if isinstance(limit, bool) or not math.isfinite(limit):
                raise ValueError(
                    f"Limit {pattern!r} is {limit!r}, but must be a number"
                )
        self._by_exactness = sorted(patterns.items(), key=_exactness)

    def __bool__(self) -> bool:
        return bool(self._by_exactness)

    def for_metric(self, name: str) -> tuple[float, str] | None:
        """Return the limit of a metric and the pattern that gave it."""
        for pattern, limit in self._by_exactness:
            if _matches(pattern, name):
                return float(limit), pattern
        return None

    def unmatched(
        self, names: collections.abc.Iterable[str]
    ) -> tuple[str, ...]:
        """Return the patterns that match none of these metrics, sorted."""
        names = list(names)
        return tuple(
            sorted(
                pattern
                for pattern, _ in self._by_exactness
                if not any(_matches(pattern, name) for name in names)
            )
        )


def _matches(pattern: str, name: str) -> bool:
    return pattern == name or fnmatch.fnmatchcase(name, pattern)


def _exactness(entry: tuple[str, float]) -> tuple[int, int, int, int, str]:
    """Return a key that sorts the most exact pattern first."""
    pattern = entry[0]
    first = _WILDCARD.search(pattern)
    return (
        1 if first else 0,
        -len(_WILDCARD.sub("", pattern)),
        -first.start() if first else 0,
        pattern.count("*"),
        pattern,
    )
