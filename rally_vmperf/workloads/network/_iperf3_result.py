"""The results of iperf3 for one direction, in base units."""

import contextlib
import math

from rally_vmperf import sanitize
from rally_vmperf.measurement.samples import curves
from rally_vmperf.measurement.samples import sample
from rally_vmperf.workloads import base
from rally_vmperf.workloads import document
from rally_vmperf.workloads import output_bounds
from rally_vmperf.workloads import outputs
from rally_vmperf.workloads import sequence

#: Minimum share of the time of a complete run, and minimum share of the sent
#: datagrams that the number of the last received one must reach.
_MIN_SHARE = 0.9

#: Metric of the client or server -> its key, in percent of one CPU.
_CPU = {"client_cpu": "host_total", "server_cpu": "remote_total"}

#: The two concurrent directions of one run.
BIDIR = ("bidir.to_peer", "bidir.from_peer")


def _cpu_metrics(prefix: str) -> tuple[sample.Metric, ...]:
    """Return the metric definitions of the CPU time of both ends."""
    return tuple(
        sample.Metric(
            f"{prefix}.{name}",
            "%",
            "lower",
            scale="count",
            additive=False,
            # From 3.16 on each stream has a thread.
            bounds=(0.0, 13000.0),
        )
        for name in _CPU
    )


_TCP, _UDP = "network.iperf3.{}", "network.iperf3.{}.udp"
#: The metrics of each protocol; those of the CPU time are the last ones.
_METRICS: dict[str, tuple[sample.Metric, ...]] = {
    "tcp": (
        sample.Metric(f"{_TCP}.throughput", "bit/s", "higher"),
        sample.Metric(f"{_TCP}.retransmits", "1", "lower", scale="count"),
        *_cpu_metrics(_TCP),
    ),
    "udp": (
        sample.Metric(f"{_UDP}.throughput", "bit/s", "higher"),
        sample.Metric(f"{_UDP}.jitter", "s", "lower", scale="count"),
        sample.Metric(f"{_UDP}.loss", "%", "lower", scale="count"),
        *_cpu_metrics(_UDP),
    ),
}


