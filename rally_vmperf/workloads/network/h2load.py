# SPDX-License-Identifier: Apache-2.0
"""Network workload: users who load pages by HTTP, with h2load."""

import collections.abc
import dataclasses
import math
import re
import typing as t

from rally_vmperf.measurement.samples import histogram
from rally_vmperf.measurement.samples import sample
from rally_vmperf.workloads import base
from rally_vmperf.workloads import document
from rally_vmperf.workloads import files
from rally_vmperf.workloads import options
from rally_vmperf.workloads import output_bounds
from rally_vmperf.workloads import outputs
from rally_vmperf.workloads import schemas
from rally_vmperf.workloads import sequence
from rally_vmperf.workloads import tools
from rally_vmperf.workloads.network import _nginx

_METRICS = (
    sample.Metric("network.{}.rate", "ops/s", "higher", additive=True),
    sample.Metric(
        "network.{}.response_time_mean", "s", "lower", additive=False
    ),
    sample.Metric("network.{}.response_time", "s", "lower", additive=False),
    sample.Metric("network.{}.failed_requests", "1", "lower", scale="count"),
)

#: The line of counts of h2load.
_COUNTS = re.compile(
    r"requests: ([0-9]{1,12}) total, ([0-9]{1,12}) started, "
    r"([0-9]{1,12}) done, ([0-9]{1,12}) succeeded, ([0-9]{1,12}) failed, "
    r"([0-9]{1,12}) errored, [0-9]{1,12} timeout"
)
_MICROSECOND = 1e-6
#: Maximum number of different response times with three digits.
_MAX_TIMES = 20000
#: Minimum ratio of an exact time to the same time with three digits.
_MIN_ROUNDING = 0.994


def _parse_pause(text: str) -> t.Any:
    """Return the seconds between two requests of a client, from its rate."""
    rate = options.parse_float(text)
    if not isinstance(rate, float) or rate < 0:
        return text
    return 1 / rate if rate else 0


#: The arguments of h2load itself, which by default loads without pauses.
_OPTIONS = options.OptionTable(
    options=(
        options.Option(
            names=("c", "clients"),
            argument="clients",
            default="1",
            parse=options.parse_number,
            pattern=re.compile(
                r"^spawning thread #[0-9]{1,4}: ([0-9]{1,9}) total client",
                re.M,
            ),
            is_total=True,
        ),
        options.Option(
            names=("n", "requests"),
            argument="requests",
            parse=options.parse_number,
            pattern=re.compile(r"^requests: ([0-9]{1,12}) total", re.M),
        ),
        options.Option(
            names=("application-protocol",),
            argument="application_protocol",
            pattern=re.compile(r"^Application protocol: (\S{1,20})$", re.M),
        ),
        options.Option(
            names=("t", "threads"),
            argument="threads",
            default="1",
            parse=options.parse_number,
        ),
        options.Option(
            names=("m", "max-concurrent-streams"),
            argument="concurrent_streams",
            default="1",
            parse=options.parse_number,
        ),
        options.Option(
            names=("rps",),
            argument="think_time",
            default="0",
            parse=_parse_pause,
        ),
        options.Option(names=("D", "duration")),
        options.Option(names=("r", "rate")),
        options.Option(names=("rate-period",), default="1s"),
        options.Option(names=("h1",), has_value=False),
        *(
            options.Option(names=(name,))
            for name in ("w", "W", "p", "H", "d", "T", "N", "f")
        ),
        *options.name_options("i", "B", "log-file"),
        *options.name_options("v", "verbose", has_value=False),
    )
)

_THROUGHPUT = sample.Metric(
    "network.h2load.throughput", "B/s", "higher", additive=True
)

#: The name of the one command.
_COMMAND = "pages"
#: The shortest pause in seconds between two pages of a user.
_MIN_THINK_TIME = 0.001
#: The maximum duration without pauses in seconds; each page takes 30 bytes of
#: the log.
_MAX_FULL_SPEED_SECONDS = 300

#: The options of nginx for connections that last for the whole run.
_KEEP_ALIVE = ("keepalive_requests 1000000000;", "keepalive_timeout 3600;")


