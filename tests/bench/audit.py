"""Audits of simulated hosts: how often hosts are named, and at what cost.

``python -m tests.bench.audit`` prints how often an audit names a healthy host
and a slow one. ``python -m tests.bench.audit --cost`` writes the journals of
1,000 hosts with 20 metrics, and prints the CPU seconds and memory of the
command, and the size of the page.
"""

import argparse
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

from rally_vmperf.audit import contrasts
from rally_vmperf.audit import hosts
from rally_vmperf.audit import result
from rally_vmperf.measurement.comparison import limits
from rally_vmperf.measurement.samples import sample
from rally_vmperf.records import files
from rally_vmperf.records import journal
from tests.bench import table
from tests.unit import made

METRICS = tuple(
    sample.Metric(
        name=f"cpu.tool{index // 4}.m{index}.rate", unit="1/s", better="higher"
    )
    for index in range(20)
)
REPETITIONS = 6


@dataclasses.dataclass(frozen=True, kw_only=True)
class Fleet:
    """Simulated hosts of one class.

    :param noise: The relative standard deviation of repetitions.
    :param spread: The relative standard deviation of hosts.
    :param slow: The factor on the rate of one metric by host.
    :param noisy: The standard deviation of repetitions by host.
    """

    name: str
    hosts: int
    noise: float = 0.01
    spread: float = 0.005
    slow: collections.abc.Mapping[int, float] = dataclasses.field(
        default_factory=dict
    )
    noisy: collections.abc.Mapping[int, float] = dataclasses.field(
        default_factory=dict
    )

    def draw(self, random: numpy.random.Generator) -> list[hosts.Host]:
        """Return the results of all hosts."""
        return [
            hosts.Host(
                name=f"h{number}",
                sums={
                    hosts.Figure("", "m1.small", "", metric): self._draw_sums(
                        random, number, metric
                    )
                    for metric in METRICS
                },
            )
            for number in range(self.hosts)
        ]

    def _draw_sums(
        self, random: numpy.random.Generator, host: int, metric: sample.Metric
    ) -> contrasts.Sums:
        """Return the sums of a metric on a host."""
        is_slow = metric == METRICS[0]
        factor = self.slow.get(host, 1.0) if is_slow else 1.0
        noise = self.noisy.get(host, self.noise)
        logs = random.normal(0, self.spread) + random.normal(
            0, noise, REPETITIONS
        )
        values = 1000 * factor * numpy.exp(logs)
        return contrasts.sum_repetitions(metric, [[value] for value in values])


FLEETS = (
    Fleet(name="40 healthy hosts", hosts=40),
    Fleet(name="40 hosts that differ by 2 %", hosts=40, spread=0.02),
    Fleet(name="40 hosts, noise 5 %", hosts=40, noise=0.05),
    Fleet(name="2 healthy hosts", hosts=2),
    Fleet(name="one of 40 with noise 5 %", hosts=40, noisy={3: 0.05}),
    Fleet(name="one of 40 slower by 8 %", hosts=40, slow={3: 0.92}),
    Fleet(name="two of four slower by 12 %", hosts=4, slow={0: 0.88, 1: 0.88}),
    Fleet(name="two of four slower by 15 %", hosts=4, slow={0: 0.85, 1: 0.85}),
    Fleet(name="one of two slower by 10 %", hosts=2, slow={0: 0.9}),
)


def simulate(fleet: Fleet, trials: int, seed: int = 1) -> tuple[int, int]:
    """Return how many audits name all slow hosts, and a healthy one."""
    random = numpy.random.default_rng(seed)
    slow = {f"h{number}" for number in fleet.slow}
    detected, wrong = 0, 0
    for _ in range(trials):
        audit = result.audit(fleet.draw(random), limits.Limits({}))
        worse = {
            host_result.host.name
            for host_result in audit.results
            if host_result.worse
        }
        detected += worse >= slow
        wrong += bool(worse - slow)
    return detected, wrong


def print_simulations(trials: int) -> None:
    """Print a row for each fleet.

    :param trials: The number of audits of healthy hosts; others have a
        quarter.
    """
    rows: list[tuple[str, ...]] = [
        ("", "audits", "slow named", "healthy named")
    ]
    for fleet in FLEETS:
        number = trials if fleet is FLEETS[0] else max(1, trials // 4)
        detected, wrong = simulate(fleet, number)
        slow = f"{detected / number:.1%}" if fleet.slow else "-"
        rows.append((fleet.name, str(number), slow, f"{wrong / number:.2%}"))
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
    from rally_vmperf.cmd.audit import audit

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
    parser.add_argument("--trials", type=int, default=2000)
    parser.add_argument("--cost", type=int, nargs="?", const=1000)
    parsed = parser.parse_args()
    if parsed.cost:
        print_cost(parsed.cost)
    else:
        print_simulations(parsed.trials)


if __name__ == "__main__":
    main()
