# SPDX-License-Identifier: Apache-2.0
"""The pages in the pictures of the documentation."""

import collections.abc
import dataclasses
import pathlib
import random
import re

import numpy

from rally_vmperf.audit import page as audit_page
from rally_vmperf.audit import result
from rally_vmperf.measurement.comparison import verdict
from rally_vmperf.measurement.samples import sample
from rally_vmperf.questions import source_judge
from rally_vmperf.records import model
from rally_vmperf.report import page as report_page
from tests.bench import audit
from tests.bench import partial_load
from tests.unit import made
from tests.unit.doc import pages
from tests.unit.doc import tasks
from tests.unit.questions import golden_runs

#: The key in the PNG file of what a picture shows.
KEY = "Description"

REPETITIONS = 5
#: The value of bare metal and the loss in percent by metric.
METRICS = {
    sample.Metric(name, unit, better): (value, loss)
    for name, (unit, better, value, loss) in {
        "cpu.sysbench.rate": ("events/s", "higher", 3421.0, 1.1),
        "cpu.bzip2.compress_time": ("s", "lower", 6.12, 2.3),
        "cpu.bzip2.decompress_time": ("s", "lower", 2.71, 2.0),
        "memory.mbw.memcpy.bandwidth": ("B/s", "higher", 9.84e9, 4.6),
        "memory.mbw.dumb.bandwidth": ("B/s", "higher", 8.31e9, 5.2),
        "disk.fio.read.bandwidth": ("B/s", "higher", 2.31e9, 3.1),
        "disk.fio.write.bandwidth": ("B/s", "higher", 1.42e9, 6.4),
        "disk.fio.randread.iops": ("ops/s", "higher", 48210.0, 10.8),
        "disk.fio.randread.latency_p50": ("s", "lower", 0.000612, 12.1),
        "disk.fio.randwrite.iops": ("ops/s", "higher", 39870.0, 26.3),
        "disk.fio.randwrite.latency_p50": ("s", "lower", 0.000741, 35.7),
        "network.iperf3.to_peer.throughput": ("bit/s", "higher", 9.38e9, 4.4),
        "network.iperf3.from_peer.throughput": (
            "bit/s",
            "higher",
            9.38e9,
            7.9,
        ),
    }.items()
}
#: The standard deviation of repetitions in percent, by part.
_NOISE = {"cpu": 0.3, "memory": 1, "disk": 1.5, "network": 0.8}


#: The loads of a picture in percent.
LOADS = (10, 30, 60)
#: Variant -> change of rates in percent, of the network and of other parts.
VARIANTS = {
    "e1000": (-55, 0),
    "virtio": (0, 0),
    "virtio, 4 queues": (12, -0.5),
}


def show_figures(html):
    """Return the headline of a page and the words of its first drawing."""
    title = re.search(r"<h2>([^<]+)", html)
    headline = re.search(r'<p class="word">([^<]+)', html) or title
    drawing = html.partition('<div class="dots')[2].partition("</figure>")[0]
    texts = re.findall(r"<(?:span|b)>([^<]+)</", drawing)
    return "\n".join([headline[1], *texts])


def show_time_lines(html):
    """Return the words and the lines of the charts of migrations."""
    _, _, after = html.partition("<h3>Rates over time</h3>")
    drawings, _, _ = after.partition("<h3>")
    matches = re.findall(
        r">([^<>]*\w[^<>]*)<|<path[^>]* d=\"([^\"]+)", drawings
    )
    return "\n".join(word or line for word, line in matches)


@dataclasses.dataclass(frozen=True)
class Picture:
    """A picture of a part of a page.

    :param name: The name of the file, without its suffix.
    :param page: The page of the documentation that shows the picture.
    :param create: The function that returns the HTML page.
    :param data: The origin of the data, which the caption names.
    :param show: The function that returns the content of the picture.
    :param start: The selector of the first element; None is the top of the
        page.
    :param end: The selector of the last element.
    :param width: The width of the page in pixels.
    :param scheme: The colours of the page, light or dark.
    """

    name: str
    page: str
    create: collections.abc.Callable[[], str]
    data: str = "constructed data"
    show: collections.abc.Callable[[str], str] = show_figures
    start: str | None = None
    end: str = "figure"
    width: int = 1000
    scheme: str = "light"

    @property
    def path(self) -> pathlib.Path:
        """The path of the file."""
        return pages.SOURCE / "images" / f"{self.name}.png"


def create_overhead():
    """Return the page of a run with the limits of the shipped task."""
    (subtask,) = tasks.render(tasks.MAIN, {"peer": tasks.PEER})["subtasks"]
    max_percent = subtask["sla"]["vmperf_overhead"]["max_percent"]
    criteria = {"vmperf_overhead": {"max_percent": max_percent}}
    return report_page.standalone([made.run_of(_records(), criteria)])


def create_density():
    """Return the page of a run with one to three guests."""
    run = made.density_run(made.density_records(), made.DENSITY_LIMITS)
    return report_page.standalone([run])


