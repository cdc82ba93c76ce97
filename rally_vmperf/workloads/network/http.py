"""Network workload: users who load pages by HTTP, with h2load."""

import math
import re
import typing as t

from rally_vmperf.measurement.samples import histogram
from rally_vmperf.measurement.samples import sample
from rally_vmperf.workloads import arguments as rules
from rally_vmperf.workloads import base
from rally_vmperf.workloads import document
from rally_vmperf.workloads import files
from rally_vmperf.workloads import limits
from rally_vmperf.workloads import outputs
from rally_vmperf.workloads import tools
from rally_vmperf.workloads.network import _nginx

RATE = sample.Metric("network.http.rate", "ops/s", "higher", adds_up=True)
THROUGHPUT = sample.Metric(
    "network.http.throughput", "B/s", "higher", adds_up=True
)
RESPONSE_TIME = sample.Metric(
    "network.http.response_time", "s", "lower", adds_up=False
)
MEAN = sample.Metric(
    "network.http.response_time_mean", "s", "lower", adds_up=False
)
FAILED = sample.Metric("network.http.failed", "1", "lower", scale="count")

#: h2load's line of counts.
_COUNTS = re.compile(
    r"requests: ([0-9]{1,12}) total, ([0-9]{1,12}) started, "
    r"([0-9]{1,12}) done, ([0-9]{1,12}) succeeded, ([0-9]{1,12}) failed, "
    r"([0-9]{1,12}) errored, [0-9]{1,12} timeout"
)
_MICROSECOND = 1e-6
#: Different response times, of three digits, that there can be.
_MOST = 20000


class Pages(_nginx.Served):
    """Users with think time load pages from nginx on the peer."""

    name = "http"
    title = "Network: users who load pages by HTTP"
    part = "network"
    FILE = "page"
    FILE_IS = "the pages are"
    ARGUMENTS = rules.schema(
        users=rules.integer(
            "Users, each with a connection of its own", 1, 10000, default=100
        ),
        think_time=rules.number(
            "Seconds from one page of a user to the next", 0.1, 600, default=5
        ),
        time=rules.integer("Seconds of the run", 1, 3600, default=60),
        size_kib=rules.integer("Size of a page in KiB", 1, 64, default=16),
    )
    TOOLS = (
        tools.of(
            "h2load",
            package="nghttp2-client",
            side="machine",
            packages={"dnf": "nghttp2", "zypper": "nghttp2"},
        ),
        tools.of("python3", measures=False, side="machine"),
        _nginx.TOOL,
        tools.of("prlimit", package="util-linux", measures=False, side="peer"),
    )

    def files(self, arguments: base.Arguments) -> tuple[base.File, ...]:
        """Return the program that summarises h2load's log."""
        return (files.script("h2load.py"),)

    def metrics(self, arguments: base.Arguments) -> tuple[sample.Metric, ...]:
        """Return rates, response times and failures."""
        response_times = sample.percentiles(RESPONSE_TIME)
        return (RATE, THROUGHPUT, MEAN, *response_times, FAILED)

    def commands(
        self, arguments: base.Arguments, ends: base.Ends
    ) -> tuple[base.Command, ...]:
        """Return one run of all users, with the server of all machines.

        :raises base.WorkloadError: when there is no peer
        """
        users, think = arguments["users"], arguments["think_time"]
        # They come evenly over one think time, in steps of 10 ms at least.
        at_once = max(1, math.ceil(users * 0.01 / think))
        period = round(at_once * think * 1000 / users)
        lasts = max(arguments["time"], think)
        return (
            base.Command(
                name="pages",
                argv=(
                    *("python3", "h2load.py", "--h1", "-c", f"{users}"),
                    *("-r", f"{at_once}", f"--rate-period={period}ms"),
                    *(f"--rps={1 / think:.6g}", "-n", f"{_pages(arguments)}"),
                    self.url(ends),
                ),
                timeout=2 * lasts + 120,
                seconds=lasts,
                server=self.server(
                    ends,
                    options=(
                        "keepalive_requests 1000000000;",
                        "keepalive_timeout 3600;",
                    ),
                    connections=16384,
                    listen="backlog=16384",
                    limits=("prlimit", "--nofile=16500:"),
                    files={
                        "page": "0123456789abcde\n" * (_bytes(arguments) >> 4)
                    },
                ),
            ),
        )

    def read(
        self, arguments: base.Arguments, outcome: base.Outcome
    ) -> list[sample.Reading]:
        """Return rates, response times and failures.

        :raises base.WorkloadError: when it is the output of another run, or
            the counts of h2load are not those of its log
        """
        told = document.Document.only(outcome.stdout, "http")
        total, succeeded = _counts(told, _pages(arguments))
        counted = _response_times(told, succeeded)
        per_second = _per_second(told, succeeded)
        seconds = told.number("microseconds") * _MICROSECOND
        if not len(per_second) - 1 <= seconds < len(per_second):
            raise _error(
                f"ended after {seconds:g} s, with pages of {len(per_second)} s"
            )
        mean = told.number("response_microseconds") / succeeded
        mean *= _MICROSECOND
        if not math.isclose(
            mean,
            sum(one * count for one, count in counted) / succeeded,
            rel_tol=0.006,
        ):
            raise _error(f"has a mean of {mean:g} s that is not of its counts")
        try:
            distribution = sample.Distribution(
                metric=RESPONSE_TIME, histogram=histogram.Histogram.of(counted)
            )
        except ValueError as error:
            raise _error(f"has response times of which {error}") from None
        rate = succeeded / seconds
        points = [(at, one) for at, one in enumerate(per_second[:-1], 1)]
        return [
            limits.measured(RATE, rate),
            limits.measured(THROUGHPUT, rate * _bytes(arguments)),
            limits.measured(MEAN, mean),
            distribution,
            limits.measured(FAILED, total - succeeded),
            *(
                [sample.Series(metric=RATE, points=tuple(points))]
                if len(points) > 2
                else []
            ),
        ]


