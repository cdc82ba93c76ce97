"""Users who load pages with h2load: its command line and its counts."""

import dataclasses
import math
import re
import typing as t

from rally_vmperf.measurement.samples import histogram
from rally_vmperf.measurement.samples import sample
from rally_vmperf.workloads import base
from rally_vmperf.workloads import document
from rally_vmperf.workloads import limits
from rally_vmperf.workloads import outputs

#: h2load's line of counts.
_COUNTS = re.compile(
    r"requests: ([0-9]{1,12}) total, ([0-9]{1,12}) started, "
    r"([0-9]{1,12}) done, ([0-9]{1,12}) succeeded, ([0-9]{1,12}) failed, "
    r"([0-9]{1,12}) errored, [0-9]{1,12} timeout"
)
_MICROSECOND = 1e-6
#: Different response times, of three digits, that there can be.
_MOST = 20000
#: A time in seconds is no less than this part of one of three digits.
_DIGITS = 0.994
#: Share of a control's time in which the load has to be at work as well.
_LEAST = 0.9


@dataclasses.dataclass(frozen=True, kw_only=True)
class Load:
    """Users who load pages with one h2load.

    :param users: each with a connection of its own
    :param think_time: seconds from one page of a user to the next
    :param time: seconds of the run
    :param of: whose metrics they are: the tool's, or those of a part of it
    """

    users: int
    think_time: float
    time: int
    of: str = "h2load"

    @property
    def pages(self) -> int:
        """The pages of all users in one run."""
        each = max(1, round(self.time / self.think_time))
        return each * self.users

    def options(self) -> tuple[str, ...]:
        """Return h2load's options."""
        users, think = self.users, self.think_time
        # They come evenly over one think time, in steps of 10 ms at least.
        at_once = max(1, math.ceil(users * 0.01 / think))
        period = round(at_once * think * 1000 / users)
        return (
            *("--h1", "-c", f"{users}"),
            *("-r", f"{at_once}", f"--rate-period={period}ms"),
            *(f"--rps={1 / think:.6g}", "-n", f"{self.pages}"),
        )

    @property
    def rate(self) -> sample.Metric:
        """Pages per second."""
        return self._metric("rate", "ops/s", "higher", additive=True)

    def metrics(self) -> tuple[sample.Metric, ...]:
        """Return the rate, response times and failures."""
        response_times = sample.percentiles(self._response_time)
        return (self.rate, self._mean, *response_times, self._failed)

    @property
    def _mean(self) -> sample.Metric:
        return self._metric("response_time_mean", "s", "lower", additive=False)

    @property
    def _response_time(self) -> sample.Metric:
        return self._metric("response_time", "s", "lower", additive=False)

    @property
    def _failed(self) -> sample.Metric:
        return self._metric("failed_requests", "1", "lower", scale="count")

    def _metric(
        self, what: str, unit: str, better: sample.Better, **more: t.Any
    ) -> sample.Metric:
        return sample.Metric(f"network.{self.of}.{what}", unit, better, **more)

    def read(self, told: document.Document) -> "Result":
        """Return what h2load.py counted.

        :raises base.WorkloadError: when it is of another load, or the counts
            of h2load are not those of its log
        """
        total, succeeded = self._totals(told)
        counted = self._response_times(told, succeeded)
        per_second = self._per_second(told, succeeded)
        seconds = told.number("microseconds") * _MICROSECOND
        if not len(per_second) - 1 <= seconds < len(per_second):
            raise self.error(
                f"ended after {seconds:g} s, with pages of {len(per_second)} s"
            )
        longest = max(one for one, _ in counted)
        if seconds < _DIGITS * longest:
            raise self.error(
                f"ended after {seconds:g} s, with a page of {longest:g} s"
            )
        mean = told.number("response_microseconds") / succeeded
        mean *= _MICROSECOND
        if not math.isclose(
            mean,
            sum(one * count for one, count in counted) / succeeded,
            rel_tol=0.006,
        ):
            raise self.error(
                f"has a mean of {mean:g} s that is not of its counts"
            )
        try:
            distribution = sample.Distribution(
                metric=self._response_time,
                histogram=histogram.Histogram.of(counted),
            )
        except ValueError as error:
            raise self.error(f"has response times of which {error}") from None
        points = tuple((at, one) for at, one in enumerate(per_second[:-1], 1))
        return Result(
            load=self,
            told=told,
            rate=limits.measured(self.rate, succeeded / seconds),
            seconds=seconds,
            others=(
                limits.measured(self._mean, mean),
                distribution,
                limits.measured(self._failed, total - succeeded),
                *(
                    [sample.Series(metric=self.rate, points=points)]
                    if len(points) > 2
                    else []
                ),
            ),
        )

    def _totals(self, told: document.Document) -> tuple[int, int]:
        """Return how many pages were requested, and how many were loaded."""
        lines = told.find("h2load")
        line = lines[0] if isinstance(lines, list) and len(lines) == 1 else ""
        found = _COUNTS.fullmatch(line) if isinstance(line, str) else None
        if not found:
            raise self.error("has no line of h2load that counts its requests")
        counts = map(int, found.groups())
        total, started, done, succeeded, failed, errored = counts
        rows = told.number("rows")
        if (
            total != self.pages
            or not succeeded + failed + errored == done <= total
            or not done <= started <= total
            or not succeeded <= rows <= total
        ):
            raise self.error(
                f"was asked for {self.pages} pages; h2load tells of {total}, "
                f"{done} done, {succeeded} succeeded, {failed} failed, and "
                f"its log of {rows:g}"
            )
        if not succeeded:
            raise self.error(f"loaded none of {total} pages")
        return total, succeeded

    def _response_times(
        self, told: document.Document, succeeded: int
    ) -> list[tuple[float, int]]:
        """Return response times in seconds, each with its count."""
        times = told.find("response_times")
        if not isinstance(times, dict) or not 0 < len(times) <= _MOST:
            raise self.error("has no response times")
        counted = []
        for word in times:
            time = outputs.number(word, "h2load: response time") * _MICROSECOND
            count = told.number("response_times", word)
            if count < 1 or count != int(count):
                raise self.error(f"counts a response time {count:g} times")
            limits.measured(self._response_time, time)
            counted.append((time, int(count)))
        if sum(count for _, count in counted) != succeeded:
            raise self.error(
                f"has response times that are not of {succeeded} pages"
            )
        return counted

    def _per_second(
        self, told: document.Document, succeeded: int
    ) -> list[float]:
        """Return the pages that were loaded in each second."""
        found = told.find("per_second")
        if not isinstance(found, list) or not 0 < len(found) <= 10000:
            raise self.error("has no pages per second")
        values = [told.number("per_second", at) for at in range(len(found))]
        if min(values) < 0 or sum(values) != succeeded:
            raise self.error(
                f"has pages per second that are not of {succeeded} pages"
            )
        return values

    def error(self, what: str) -> base.WorkloadError:
        """Return the error that it did not do what was asked."""
        return base.WorkloadError(f"{self.of} {what}; look at the raw output")


@dataclasses.dataclass(frozen=True, kw_only=True)
class Result:
    """What a load measured.

    :param told: what h2load.py counted
    :param rate: pages per second
    :param seconds: from the first request to the end of the last answer
    """

    load: Load
    told: document.Document
    rate: sample.Sample
    seconds: float
    others: tuple[sample.Reading, ...]

    def check_beside(self, load: "Result") -> None:
        """Check that it worked while another load did.

        :raises base.WorkloadError: when too little of it was at that time
        """
        begin = self._begin
        common = min(begin + self.seconds, load._begin + load.seconds)
        common -= max(begin, load._begin)
        # Users come within one think time.
        if common < _LEAST * self.seconds - self.load.think_time:
            raise self.load.error(
                f"worked beside the load for {common:g} s of {self.seconds:g} "
                "s"
            )

    @property
    def _begin(self) -> float:
        return self.told.number("begun") * _MICROSECOND