class Report:
    """The JSON report of a run, for one of its directions.

    :param direction: The direction, after ``bidir.`` if the run had two
        concurrent directions.
    :raises base.WorkloadError: If the output is not a report, or the run did
        not have two directions.
    """

    def __init__(
        self,
        direction: str,
        arguments: base.Arguments,
        result: base.CommandResult,
    ) -> None:
        self.direction = direction
        self.arguments = arguments
        self.result = result
        # 3.16 and 3.17 can print their report twice.
        self.document = document.Document.parse_last(result.stdout, "iperf3")
        self.output = outputs.Reader(f"iperf3: {direction}")
        suffix = "_bidir_reverse" if direction == BIDIR[1] else ""
        self._interval_sum = f"sum{suffix}"
        self.end = self.document.at("end")
        self.sent = self.end.at(f"sum_sent{suffix}")
        self.received = self.end.at(f"sum_received{suffix}")
        bidir = self.document.find("start", "test_start", "bidir")
        # Old versions do not report this option.
        if direction in BIDIR and (
            bidir not in (None, 1) or not self.received.mapping()
        ):
            raise outputs.Reader("iperf3: bidir").error(
                "did not run in two directions"
            )

    def streams(self) -> list[document.Document]:
        """Return the results of the streams of the direction as a list."""
        streams = [
            self.end.at("streams", number)
            for number in range(len(self.end.array("streams")))
        ]
        if self.direction not in BIDIR:
            return streams
        is_sent = self.direction == BIDIR[0]
        return [s for s in streams if s.find("sender", "sender") is is_sent]

    def intervals(self) -> list[document.Document]:
        """Return the interval sums after the omitted seconds as a list."""
        sums = (
            self.document.at("intervals", number, self._interval_sum)
            for number in range(len(self.document.array("intervals")))
        )
        return [part for part in sums if part.find("omitted") is not True]

    def received_bytes(self) -> float:
        """Return the number of received bytes after the omitted seconds."""
        factors = self.received.numbers("bits_per_second", "seconds")
        return math.prod(factors) / 8

    def samples(self) -> list[sample.Sample]:
        """Return the samples of received data as a list.

        :raises base.WorkloadError: If the run ended early, or a value is not
            valid.
        """
        duration = self.received.number("seconds")
        time = self.arguments["time"]
        if duration < _MIN_SHARE * time:
            raise self.output.error(
                f"ended after {duration:g} s of {time:g} s"
            )
        readings = (
            self._datagram_figures()
            if self.arguments["protocol"] == "udp"
            else [
                self.received.number("bits_per_second"),
                self.sent.number("retransmits"),
            ]
        )
        definitions = metrics(self.direction, self.arguments)
        if len(definitions) > len(readings):
            utilization = self.end.at("cpu_utilization_percent")
            readings += utilization.numbers(*_CPU.values())
        return outputs.create_samples(definitions, readings)

    def _datagram_figures(self) -> list[float]:
        """Return rate, jitter and loss at the receiver as floats.

        The receiver does not know the last datagram, so that iperf3 does not
        count losses at the end: if nothing arrived, it does not report a loss.

        :raises base.WorkloadError: If the loss cannot be determined.
        """
        sent = self.sent.number("packets")
        numbered, rate = self.received.numbers("packets", "bits_per_second")
        if not (rate and numbered):
            raise base.WorkloadError(
                f"{self.output.subject}: none of {sent:g} datagrams arrived; "
                "check that the server accepts UDP and datagrams of this size"
            )
        if numbered < _MIN_SHARE * sent:
            raise outputs.Reader(f"{self.output.subject}:").error(
                f"none of the last {sent - numbered:g} of {sent:g} datagrams "
                "arrived"
            )
        lost, jitter = self.received.numbers("lost_packets", "jitter_ms")
        return [rate, jitter / 1e3, lost / numbered * 100]

    def progress(self) -> curves.ProgressCurve | None:
        """Return a curve of the transferred bytes over time, or None.

        Reports have times relative to the start of the connection, which is
        not reported: the overheads before and after it are assumed to be
        equal.
        """
        omit = self.arguments["omit"]
        duration = self.received.number("seconds")
        overhead = self.result.ended - self.result.started - omit - duration
        begin = self.result.started + overhead / 2 + omit
        points = [(begin, 0.0)]
        for interval in self.intervals():
            transferred = points[-1][1] + interval.number("bytes")
            points.append((begin + interval.number("end"), transferred))
        throughput, *_ = metrics(self.direction, self.arguments)
        return curves.build_curve((throughput.name,), points)

    def series(self) -> list[sample.Series]:
        """Return a list with the throughput series; empty for one report."""
        throughput, *_ = metrics(self.direction, self.arguments)
        # The samples are valid without the series.
        with contextlib.suppress(base.WorkloadError, ValueError):
            curve = self.progress()
            if curve is not None and len(curve.points) > 2:
                return [
                    sample.Series(metric=throughput, points=curve.rates(8))
                ]
        return []


def metrics(
    direction: str, arguments: base.Arguments
) -> tuple[sample.Metric, ...]:
    """Return the metric definitions of a direction.

    Concurrent directions share the CPU time, which is not one of them.
    """
    definitions = _METRICS[arguments["protocol"]]
    if not arguments["cpu"] or direction in BIDIR:
        definitions = definitions[: -len(_CPU)]
    return sequence.name_metrics(definitions, direction)


def raise_reported_error(result: base.CommandResult, protocol: str) -> None:
    """Raise the error that iperf3 reports on standard output."""
    if output_bounds.JSON.describe_excess(result):
        return
    try:
        *_, report = document.Document.parse_all(result.stdout, "iperf3")
    except base.WorkloadError:
        return
    reported = report.find("error")
    if isinstance(reported, str):
        transports = ", by TCP and by UDP" if protocol == "udp" else ""
        raise base.WorkloadError(
            f"iperf3: {result.name.removesuffix('-udp')}: "
            f"{sanitize.line(reported)}; check that the server is reachable "
            f"at this port{transports}"
        )
