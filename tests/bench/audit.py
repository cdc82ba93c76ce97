# SPDX-License-Identifier: Apache-2.0
"""Audits of simulated hosts: how often hosts are named, and at what cost.

``python -m tests.bench.audit`` prints how often an audit names slow hosts, and
others, decides on them, and passes. ``python -m tests.bench.audit --cost``
writes the journals of 1,000 hosts with 20 metrics, and prints the CPU seconds
and memory of the command, and the size of the page.
"""

import argparse
import collections
import collections.abc
import contextlib
import dataclasses
import io
import pathlib
import resource
import tempfile
import time
import typing as t

import numpy

from rally_vmperf.audit import hosts
from rally_vmperf.audit import result
from rally_vmperf.measurement.comparison import medians
from rally_vmperf.measurement.comparison import verdict
from rally_vmperf.measurement.samples import sample
from rally_vmperf.records import files
from rally_vmperf.records import journal
from tests.bench import shipped_task
from tests.bench import table
from tests.unit import made

METRICS = tuple(
    sample.Metric(
        name=f"cpu.tool{index // 4}.m{index}.rate", unit="1/s", better="higher"
    )
    for index in range(20)
)
REPETITIONS = 6


TASK = shipped_task.TASK.with_name("capacity-audit.yaml")


def spread_noises(number: int) -> tuple[float, ...]:
    """Return the noises of so many metrics: 1 to 2 %."""
    return tuple(map(float, numpy.linspace(0.01, 0.02, number)))


@dataclasses.dataclass(frozen=True, kw_only=True)
class Fleet:
    """Simulated hosts of one class; all metrics that it limits decide.

    :param noises: The relative standard deviations of repetitions by metric.
    :param spread: The relative standard deviation of hosts.
    :param odd: The factor on the rate of the first metric by host.
    :param erratic: The standard deviation of repetitions by host.
    :param limited: The names of the metrics with a limit.
    """

    name: str
    hosts: int
    metrics: tuple[sample.Metric, ...] = METRICS
    noises: tuple[float, ...] = spread_noises(len(METRICS))
    spread: float = 0.005
    odd: collections.abc.Mapping[int, float] = dataclasses.field(
        default_factory=dict
    )
    erratic: collections.abc.Mapping[int, float] = dataclasses.field(
        default_factory=dict
    )
    limited: frozenset[str] = frozenset(metric.name for metric in METRICS)

    @property
    def slow(self) -> set[str]:
        """The names of the hosts that are slower than the others."""
        return {f"h{host}" for host, factor in self.odd.items() if factor < 1}

    def draw(self, random: numpy.random.Generator) -> list[hosts.Host]:
        """Return the results of all hosts."""
        return [
            hosts.Host(
                name=f"h{number}",
                limited=self.limited,
                means={
                    hosts.HostFigure(
                        "", "m1.small", "", metric
                    ): self._draw_mean(random, number, metric, noise)
                    for metric, noise in zip(
                        self.metrics, self.noises, strict=True
                    )
                },
            )
            for number in range(self.hosts)
        ]

    def _draw_mean(
        self,
        random: numpy.random.Generator,
        host: int,
        metric: sample.Metric,
        noise: float,
    ) -> medians.HostMean:
        """Return the mean of a metric on a host."""
        is_odd = metric is self.metrics[0]
        factor = self.odd.get(host, 1.0) if is_odd else 1.0
        logs = random.normal(0, self.spread) + random.normal(
            0, self.erratic.get(host, noise), REPETITIONS
        )
        values = 1000 * factor * numpy.exp(logs)
        return medians.average(metric, [[value] for value in values])


def list_shipped() -> list[Fleet]:
    """Return healthy hosts with the metrics and limits of the task.

    The bandwidth of fio is proportional to its rate of requests.
    """
    task = shipped_task.read_task(TASK, all_metrics=True, baseline="r740")
    metrics = tuple(
        metric
        for metric in task.metrics
        if metric.scale == "ratio"
        and not (
            metric.name.startswith("disk.")
            and metric.name.endswith(".bandwidth")
        )
    )
    noises = {
        "noise 1 to 2 %": spread_noises(len(metrics)),
        "usual noise": tuple(
            shipped_task.find_noise("usual", metric) for metric in metrics
        ),
    }
    return [
        Fleet(
            name=f"{number} healthy hosts, shipped task, {name}",
            hosts=number,
            metrics=metrics,
            noises=of_metrics,
            limited=frozenset(task.limits),
        )
        for name, of_metrics in noises.items()
        for number in (5, 10, 20)
    ]


FLEETS = (
    *(
        Fleet(name=f"{number} healthy hosts", hosts=number)
        for number in (2, 3, 5, 10, 20, 40)
    ),
    *list_shipped(),
    Fleet(name="40 hosts that differ by 2 %", hosts=40, spread=0.02),
    Fleet(name="40 hosts, noise 5 %", hosts=40, noises=(0.05,) * 20),
    Fleet(name="one of 3 faster by 50 %", hosts=3, odd={0: 1.5}),
    Fleet(name="one of 5 faster by 50 %", hosts=5, odd={0: 1.5}),
    Fleet(name="one of 10 twice as fast", hosts=10, odd={0: 2.0}),
    Fleet(name="of 5: -50 %, -20 %", hosts=5, odd={0: 0.5, 1: 0.8}),
    Fleet(name="of 10: -90 %, -20 %", hosts=10, odd={0: 0.1, 1: 0.8}),
    Fleet(name="of 20: -90 %, -15 %", hosts=20, odd={0: 0.1, 1: 0.85}),
    Fleet(name="two of 4: -8 %", hosts=4, odd={0: 0.92, 1: 0.92}),
    Fleet(name="two of 4: -10 %", hosts=4, odd={0: 0.9, 1: 0.9}),
    Fleet(name="one of 3: -10 %", hosts=3, odd={0: 0.9}),
    Fleet(name="one of 40: -8 %", hosts=40, odd={3: 0.92}),
    Fleet(name="one of 2: -10 %", hosts=2, odd={0: 0.9}),
    Fleet(name="one of 10 with noise 20 %", hosts=10, erratic={0: 0.2}),
)


