"""The size of a large report page, and the CPU time of drawing it.

``python -m tests.bench.report_page`` prints both for the run of the judging
benchmark, as records: 100 metrics, 30 repetitions and 16 guests. Judging is
not included. The exit code is 1 if a limit is exceeded.
"""

import argparse
import pathlib
import time

from rally_vmperf.report import page
from tests.bench import judging
from tests.unit import made

#: The limits in bytes and in CPU seconds.
MAX_BYTES, MAX_SECONDS = 2_000_000, 3.0


def create_records():
    """Return the records of the judging benchmark, as a list."""
    repetitions = judging.run()
    metrics = {
        metric.name: {"unit": metric.unit, "better": metric.better}
        for metric in judging.metrics(judging.METRICS)
    }
    (first,) = repetitions[0].conditions
    copies = {
        judging.GUESTS: [
            _list_samples(observations)
            for observations in first.reference.repetitions
        ]
    }
    return [
        made.record(
            repetition=repetition.number,
            planned_repetitions=judging.REPETITIONS,
            shape={
                "vcpus": 1,
                "memory_mib": 1024,
                "copies": judging.GUESTS,
            },
            machines=[made.machine_entry(name) for name in repetition.hosts],
            metrics={
                name: {**meaning, "scale": "ratio"}
                for name, meaning in metrics.items()
            },
            expected_metrics=list(metrics),
            reference=made.reference_document("bare", "host", copies),
            conditions=[
                made.condition(
                    machines=list(repetition.hosts),
                    samples=_list_samples(
                        repetition.conditions[0].observations
                    ),
                    reference_copies=judging.GUESTS,
                )
            ],
        )
        for repetition in repetitions
    ]


def _list_samples(observations):
    """Return the values of each metric as a dict of lists."""
    samples = {}
    for observation in observations:
        samples.setdefault(observation.sample.metric.name, []).append(
            observation.sample.value
        )
    return samples


def draw(records):
    """Return the page of a run as text, and the CPU seconds of drawing it."""
    run = made.run_of(
        records, {"vmperf_overhead": {"max_percent": {"cpu.*": 10}}}
    )
    began = time.process_time()
    html = page.standalone([run])
    return html, time.process_time() - began


def main():
    """Print the size and the CPU seconds; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", help="file for the page")
    parsed = parser.parse_args()
    html, seconds = draw(create_records())
    size = len(html.encode())
    if parsed.output:
        pathlib.Path(parsed.output).write_text(html)
    print(
        f"{judging.METRICS} metrics x {judging.REPETITIONS} repetitions x "
        f"{judging.GUESTS} guests: {size / 1e6:.2f} MB, {seconds:.1f} CPU s"
    )
    return int(size > MAX_BYTES or seconds > MAX_SECONDS)


if __name__ == "__main__":
    raise SystemExit(main())
