# SPDX-License-Identifier: Apache-2.0
"""The CPU time of judging a large run after every repetition.

``python -m tests.bench.judging`` prints the CPU seconds that Rally's SLA
takes for 100 metrics, 30 repetitions and 16 guests: of all repetitions, each
of which is added and judged, and of the last one alone. With ``--profile``
it prints the functions that take the most time.
"""

import argparse
import cProfile
import pstats
import random
import time

from rally_vmperf.measurement import repetition
from rally_vmperf.measurement.samples import sample
from rally_vmperf.questions.overhead import question as overhead

METRICS, REPETITIONS, GUESTS = 100, 30, 16
#: The relative standard deviations of repetitions and of guests.
_REPETITION_DEVIATION, _GUEST_DEVIATION = 0.01, 0.005


def metrics(number: int) -> tuple[sample.Metric, ...]:
    """Return rates of several tools."""
    return tuple(
        sample.Metric(f"cpu.tool{index // 10}.m{index}.rate", "1/s", "higher")
        for index in range(number)
    )


def observations(
    generator: random.Random, names: tuple[str, ...], mean: float
) -> tuple[sample.Observation, ...]:
    """Return one value of each metric for each machine."""
    return tuple(
        sample.Observation(
            name,
            sample.Sample(
                metric,
                mean
                * generator.gauss(1, _REPETITION_DEVIATION)
                * generator.gauss(1, _GUEST_DEVIATION),
            ),
        )
        for metric in metrics(METRICS)
        for name in names
    )


def run(seed: int = 1) -> list[repetition.Repetition]:
    """Return the repetitions of a run whose guests lose 5 %."""
    generator = random.Random(seed)
    guests = tuple(f"g{index}" for index in range(1, GUESTS + 1))
    copies = tuple(f"copy-{index}" for index in range(1, GUESTS + 1))
    reference = repetition.Reference(
        name="bare",
        machine="host",
        recorded_at="2026-01-01T00:00:00+00:00",
        repetitions=tuple(
            observations(generator, copies, 1000.0) for _ in range(REPETITIONS)
        ),
    )
    return [
        repetition.Repetition(
            run="bench",
            number=number,
            planned_repetitions=REPETITIONS,
            counted=True,
            state="complete",
            expected_metrics=metrics(METRICS),
            hosts=dict.fromkeys(guests, "host"),
            missing=(),
            findings=(),
            conditions=(
                repetition.Condition(
                    axes={},
                    number=number,
                    planned_repetitions=REPETITIONS,
                    counted=True,
                    position=1,
                    state="complete",
                    expected_metrics=metrics(METRICS),
                    machines=guests,
                    observations=observations(generator, guests, 950.0),
                    reference=reference,
                ),
            ),
        )
        for number in range(1, REPETITIONS + 1)
    ]


def judge_each(
    repetitions: list[repetition.Repetition],
) -> tuple[float, float, str]:
    """Return the CPU seconds of all, of the last one, and the verdict."""
    judge = overhead.OVERHEAD.parse(
        {"max_percent": {"cpu.*": 10}}
    ).create_judge()
    began = time.process_time()
    for repetition_ in repetitions:
        last_began = time.process_time()
        judge.add(repetition_)
        judge.is_failure_final()
    status = judge.judgement().status
    ended = time.process_time()
    return ended - began, ended - last_began, status


def main() -> None:
    """Print the CPU seconds, or a profile."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--profile", action="store_true")
    parsed = parser.parse_args()
    repetitions = run()
    profile = cProfile.Profile()
    if parsed.profile:
        profile.enable()
    total, last, status = judge_each(repetitions)
    profile.disable()
    print(
        f"{METRICS} metrics x {REPETITIONS} repetitions x {GUESTS} guests, "
        f"{status}: {total:.1f} CPU s, the last repetition {last:.2f} CPU s"
    )
    if parsed.profile:
        pstats.Stats(profile).sort_stats("cumulative").print_stats(40)


if __name__ == "__main__":
    main()