@dataclasses.dataclass(frozen=True, kw_only=True)
class UserLoad:
    """Users who load pages with one h2load.

    :param users: The number of users, each with a connection of its own.
    :param think_time: The time between two pages of a user in seconds; 0 for
        users without pauses, who load pages until the time is over.
    :param time: The duration of the run in seconds.
    """

    users: int
    think_time: float
    time: int

    @property
    def pages(self) -> int:
        """The number of pages of all users in one run; 0 if not fixed."""
        if not self.think_time:
            return 0
        pages_per_user = max(1, round(self.time / self.think_time))
        return pages_per_user * self.users

    def options(self) -> tuple[str, ...]:
        """Return the command line words of h2load's options."""
        users, think = self.users, self.think_time
        if not think:
            return ("--h1", "-c", f"{users}", "-D", f"{self.time}")
        # Users start evenly within one think time, at least every 10 ms.
        at_once = min(users, max(1, math.ceil(users * 0.01 / think)))
        period = round(at_once * think * 1000 / users)
        return (
            *("--h1", "-c", f"{users}"),
            *("-r", f"{at_once}", f"--rate-period={period}ms"),
            *(f"--rps={1 / think:.6g}", "-n", f"{self.pages}"),
        )

    def metrics(self) -> tuple[sample.Metric, ...]:
        """Return the definitions of all metrics of the load."""
        rate, mean, response_time, failures = self._definitions()
        return (rate, mean, *sample.percentiles(response_time), failures)

    def _definitions(self) -> tuple[sample.Metric, ...]:
        """Return the Metrics of the load, one of them of a distribution."""
        return sequence.name_metrics(_METRICS, "h2load")

    def parse(
        self, report: document.Document
    ) -> tuple[sample.Sample, list[sample.Reading]]:
        """Parse a report of h2load.py into the rate and other readings.

        :raises base.WorkloadError: If the report is from another load, or
            the counts of h2load differ from those of its log.
        """
        rate, mean_metric, response_time, failures = self._definitions()
        total, succeeded = self._totals(report)
        counts = self._response_times(report, succeeded)
        per_second = self._per_second(report, succeeded)
        seconds = report.number("microseconds") * _MICROSECOND
        longest = max(time for time, _ in counts)
        if not len(per_second) - 1 <= seconds < len(per_second):
            raise self.error(
                f"ended after {seconds:g} s, but reported pages in "
                f"{len(per_second)} s"
            )
        if not self.think_time:
            outputs.Reader("h2load").check_time(seconds, self.time)
        if seconds < _MIN_ROUNDING * longest:
            raise self.error(
                f"ended after {seconds:g} s, but reported a page with "
                f"{longest:g} s"
            )
        mean = report.number("response_microseconds") / succeeded
        mean *= _MICROSECOND
        computed_mean = sum(time * count for time, count in counts) / succeeded
        if not math.isclose(mean, computed_mean, rel_tol=0.006):
            raise self.error(
                f"reported a mean of {mean:g} s that differs from its counts"
            )
        try:
            distribution = sample.Distribution(
                metric=response_time, histogram=histogram.Histogram.of(counts)
            )
        except ValueError as error:
            raise self.error(f"has invalid response times: {error}") from None
        readings: list[sample.Reading] = [
            outputs.create_sample(mean_metric, mean),
            distribution,
            outputs.create_sample(failures, total - succeeded),
        ]
        points = tuple(enumerate(per_second[:-1], 1))
        if len(points) > 2:
            readings.append(sample.Series(metric=rate, points=points))
            readings += self._response_time_series(report, len(points))
        return outputs.create_sample(rate, succeeded / seconds), readings

    def _totals(self, report: document.Document) -> tuple[int, int]:
        """Return the numbers of requested and of loaded pages."""
        lines = report.array("h2load")
        line = lines[0] if len(lines) == 1 else ""
        match = _COUNTS.fullmatch(line) if isinstance(line, str) else None
        if not match:
            raise self.error("did not report the request counts of h2load")
        counts = map(int, match.groups())
        total, started, done, succeeded, failed, errored = counts
        rows = report.number("rows")
        pages, most_started = self.pages or done, total
        if not self.think_time:
            # At the end, each user may wait for a page, which does not count.
            most_started += self.users
        if (
            total != pages
            or not succeeded + failed + errored == done <= total
            or not done <= started <= most_started
            or not succeeded <= rows <= total
        ):
            raise self.error(
                f"must load {pages} pages, but h2load reported {total}, "
                f"{done} done, {succeeded} succeeded, {failed} failed, and "
                f"its log has {rows:g}"
            )
        if not succeeded:
            raise self.error(f"loaded none of {total} pages")
        return total, succeeded

    def _response_times(
        self, report: document.Document, succeeded: int
    ) -> list[tuple[float, int]]:
        """Return a list of response times in seconds with their counts."""
        times = report.mapping("response_times")
        if not 0 < len(times) <= _MAX_TIMES:
            raise self.error("did not report response times")
        _, _, metric, _ = self._definitions()
        counts = []
        for time_text in times:
            time = outputs.Reader("h2load").number(time_text, "response time")
            time *= _MICROSECOND
            count = report.number("response_times", time_text)
            if count < 1 or count != int(count):
                raise self.error(f"counted a response time {count:g} times")
            outputs.create_sample(metric, time)
            counts.append((time, int(count)))
        if sum(count for _, count in counts) != succeeded:
            raise self.error(
                f"reported response times of other than {succeeded} pages"
            )
        return counts

    def _per_second(
        self, report: document.Document, succeeded: int
    ) -> list[float]:
        """Return a list of the number of loaded pages in each second."""
        rows = report.array("per_second")
        if not 0 < len(rows) <= 10000:
            raise self.error("did not report pages per second")
        pages = report.at("per_second").numbers(*range(len(rows)))
        if min(pages) < 0 or sum(pages) != succeeded:
            raise self.error(
                f"reported pages per second of other than {succeeded} pages"
            )
        return pages

    def _response_time_series(
        self, report: document.Document, seconds: int
    ) -> list[sample.Series]:
        """Return mean and 95th percentile of the pages of each full second.

        A second without a page has no point.

        :param seconds: The number of full seconds.
        """
        _, mean, response_time, _ = self._definitions()
        p95 = sample.percentile_name(response_time.name, 95)
        rows = report.mapping("response_times_per_second")
        if sum(
            report.number("response_times_per_second", second, 0)
            for second in rows
        ) != report.number("response_microseconds"):
            raise self.error("reported other response times per second")
        metrics = [mean, *sample.percentiles(response_time)]
        series = []
        for place, metric in enumerate(
            metric for metric in metrics if metric.name in (mean.name, p95)
        ):
            points = []
            for second in range(seconds):
                if f"{second}" not in rows:
                    continue
                value = report.number(
                    "response_times_per_second", f"{second}", place
                )
                if not place:
                    value /= max(1.0, report.number("per_second", second))
                seconds_of_page = value * _MICROSECOND
                outputs.create_sample(metric, seconds_of_page)
                points.append((second + 1, seconds_of_page))
            if len(points) > 2:
                series.append(
                    sample.Series(metric=metric, points=tuple(points))
                )
        return series

    def error(self, problem: str) -> base.WorkloadError:
        """Return a WorkloadError that describes an invalid report."""
        return outputs.Reader("h2load").error(problem)


