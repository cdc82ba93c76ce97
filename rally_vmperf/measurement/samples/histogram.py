"""Histograms: counts of values, in buckets that grow with the values.

Each bucket is about 2 % wider than the one below it, so that its middle is
within 1 % of all values in it (as in DDSketch by Masson, Rim and Lee, 2019).
All histograms have the same buckets: several are merged by adding up counts,
and the percentiles of the merged one are those of all values together.
"""

import collections
import collections.abc
import dataclasses
import fractions
import math
import typing as t

Json = collections.abc.Mapping[str, t.Any]

#: Largest relative error of a percentile.
ACCURACY = 0.01
#: Smallest and largest value that is counted, in any unit.
LOWEST, HIGHEST = 1e-9, 1e12
#: Largest count of a bucket.
MOST = 10**15
#: A percentile is supported where so many values lie beyond it.
BEYOND = 10

_GROWTH = (1 + ACCURACY) / (1 - ACCURACY)


def _bucket(value: float) -> int:
    return math.ceil(math.log(value) / math.log(_GROWTH))


#: Numbers of the buckets of LOWEST and HIGHEST.
_FIRST, _LAST = _bucket(LOWEST), _bucket(HIGHEST)
#: So many buckets there are at most.
BUCKETS = _LAST - _FIRST + 1


@dataclasses.dataclass(frozen=True)
class Histogram:
    """Counts by bucket; use ``of`` to count values.

    :param counts: number of the bucket -> how many values are in it
    :raises ValueError: for unknown buckets, and for counts that are not
        positive whole numbers
    """

    counts: collections.abc.Mapping[int, int]

    def __post_init__(self) -> None:
        for bucket, count in self.counts.items():
            # The middle of several may be a few beside the bounds.
            if not _FIRST - 4 <= bucket <= _LAST + 4:
                raise ValueError(
                    f"bucket {bucket} is not from {_FIRST} to {_LAST}"
                )
            if not 0 < count <= MOST:
                raise ValueError(f"{count} is no count from 1 to {MOST}")

    @classmethod
    def of(
        cls, values: collections.abc.Iterable[tuple[float, int]]
    ) -> "Histogram":
        """Return the histogram of values, each with its count.

        :raises ValueError: for a value that is not between the bounds
        """
        counts: collections.Counter[int] = collections.Counter()
        for value, count in values:
            if not LOWEST <= value <= HIGHEST:
                raise ValueError(
                    f"a value of {value:g} is not counted, only {LOWEST:g} to "
                    f"{HIGHEST:g}"
                )
            counts[_bucket(value)] += count
        return cls(dict(counts))

    @property
    def count(self) -> int:
        """How many values there are."""
        return sum(self.counts.values())

    def supports(self, percent: float) -> bool:
        """Return whether there are enough values for a percentile."""
        beyond = fractions.Fraction(str(100 - percent)) * self.count / 100
        return round(beyond, 6) >= BEYOND

    def percentile(self, percent: float) -> float:
        """Return the value that so many percent do not exceed.

        That is the nearest rank, within 1 % of the value itself.

        :raises ValueError: when there are no values
        """
        share = fractions.Fraction(str(percent)) / 100
        wanted = math.ceil(share * self.count)
        passed = 0
        for bucket in sorted(self.counts):
            passed += self.counts[bucket]
            if passed >= wanted:
                return _middle(bucket)
        raise ValueError("a histogram of no values has no percentile")

    def shares(self) -> list[tuple[float, float]]:
        """Return each value with the share, 0 to 1, that does not exceed it.

        Values ascend; a value is the middle of its bucket.
        """
        passed, found = 0, []
        for bucket in sorted(self.counts):
            passed += self.counts[bucket]
            found.append((_middle(bucket), passed / self.count))
        return found

    def plain(self, bucket_width: int = 1) -> dict[str, t.Any]:
        """Return it as JSON holds it.

        The counts stand from the first bucket on; a negative number stands
        for so many empty buckets.

        :param bucket_width: The number of buckets that are merged into
            one, an odd number; five suffices for a drawing.
        """
        found: collections.Counter[int] = collections.Counter()
        for bucket, count in self.counts.items():
            found[(bucket + bucket_width // 2) // bucket_width] += count
        first = min(found, default=0)
        counts: list[int] = []
        last = first - 1
        for bucket in sorted(found):
            if bucket > last + 1:
                counts.append(last + 1 - bucket)
            counts.append(found[bucket])
            last = bucket
        return {
            "bucket_width": bucket_width,
            "first_bucket": first,
            "counts": counts,
        }

    @classmethod
    def from_plain(cls, plain: Json) -> "Histogram":
        """Return what ``plain`` returned.

        :raises ValueError: for what is no histogram
        """
        bucket, counts = plain["first_bucket"], {}
        for count in plain["counts"]:
            if count < 0:
                bucket -= count
                continue
            counts[bucket * plain["bucket_width"]] = count
            bucket += 1
        return cls(counts)


def merge(parts: collections.abc.Iterable[Histogram]) -> Histogram:
    """Return the histogram of the values of all."""
    counts: collections.Counter[int] = collections.Counter()
    for one in parts:
        counts.update(one.counts)
    return Histogram(dict(counts))


def _middle(bucket: int) -> float:
    """Return the value that is within 1 % of all in a bucket."""
    return 2 * float(_GROWTH**bucket) / (_GROWTH + 1)
