"""Network workload: users who load pages by HTTP, with h2load."""

import dataclasses
import typing as t

from rally_vmperf.measurement.samples import sample
from rally_vmperf.workloads import arguments as rules
from rally_vmperf.workloads import base
from rally_vmperf.workloads import document
from rally_vmperf.workloads import files
from rally_vmperf.workloads import limits
from rally_vmperf.workloads import tools
from rally_vmperf.workloads.network import _h2load
from rally_vmperf.workloads.network import _nginx

_THROUGHPUT = sample.Metric(
    "network.h2load.throughput", "B/s", "higher", additive=True
)


class H2load(_nginx.Served):
    """Users with think time load pages from nginx on the peer."""

    name = "h2load"
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
        control_users=rules.integer(
            "Users of a second h2load, a control that works beside the load "
            "and is measured by itself",
            0,
            10000,
            default=0,
            note="0 for none; no more than users",
        ),
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

    def complete(self, arguments: base.Arguments) -> dict[str, t.Any]:
        """Return the arguments with every default filled in.

        :raises base.WorkloadError: also for a control of more users than the
            load has, as it would go on after it
        """
        complete = super().complete(arguments)
        users, control = complete["users"], complete["control_users"]
        if control > users:
            raise base.WorkloadError(
                f"workload h2load: control_users: {control} is more than the "
                f"{users} users of the load; take fewer"
            )
        return complete

    def files(self, arguments: base.Arguments) -> tuple[base.File, ...]:
        """Return the program that summarises h2load's log."""
        return (files.script("h2load.py"),)

    def metrics(self, arguments: base.Arguments) -> tuple[sample.Metric, ...]:
        """Return rates, response times and failures, those of a control too.

        A control has no throughput: its pages are of the same size.
        """
        load, control = _load(arguments), _control(arguments)
        rate, *others = load.metrics()
        return (
            *(rate, _THROUGHPUT, *others),
            *(control.metrics() if control else ()),
        )

    def commands(
        self, arguments: base.Arguments, ends: base.Ends
    ) -> tuple[base.Command, ...]:
        """Return one run of all users, with the server of all machines.

        :raises base.WorkloadError: when there is no peer
        """
        url = self.url(ends)
        control = _control(arguments)
        lasts = max(arguments["time"], arguments["think_time"])
        return (
            base.Command(
                name="pages",
                argv=(
                    *("python3", "h2load.py"),
                    *(*_load(arguments).options(), url),
                    *(("--", *control.options(), url) if control else ()),
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

        :raises base.WorkloadError: when it is the output of another run, the
            counts of h2load are not those of its log, or the control did not
            work beside the load
        """
        told = document.Document.only(outcome.stdout, "h2load")
        load, control = _load(arguments), _control(arguments)
        if told.find("control") is not None and not control:
            raise load.error("has a control, and was asked for none")
        found = load.read(told)
        throughput = found.rate.value * _bytes(arguments)
        readings: list[sample.Reading] = [
            found.rate,
            limits.measured(_THROUGHPUT, throughput),
            *found.others,
        ]
        if control:
            result = control.read(told.part("control"))
            result.check_beside(found)
            readings += (result.rate, *result.others)
        return readings


def _load(arguments: base.Arguments) -> _h2load.Load:
    return _h2load.Load(
        users=arguments["users"],
        think_time=arguments["think_time"],
        time=arguments["time"],
    )


def _control(arguments: base.Arguments) -> _h2load.Load | None:
    """Return the users who work beside the load, None without any."""
    users = arguments["control_users"]
    if not users:
        return None
    return dataclasses.replace(
        _load(arguments), users=users, of="h2load.control"
    )


def _bytes(arguments: base.Arguments) -> int:
    return t.cast(int, arguments["size_kib"]) << 10
