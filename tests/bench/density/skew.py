# SPDX-License-Identifier: Apache-2.0
"""The start skew of machines, and that of processes that merely sleep."""

import asyncio
import statistics
import tempfile

from rally_vmperf.execution import measure
from rally_vmperf.execution import measured
from rally_vmperf.machines import workfolder
from tests.bench.density import busy
from tests.bench.density import servers
from tests.bench.density import sleepers

HEADER = (
    *("machines", "sleepers", "machines", "corrected", "give or take"),
    *("overlap/time", "overlap/size"),
)


def rows(counts, rounds, seconds, size):
    """Yield a row for each number of machines: medians over rounds.

    :param seconds: The seconds of the work of fixed duration.
    :param size: The number to which the work of fixed size counts.
    """
    with (
        servers.started("real", 1) as descriptions,
        tempfile.TemporaryDirectory() as folder,
    ):
        for count in counts:
            measurements = [
                (
                    sleepers.skew(count),
                    *_measure(descriptions, count, folder, work),
                )
                for work in [busy.assigned(seconds, size)] * rounds
            ]
            medians = [
                statistics.median(figures)
                for figures in zip(*measurements, strict=True)
            ]
            *skews, of_time, of_size = medians
            yield (
                str(count),
                *(f"{skew * 1000:.2f} ms" for skew in skews),
                f"{of_time:.4f}",
                f"{of_size:.4f}",
            )


def _measure(descriptions, count, folder, work):
    """Return the measured and the reported skew, its error, both overlaps."""
    result = measured.Measured()

    async def once():
        places = servers.stations(descriptions, count, folder)
        for place in places:
            created = await workfolder.create(place.machine, folder)
            place.folder = created.path
        try:
            await measure.repetition(
                [work], places, None, lambda line: None, result
            )
        finally:
            await asyncio.gather(*(place.machine.close() for place in places))

    asyncio.run(once())
    if result.missing:
        raise SystemExit(f"missing: {result.missing[0]}")
    # All have the clock of this computer, whatever our correction says.
    started = [
        run.result.started for run in result.runs if run.result.name == "time"
    ]
    of_time, of_size = result.starts
    return (
        max(started) - min(started),
        of_time.skew,
        of_time.uncertainty,
        of_time.overlap,
        of_size.overlap,
    )
