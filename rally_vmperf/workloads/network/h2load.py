"""Network workload: users who load pages by HTTP, with h2load."""

import typing as t

from rally_vmperf.measurement.samples import sample
from rally_vmperf.workloads import base
from rally_vmperf.workloads import document
from rally_vmperf.workloads import files
from rally_vmperf.workloads import output_bounds
from rally_vmperf.workloads import outputs
from rally_vmperf.workloads import schemas
from rally_vmperf.workloads import tools
from rally_vmperf.workloads.network import _h2load
from rally_vmperf.workloads.network import _nginx

_THROUGHPUT = sample.Metric(
    "network.h2load.throughput", "B/s", "higher", additive=True
)

#: The options of nginx for connections that last for the whole run.
_KEEP_ALIVE = ("keepalive_requests 1000000000;", "keepalive_timeout 3600;")


class H2load(_nginx.NginxWorkload):
    """Users with think time who load pages from nginx on the peer."""

    name = "h2load"
    title = "Network: users who load pages by HTTP"
    part = "network"
    OUTPUT_BOUNDS = output_bounds.JSON
    has_time_series = True
    FILE = "page"
    FILE_IS = "the pages are"
    ARGUMENTS = schemas.schema(
        users=schemas.integer(
            "Number of users, each with a connection of its own",
            1,
            10000,
            default=100,
        ),
        think_time=schemas.number(
            "Time between two pages of a user, s", 0.1, 600, default=5
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
            name="pages",
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


def _create_load(arguments: base.Arguments) -> _h2load.Load:
    """Return the Load that the arguments define."""
    return _h2load.Load(
        users=arguments["users"],
        think_time=arguments["think_time"],
        time=arguments["time"],
    )


def _size_bytes(arguments: base.Arguments) -> int:
    """Return the size of a page in bytes."""
    return t.cast(int, arguments["size_kib"]) << 10
