# SPDX-License-Identifier: Apache-2.0
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

import annotated_types

from rally_vmperf import formats

Json = collections.abc.Mapping[str, t.Any]

#: Largest relative error of a percentile.
ACCURACY = 0.01
#: Smallest and largest value that is counted, in any unit.
LOWEST, HIGHEST = 1e-9, 1e12
#: Largest count of a bucket.
MOST = 10**15
#: The buckets of a histogram that are combined in a document: it is for
#: charts only.
_COMBINED_BUCKETS = 5
#: Number of values beyond a percentile from which it is supported.
BEYOND = 10

_GROWTH = (1 + ACCURACY) / (1 - ACCURACY)


def _bucket(value: float) -> int:
    """Return the number of the bucket that contains a value above zero."""
    return math.ceil(math.log(value) / math.log(_GROWTH))


#: Numbers of the buckets of LOWEST and HIGHEST.
_FIRST, _LAST = _bucket(LOWEST), _bucket(HIGHEST)
#: Largest number of buckets.
BUCKETS = _LAST - _FIRST + 1
#: The schema of a histogram in a document, as ``Histogram.plain`` returns it.
_SCHEMA = formats.form(
    t.Annotated[
        t.Any,
        formats.known_keys(
            {
                "bucket_width": t.Annotated[
                    int, annotated_types.Interval(ge=1, le=9)
                ],
                "first_bucket": int,
                "counts": t.Annotated[
                    list[int], annotated_types.Len(1, BUCKETS + 8)
                ],
            }
        ),
    ],
    lambda plain, _: Histogram.from_plain(plain),
    lambda histogram: histogram.plain(_COMBINED_BUCKETS),
)


@dataclasses.dataclass(frozen=True)
class Histogram:
    """Counts by bucket; use ``of`` to count values.

    :param counts: The number of values by the number of the bucket.
    :raises ValueError: If a bucket is unknown, or a count is not a positive
        integer.
    """

    counts: collections.abc.Mapping[int, int]

    __get_pydantic_core_schema__ = _SCHEMA.__get_pydantic_core_schema__

    def __post_init__(self) -> None:
        for bucket, count in self.counts.items():
            # The middle of merged buckets may be slightly out of bounds.
            if not _FIRST - 4 <= bucket <= _LAST + 4:
                raise ValueError(
                    f"bucket {bucket}: must be from {_FIRST} to {_LAST}"
                )
            if not 0 < count <= MOST:
                raise ValueError(f"count {count}: must be from 1 to {MOST}")

    @classmethod
    def of(
        cls, values: collections.abc.Iterable[tuple[float, int]]
    ) -> "Histogram":
        """Return the histogram of pairs of values and counts.

        :raises ValueError: If a value is out of bounds.
        """
        counts: collections.Counter[int] = collections.Counter()
        for value, count in values:
            if not LOWEST <= value <= HIGHEST:
                raise ValueError(
                    f"value {value:g}: must be from {LOWEST:g} to {HIGHEST:g}"
                )
            counts[_bucket(value)] += count
        return cls(dict(counts))

    @property
    def count(self) -> int:
        """The number of values."""
        return sum(self.counts.values())

    def supports(self, percent: float) -> bool:
        """Return whether there are enough values for a percentile."""
        beyond = fractions.Fraction(str(100 - percent)) * self.count / 100
        return round(beyond, 6) >= BEYOND

    def percentile(self, percent: float) -> float:
        """Return the value that a percentage of values does not exceed.

        It is the value of the nearest rank, within 1 %.

        :raises ValueError: If the histogram is empty.
        """
        share = fractions.Fraction(str(percent)) / 100
        rank = math.ceil(share * self.count)
        cumulated = 0
        for bucket in sorted(self.counts):
            cumulated += self.counts[bucket]
            if cumulated >= rank:
                return _middle(bucket)
        raise ValueError("an empty histogram does not have percentiles")

    def shares(self) -> list[tuple[float, float]]:
        """Return pairs: a value, and the share of values up to it.

        Values ascend; a value is the middle of its bucket, a share is from 0
        to 1.
        """
        cumulated, shares = 0, []
        for bucket in sorted(self.counts):
            cumulated += self.counts[bucket]
            shares.append((_middle(bucket), cumulated / self.count))
        return shares

    def plain(self, bucket_width: int = 1) -> dict[str, t.Any]:
        """Return the histogram as a JSON document, a dict.

        The counts start at the first bucket; a negative number stands for
        that number of empty buckets.

        :param bucket_width: The number of buckets that are merged into
            one, an odd number; five suffices for a drawing.
        """
        merged: collections.Counter[int] = collections.Counter()
        for bucket, count in self.counts.items():
            merged[(bucket + bucket_width // 2) // bucket_width] += count
        first = min(merged, default=0)
        counts: list[int] = []
        last = first - 1
        for bucket in sorted(merged):
            if bucket > last + 1:
                counts.append(last + 1 - bucket)
            counts.append(merged[bucket])
            last = bucket
        return {
            "bucket_width": bucket_width,
            "first_bucket": first,
            "counts": counts,
        }

    @classmethod
    def from_plain(cls, plain: Json) -> "Histogram":
        """Return the histogram in a JSON document from ``plain``.

        :raises ValueError: If the document is not a valid histogram.
        """
        bucket, counts = plain["first_bucket"], {}
        for count in plain["counts"]:
            if count < 0:
                bucket -= count
                continue
            counts[bucket * plain["bucket_width"]] = count
            bucket += 1
        return cls(counts)


def merge(histograms: collections.abc.Iterable[Histogram]) -> Histogram:
    """Return the sum of histograms, as one histogram."""
    counts: collections.Counter[int] = collections.Counter()
    for histogram in histograms:
        counts.update(histogram.counts)
    return Histogram(dict(counts))


def _middle(bucket: int) -> float:
    """Return a value within 1 % of every value in a bucket."""
    return 2 * float(_GROWTH**bucket) / (_GROWTH + 1)