def _counts(told: document.Document, asked: int) -> tuple[int, int]:
    """Return how many pages were requested, and how many were loaded."""
    lines = told.find("h2load")
    line = lines[0] if isinstance(lines, list) and len(lines) == 1 else ""
    found = _COUNTS.fullmatch(line) if isinstance(line, str) else None
    if not found:
        raise _error("has no line of h2load that counts its requests")
    total, started, done, succeeded, failed, errored = map(int, found.groups())
    rows = told.number("rows")
    if (
        total != asked
        or not succeeded + failed + errored == done <= total
        or not done <= started <= total
        or not succeeded <= rows <= total
    ):
        raise _error(
            f"was asked for {asked} pages; h2load tells of {total}, {done} "
            f"done, {succeeded} succeeded, {failed} failed, and its log of "
            f"{rows:g}"
        )
    if not succeeded:
        raise _error(f"loaded none of {total} pages")
    return total, succeeded


def _response_times(
    told: document.Document, succeeded: int
) -> list[tuple[float, int]]:
    """Return response times in seconds, each with its count."""
    times = told.find("response_times")
    if not isinstance(times, dict) or not 0 < len(times) <= _MOST:
        raise _error("has no response times")
    counted = []
    for word in times:
        time = outputs.number(word, "http: response time") * _MICROSECOND
        count = told.number("response_times", word)
        if count < 1 or count != int(count):
            raise _error(f"counts a response time {count:g} times")
        limits.measured(RESPONSE_TIME, time)
        counted.append((time, int(count)))
    if sum(count for _, count in counted) != succeeded:
        raise _error(f"has response times that are not of {succeeded} pages")
    return counted


def _per_second(told: document.Document, succeeded: int) -> list[float]:
    """Return the pages that were loaded in each second."""
    found = told.find("per_second")
    if not isinstance(found, list) or not 0 < len(found) <= 10000:
        raise _error("has no pages per second")
    values = [told.number("per_second", at) for at in range(len(found))]
    if min(values) < 0 or sum(values) != succeeded:
        raise _error(f"has pages per second that are not of {succeeded} pages")
    return values


def _pages(arguments: base.Arguments) -> int:
    """Return the pages of all users in one run."""
    each = max(1, round(arguments["time"] / arguments["think_time"]))
    return t.cast(int, each * arguments["users"])


def _bytes(arguments: base.Arguments) -> int:
    return t.cast(int, arguments["size_kib"]) << 10


def _error(what: str) -> base.WorkloadError:
    return base.WorkloadError(f"http {what}; look at the raw output")