class H2load(_nginx.NginxWorkload):
    """Users with think time who load pages from nginx on the peer."""

    name = "h2load"
    title = "Network: users who load pages by HTTP"
    part = "network"
    OUTPUT_BOUNDS = output_bounds.JSON
    has_time_series = True
    FILE = "page"
    FILE_IS = "the pages are"
    TOOL_OPTIONS = _OPTIONS
    QUICK = schemas.short(time=10)
    ARGUMENTS = schemas.schema(
        users=schemas.integer(
            "Number of users, each with a connection of its own",
            1,
            10000,
            default=100,
        ),
        think_time=schemas.number(
            "Time between two pages of a user, s",
            0,
            600,
            default=5,
            note="0 for users without pauses, otherwise at least 0.001",
        ),
        time=schemas.duration("Duration of the run", default=60),
        size_kib=schemas.integer("Size of a page in KiB", 1, 64, default=16),
    )
    TOOLS = (
        tools.load_generator(
            "h2load",
            package="nghttp2-client",
            side="machine",
            packages={"dnf": "nghttp2", "zypper": "nghttp2"},
        ),
        tools.auxiliary("python3", side="machine"),
        _nginx.TOOL,
        tools.auxiliary("prlimit", package="util-linux", side="peer"),
    )

    def check_arguments(self, arguments: base.Arguments) -> None:
        """Reject a think time that is too short, and a log that is too long.

        :raises ValueError: If an argument is not valid.
        """
        think, time = arguments["think_time"], arguments["time"]
        if 0 < think < _MIN_THINK_TIME:
            raise ValueError(
                f"think_time={think:g}: must be 0, or at least "
                f"{_MIN_THINK_TIME}; use more users"
            )
        if not think and time > _MAX_FULL_SPEED_SECONDS:
            raise ValueError(
                f"time={time}: must be <= {_MAX_FULL_SPEED_SECONDS} with "
                "think_time: 0, because the log has a line for each page"
            )

    def offers(self, arguments: base.Arguments) -> tuple[base.Offer, ...]:
        """Return the Offer of all users."""
        think = arguments["think_time"]
        rate, *_ = metrics = self.metrics(arguments)
        offer = base.Offer(
            command=_COMMAND,
            metric=rate.name,
            rate=arguments["users"] / think if think else None,
            late=tuple(
                metric.name for metric in metrics if metric.unit == "s"
            ),
        )
        return (offer,)

    def _drive(
        self,
        arguments: base.Arguments,
        rates: collections.abc.Mapping[str, float],
    ) -> dict[str, t.Any]:
        """Return the think time; the number of users stays."""
        think = arguments["users"] / rates[_COMMAND]
        return {"think_time": float(f"{think:.6g}")}

    def files(self, arguments: base.Arguments) -> tuple[base.File, ...]:
        """Return a tuple of the script that runs h2load."""
        return (files.script("h2load.py"),)

    def metrics(self, arguments: base.Arguments) -> tuple[sample.Metric, ...]:
        """Return the metric definitions of the load."""
        rate, *other_metrics = _create_load(arguments).metrics()
        return (rate, _THROUGHPUT, *other_metrics)

    def commands(
        self, arguments: base.Arguments, endpoints: base.Endpoints
    ) -> tuple[base.Command, ...]:
        """Return a tuple of the one command of all users, with its server.

        :raises base.WorkloadError: If there is no peer.
        """
        url = self.url(endpoints)
        lasts = max(arguments["time"], arguments["think_time"])
        page = "0123456789abcde\n" * (_size_bytes(arguments) >> 4)
        server = self.server(
            endpoints,
            options=_KEEP_ALIVE,
            connections=16384,
            listen="backlog=16384",
            limits=("prlimit", "--nofile=16500:"),
            files={"page": page},
        )
        command = base.Command(
            name=_COMMAND,
            argv=(
                *("python3", "h2load.py"),
                *(*_create_load(arguments).options(), url),
            ),
            timeout=2 * lasts + 120,
            seconds=lasts,
            server=server,
        )
        return (command,)

    def parse(
        self, arguments: base.Arguments, result: base.CommandResult
    ) -> list[sample.Reading]:
        """Return the samples of rates, response times and failures.

        :raises base.WorkloadError: If the output is from another run, the
            counts of h2load differ from those of its log.
        """
        report = document.Document.parse_single(result.stdout, "h2load")
        rate, other_readings = _create_load(arguments).parse(report)
        throughput = rate.value * _size_bytes(arguments)
        return [
            rate,
            outputs.create_sample(_THROUGHPUT, throughput),
            *other_readings,
        ]


def _create_load(arguments: base.Arguments) -> UserLoad:
    """Return the Load that the arguments define."""
    return UserLoad(
        users=arguments["users"],
        think_time=arguments["think_time"],
        time=arguments["time"],
    )


def _size_bytes(arguments: base.Arguments) -> int:
    """Return the size of a page in bytes."""
    return t.cast(int, arguments["size_kib"]) << 10