def simulate(
    fleet: Fleet, trials: int, seed: int = 1
) -> collections.Counter[str]:
    """Return how many audits name hosts, decide on them, and pass."""
    random = numpy.random.default_rng(seed)
    odd = {f"h{number}" for number in (*fleet.odd, *fleet.erratic)}
    counts: collections.Counter[str] = collections.Counter()
    for _ in range(trials):
        audit = result.audit(fleet.draw(random), verdict.Limits({}))
        worse = {
            host_result.host.name
            for host_result in audit.results
            if host_result.status == "worse"
        }
        counts["slow"] += worse >= fleet.slow
        counts["healthy"] += bool(worse - fleet.slow)
        counts["differ"] += audit.counts["differ"] > 0
        counts["decided"] += not any(
            host_result.deciding
            for host_result in audit.results
            if host_result.host.name not in odd
        )
        counts["passed"] += audit.passed
    return counts


def print_simulations(trials: int) -> None:
    """Print a row for each fleet.

    :param trials: The number of audits of each fleet.
    """
    titles = {
        "slow": "slow named",
        "healthy": "others named",
        "differ": "differ",
        "decided": "others decided",
        "passed": "exit 0",
    }
    rows: list[tuple[str, ...]] = [(f"% of {trials} audits", *titles.values())]
    for fleet in FLEETS:
        counts = simulate(fleet, trials)
        cells = [f"{100 * counts[column] / trials:.1f}" for column in titles]
        if not fleet.slow:
            cells[0] = "-"
        rows.append((fleet.name, *cells))
    for line in table.padded(rows):
        print(line)


def write_journals(directory: pathlib.Path, number: int) -> None:
    """Write a journal with six repetitions for each host."""
    random = numpy.random.default_rng(1)
    for host in range(number):
        name = f"compute{host:04}"
        reference = files.write_machines(
            directory, {"g1": describe_guest(name)}, print
        )
        factors = numpy.exp(random.normal(0, 0.005, len(METRICS)))
        if host == 7:
            factors *= 0.85
        written = journal.Journal(directory, f"run-{host:04}")
        for repetition in range(1, REPETITIONS + 1):
            values = (
                1000
                * factors
                * numpy.exp(random.normal(0, 0.01, len(METRICS)))
            )
            samples = {
                metric: [float(value)]
                for metric, value in zip(METRICS, values, strict=True)
            }
            written.append(
                made.record(
                    task="audit",
                    run=f"run-{host:04}",
                    number=repetition,
                    planned_repetitions=REPETITIONS,
                    started_at=f"2026-03-04T05:{repetition:02}:00+00:00",
                    machines=(made.machine("g1", host=name),),
                    machines_file=reference,
                    expected_metrics=tuple(METRICS),
                    conditions=[made.build_condition(repetition, samples)],
                )
            )


def describe_guest(host: str) -> dict[str, t.Any]:
    """Return the facts of a guest on a host."""
    return {
        "nova": {
            "host": host,
            "host_vcpus": 64,
            "flavor": {
                "name": "m1.small",
                "vcpus": 1,
                "memory_mib": 1024,
                "disk_gib": 10,
            },
            "hypervisor_version": "QEMU 8.2.2",
        },
        "fingerprint": {"cpu_model": "Intel Xeon Gold 6338"},
        "tools": {},
    }


def print_cost(number: int) -> None:
    """Print the CPU seconds and memory of an audit, and its page's size."""
    from rally_vmperf.cmd import audit

    with tempfile.TemporaryDirectory() as name:
        directory = pathlib.Path(name)
        (directory / "rally.conf").write_text(
            f"[database]\nconnection = sqlite:///{directory}/rally.sqlite\n"
        )
        write_journals(directory, number)
        page = directory / "page.html"
        app = argparse.Namespace(stdout=io.StringIO(), stderr=io.StringIO())
        command = audit.Audit(app, None)
        parsed = command.get_parser("audit").parse_args(
            [name, "--html", str(page), "--config-file", f"{name}/rally.conf"]
        )
        start = time.process_time()
        with contextlib.redirect_stderr(io.StringIO()):
            code = command.run(parsed)
        seconds = time.process_time() - start
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        size = page.stat().st_size / 1000
        print(app.stdout.getvalue()[:400])
        print(app.stderr.getvalue())
        print(
            f"{number} hosts, {len(METRICS)} metrics: exit code {code}, "
            f"{seconds:.1f} CPU s, {memory:.0f} MiB, page {size:.0f} kB"
        )


def main() -> None:
    """Print the tables that the options select."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=500)
    parser.add_argument("--cost", type=int, nargs="?", const=1000)
    parsed = parser.parse_args()
    if parsed.cost:
        print_cost(parsed.cost)
    else:
        print_simulations(parsed.trials)


if __name__ == "__main__":
    main()
