"""The page that the README shows, about a constructed run on a KVM host."""

import random
import re

from rally_vmperf.report import page as report_page
from tests.unit import made
from tests.unit.doc import pages
from tests.unit.doc import tasks

PICTURE = pages.SOURCE / "images" / "report.png"
#: The key in the PNG file of what the picture shows.
KEY = "Description"

REPETITIONS = 5
#: Metric -> unit, direction, value of bare metal, loss in percent.
METRICS = {
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
    "network.iperf3.from_peer.throughput": ("bit/s", "higher", 9.38e9, 7.9),
}
#: The standard deviation of repetitions in percent, by part.
_NOISE = {"cpu": 0.3, "memory": 1, "disk": 1.5, "network": 0.8}


def page():
    """Return the HTML page of the run, with the limits of the shipped task."""
    (subtask,) = tasks.render(tasks.MAIN, {"peer": tasks.PEER})["subtasks"]
    max_percent = subtask["sla"]["vmperf_overhead"]["max_percent"]
    limits = {"vmperf_overhead": {"max_percent": max_percent}}
    return report_page.standalone([made.run_of(_records(), limits)])


def shown(html):
    """Return what the picture of a page shows: its headline and figures."""
    headline = re.search(r'<p class="word">([^<]+)', html)[1]
    drawing = html.partition('<div class="dots"')[2].partition("</figure>")[0]
    words = re.findall(r"<(?:span|b)>([^<]+)</", drawing)
    return "\n".join([headline, *words])


def _records():
    """Return the records of a run with one guest."""
    generator = random.Random(1)  # equal in every run
    bare_metal = [_samples(generator, False) for _ in range(REPETITIONS)]
    records = made.records(REPETITIONS, warmup=0)
    for record in records:
        (condition,) = record["conditions"]
        condition["observations"]["values"] = _samples(generator, True)
        record["metrics"] = {
            name: {"unit": unit, "better": better, "scale": "ratio"}
            for name, (unit, better, _, _) in METRICS.items()
        }
        record["expected_metrics"] = list(METRICS)
        record["findings"] = []
        record["bare_metal"] = made.reference_document(
            "r740", "compute-1", {1: bare_metal}
        )
    return records


def _samples(generator, is_guest):
    """Return a repetition: the value of each metric in one machine."""
    samples = {}
    for name, (_, better, value, loss) in METRICS.items():
        change = loss / 100 * (-1 if better == "higher" else 1)
        factor = 1 + change if is_guest else 1
        noise = generator.gauss(0, _NOISE[name.partition(".")[0]]) / 100
        samples[name] = [value * factor * (1 + noise)]
    return samples