def create_load():
    """Return the page of a run with three loads, from simulated queues."""
    generator = numpy.random.default_rng(1)
    metrics = {
        load: [
            sample.Metric(f"cpu.sysbench.load-{load}.{name}", unit, better)
            for name, unit, better in (
                ("rate", "events/s", "higher"),
                ("latency_p95", "s", "lower"),
            )
        ]
        for load in LOADS
    }
    every = tuple(metric for each in metrics.values() for metric in each)
    vcpus_per_cpu = {"ratio": [1, 2, 4], "host_cpus": 4, "vcpus": 1}
    records = []
    for record in made.density_records():
        levels = []
        for guests in partial_load.LEVELS:
            values = {}
            for load in LOADS:
                measured = partial_load.simulate(
                    generator, guests, load / 100, partial_load.SECONDS
                )
                values |= dict(zip(metrics[load], measured, strict=True))
            levels.append(made.level(record.repetition.number, guests, values))
        records.append(
            made.with_fields(
                record,
                conditions=tuple(levels),
                metrics=every,
                expected_metrics=every,
                findings=(),
                options={"levels": vcpus_per_cpu},
                workloads=tuple(
                    model.RecordedWorkload(
                        name="sysbench",
                        label=f"load-{load}",
                        arguments={},
                        offered_load=f"{load} % load",
                        load_label=f"load-{load}",
                    )
                    for load in LOADS
                ),
            )
        )
    max_percent = {"*.rate": 5, "*.latency_p95": 50}
    criteria = {"vmperf_degradation": {"max_percent": max_percent}}
    return report_page.standalone([made.density_run(records, criteria)])


def create_tuning():
    """Return the page of a run with three models of network interfaces."""
    generator = random.Random(1)  # equal in every run
    records = [
        made.with_fields(
            record,
            question="tuning",
            options={
                "variants": [{"name": name} for name in VARIANTS],
                "reference": "e1000",
                "idle_guests": "running",
            },
            conditions=tuple(
                _vary(record.repetition.conditions[0], name, generator)
                for name in VARIANTS
            ),
        )
        for record in made.records(REPETITIONS, warmup=0)
    ]
    return report_page.standalone([made.run_of(records, question="tuning")])


def create_audit():
    """Return the page of an audit of 40 hosts, of which one is slow."""
    fleet = audit.Fleet(name="", hosts=40, odd={3: 0.85}, noises=(0.01,) * 20)
    hosts = fleet.draw(numpy.random.default_rng(1))
    return audit_page.render(result.audit(hosts, verdict.Limits({})))


def create_event():
    """Return the page of a run of the embedded cloud."""
    run = source_judge.judge_by_file(
        golden_runs.source("event"), str(golden_runs.limits("event"))
    )
    return report_page.standalone([source_judge.create_report(run)])


PICTURES = (
    Picture("report", "README.rst", create_overhead),
    Picture(
        "report-phone",
        "doc/source/report.rst",
        create_overhead,
        width=400,
        scheme="dark",
    ),
    Picture("density", "doc/source/density-run.rst", create_density),
    Picture(
        "load",
        "doc/source/load.rst",
        create_load,
        data="simulated queues",
    ),
    Picture("tuning", "doc/source/tuning.rst", create_tuning),
    Picture(
        "event",
        "doc/source/events.rst",
        create_event,
        data="an emulated guest",
        show=show_time_lines,
        start="h3:has(+ .legend)",
        end=".panels.wide + .aside",
    ),
    Picture("audit", "doc/source/audit.rst", create_audit),
)


def _records():
    """Return the records of a run with one guest."""
    generator = random.Random(1)  # equal in every run
    bare_metal = made.build_reference(
        [_samples(generator, False) for _ in range(REPETITIONS)]
    )
    return [
        made.with_condition(
            made.with_fields(
                record,
                metrics=tuple(METRICS),
                expected_metrics=tuple(METRICS),
                findings=(),
                bare_metal=made.bare_metal({1: bare_metal}),
            ),
            observations=made.observations(["g1"], _samples(generator, True)),
        )
        for record in made.records(REPETITIONS, warmup=0)
    ]


def _vary(condition, variant, generator):
    """Return a condition with the rates of a variant."""

    def vary(name, value, _):
        change = VARIANTS[variant][not name.startswith("network.")]
        return value * (1 + change / 100 + generator.gauss(0, 0.01))

    return dataclasses.replace(
        made.vary(condition, vary), axes={"variant": variant}
    )


def _samples(generator, is_guest):
    """Return a repetition: the value of each metric in one machine."""
    samples = {}
    for metric, (value, loss) in METRICS.items():
        change = loss / 100 * (-1 if metric.better == "higher" else 1)
        factor = 1 + change if is_guest else 1
        noise = generator.gauss(0, _NOISE[metric.name.partition(".")[0]])
        samples[metric] = [value * factor * (1 + noise / 100)]
    return samples
