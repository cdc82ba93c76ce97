# SPDX-License-Identifier: Apache-2.0
"""The size of large report pages, and the CPU time of drawing them.

``python -m tests.bench.report_page`` prints both for a run of each question:
of overhead that of the judging benchmark, of density with 1 to 16 guests, and
of tuning with 10 variants, each of 100 metrics and 30 repetitions. Judging is
not included; that of density takes a minute. The exit code is 1 if a limit is
exceeded.
"""

import argparse
import collections.abc
import gc
import pathlib
import random
import time

from rally_vmperf.records import model
from rally_vmperf.report import page
from tests.bench import judging
from tests.unit import made

#: The limits in bytes and in CPU seconds.
MAX_BYTES, MAX_SECONDS = 2_000_000, 3.0
VARIANTS = 10
LIMITS = {
    "overhead": {"vmperf_overhead": {"max_percent": {"cpu.*": 10}}},
    "density": {"vmperf_degradation": {"max_percent": {"cpu.*": 60}}},
    "tuning": {
        "vmperf_tuning": {
            "min_gain_percent": {
                f"variant-g{number}": {"*": -5}
                for number in range(2, VARIANTS + 1)
            }
        }
    },
}


def create_overhead():
    """Return the records of the judging benchmark, as a list."""
    return [made.record_of(measured) for measured in judging.run()]


def create_density():
    """Return the records of 1 to 16 guests on a host, as a list."""
    generator = random.Random(1)
    levels = range(1, judging.GUESTS + 1)
    guests = [f"g{number}" for number in levels]
    references = {
        level: made.build_reference(
            [_create_samples(generator, level, 1.05)] * 3
        )
        for level in levels
    }
    return [
        _create_record(
            number,
            guests,
            [
                made.level(
                    number,
                    level,
                    _create_samples(generator, level, 0.95),
                    reference=references[level],
                )
                for level in levels
            ],
            question="density",
            options={"idle_guests": "running"},
        )
        for number in range(1, judging.REPETITIONS + 1)
    ]


def create_tuning():
    """Return the records of a guest for each variant, as a list."""
    generator = random.Random(1)
    guests = [f"g{number}" for number in range(1, VARIANTS + 1)]
    reference = made.build_reference(
        [_create_samples(generator, 1, 1.05) for _ in range(5)]
    )
    return [
        _create_record(
            number,
            guests,
            [
                made.build_condition(
                    number,
                    _create_samples(generator, 1, 1 - position / 200),
                    axes={"variant": f"variant-{name}"},
                    position=position,
                    machines=(name,),
                    reference=reference,
                )
                for position, name in enumerate(guests, 1)
            ],
            question="tuning",
            options={
                "variants": [
                    {"name": f"variant-{name}", "flavor": {"name": name}}
                    for name in guests
                ],
                "reference": f"variant-{guests[0]}",
                "idle_guests": "running",
            },
        )
        for number in range(1, judging.REPETITIONS + 1)
    ]


def _create_samples(generator, guests, factor):
    """Return samples of guests that share a host by metric, as a dict.

    The host has enough for 4 to 23 guests, which differs between metrics.
    """
    return {
        metric: [
            1000
            * factor
            * min(1, (4 + index % 20) / guests)
            * generator.gauss(1, 0.01)
            for _ in range(guests)
        ]
        for index, metric in enumerate(judging.metrics(judging.METRICS))
    }


def _create_record(number, guests, conditions, **changes):
    """Return the record of a repetition with all metrics."""
    return made.record(
        number=number,
        planned_repetitions=judging.REPETITIONS,
        machines=tuple(made.machine(name, host="host") for name in guests),
        expected_metrics=judging.metrics(judging.METRICS),
        conditions=conditions,
        **changes,
    )


#: The functions that create the records of each question.
RUNS: dict[str, collections.abc.Callable[[], list[model.Record]]] = {
    "overhead": create_overhead,
    "density": create_density,
    "tuning": create_tuning,
}


def draw(question):
    """Return the page of a run as text, and the CPU seconds of drawing it."""
    run = made.run_of(RUNS[question](), LIMITS[question], question=question)
    # What records and judging leave to collect is not part of drawing.
    gc.collect()
    began = time.process_time()
    html = page.standalone([run])
    return html, time.process_time() - began


def main():
    """Print the sizes and the CPU seconds; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", help="folder for the pages")
    parser.add_argument(
        "questions", nargs="*", metavar="QUESTION", help="default: all"
    )
    parsed = parser.parse_args()
    within = True
    for question in parsed.questions or RUNS:
        html, seconds = draw(question)
        size = len(html.encode())
        if parsed.output:
            path = pathlib.Path(parsed.output, f"{question}.html")
            path.write_text(html)
        print(
            f"{question}, {judging.METRICS} metrics x {judging.REPETITIONS} "
            f"repetitions: {size / 1e6:.2f} MB, {seconds:.1f} CPU s"
        )
        within &= size <= MAX_BYTES and seconds <= MAX_SECONDS
    return int(not within)


if __name__ == "__main__":
    raise SystemExit(main())
