"""Network workload: messages to a server, and its answers."""

import typing as t

from rally_vmperf.measurement.samples import histogram
from rally_vmperf.measurement.samples import sample
from rally_vmperf.workloads import base
from rally_vmperf.workloads import document
from rally_vmperf.workloads import output_bounds
from rally_vmperf.workloads import outputs
from rally_vmperf.workloads import schemas
from rally_vmperf.workloads import tools

#: Measured one after the other: with a server that all machines share, and
#: with one that each has for itself.
_COMMANDS = ("shared", "own")

#: Latencies that are looked at; more different ones no run has.
_MOST = 100_000


class Courier(base.Workload):
    """Sends a file of yours, waits for the answer, and sends it again."""

    name = "courier"
    title = "Network: messages and answers"
    part = "network"
    OUTPUT_BOUNDS = output_bounds.JSON
    ARGUMENTS = schemas.schema(
        time=schemas.integer("Seconds of each command", 1, 3600, default=10),
        message=schemas.path(
            "File that is sent, on the machine that runs this",
            default="/etc/services",
        ),
    )
    TOOLS = (
        tools.define(
            "python3",
            minimum_version=tools.MinimumVersion(
                version="3.8",
                reason="it has no assignment expressions",
                remedy="install a newer one",
            ),
        ),
    )
    SENSITIVE_TO = frozenset({"kernel", "mitigations", "governor"})

    def files(self, arguments: base.Arguments) -> tuple[base.File, ...]:
        """Return the two programs of this package, and the operator's file."""
        programs = tuple(
            base.File(name=name, package="acme_workloads.programs", path=name)
            for name in ("client.py", "server.py")
        )
        return (
            *programs,
            base.File(name="message", path=arguments["message"]),
        )

    def needs(self, arguments: base.Arguments) -> frozenset[str]:
        """Return the peer, on which the servers run."""
        return frozenset({"peer"})

    def ports(self, arguments: base.Arguments) -> base.Ports:
        """Return one for all machines, and one for each of them."""
        return base.Ports(shared=1, own=1)

    def metrics(self, arguments: base.Arguments) -> tuple[sample.Metric, ...]:
        """Return those of both commands."""
        return tuple(
            metric
            for name in _COMMANDS
            for metric in (
                _rate(name),
                _connecting(name),
                *sample.percentiles(_latency(name)),
            )
        )

    def commands(
        self, arguments: base.Arguments, endpoints: base.Endpoints
    ) -> tuple[base.Command, ...]:
        """Return a client of each of the two servers.

        :raises base.WorkloadError: when there is no peer
        """
        if not endpoints.peer:
            raise base.WorkloadError("courier needs a peer; name one")
        ((shared,), (own,)) = endpoints.shared_ports, endpoints.own_ports
        return (
            _command(
                "shared",
                arguments,
                endpoints.peer,
                _server(endpoints, shared, "many"),
            ),
            _command(
                "own",
                arguments,
                endpoints.peer,
                _server(endpoints, own, "one"),
            ),
        )

    def parse(
        self, arguments: base.Arguments, result: base.CommandResult
    ) -> list[sample.Reading]:
        """Return values, a distribution and a series of a command."""
        return _read(result.name, result.stdout)

    def work_done(
        self, arguments: base.Arguments, result: base.CommandResult
    ) -> base.Work | None:
        """Return how many messages were answered."""
        told = document.Document(base.check_result(result).stdout, "courier")
        amount = sum(told.number("tenths", place) for place in range(10))
        return base.Work(amount=amount, unit="ops")


def _rate(name: str) -> sample.Metric:
    # More is better: the rates of several guests add up.
    return sample.Metric(
        name=f"network.courier.{name}.rate", unit="ops/s", better="higher"
    )


def _connecting(name: str) -> sample.Metric:
    return sample.Metric(
        name=f"network.courier.{name}.connect_time",
        unit="s",
        better="lower",
        additive=False,
    )


def _latency(name: str) -> sample.Metric:
    return sample.Metric(
        name=f"network.courier.{name}.latency", unit="s", better="lower"
    )


def _server(
    endpoints: base.Endpoints, port: int, clients: t.Literal["one", "many"]
) -> base.Server:
    return base.Server(
        on="peer",
        # Python does not find a relative path below a private directory.
        argv=(
            *("python3", "/proc/self/cwd/server.py"),
            *(endpoints.listen_address, f"{port}"),
        ),
        port=port,
        prepared_files=("server.py",),
        lifetime="repetition" if clients == "many" else "command",
        clients=clients,
    )


def _command(
    name: str, arguments: base.Arguments, peer: str, server: base.Server
) -> base.Command:
    time = arguments["time"]
    return base.Command(
        name=name,
        argv=(
            *("python3", "client.py", peer, f"{server.port}"),
            *(f"{time}", "message"),
        ),
        timeout=2 * time + 60,
        seconds=time,
        server=server,
    )


def _read(name: str, text: str) -> list[sample.Reading]:
    """Return what the client told.

    :raises base.WorkloadError: when it is not what the client prints
    """
    told = document.Document(text, "courier")
    seconds = told.number("seconds")
    tenths = [told.number("tenths", place) for place in range(10)]
    pairs = told.find("latencies")
    if not (isinstance(pairs, list) and 0 < len(pairs) < _MOST):
        raise base.WorkloadError(
            "courier: there are no latencies; look at the raw output"
        )
    counted = [
        (
            # A clock that stood still for a microsecond is no latency of 0.
            max(told.number("latencies", place, 0), 0.5) / 1e6,
            int(told.number("latencies", place, 1)),
        )
        for place in range(len(pairs))
    ]
    answers = sum(count for _, count in counted)
    if not (seconds > 0 and answers == sum(tenths)):
        raise base.WorkloadError(
            f"courier: {answers} latencies of {sum(tenths):g} answers in "
            f"{seconds:g} s; look at the raw output"
        )
    try:
        return [
            outputs.create_sample(_rate(name), answers / seconds),
            outputs.create_sample(_connecting(name), told.number("connect")),
            sample.Distribution(
                metric=_latency(name),
                histogram=histogram.Histogram.of(counted),
            ),
            sample.Series(
                metric=_rate(name),
                points=tuple(
                    ((place + 1) * seconds / 10, count / seconds * 10)
                    for place, count in enumerate(tenths)
                ),
            ),
        ]
    except ValueError as error:
        raise base.WorkloadError(
            f"courier: {error}; look at the raw output"
        ) from error
