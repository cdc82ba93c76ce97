"""Runs of density, judged, from records made by hand."""

import copy

from rally_vmperf.measurement.density import judging
from rally_vmperf.report.density import run
from tests.unit import made_density

LIMITS = {
    "vmperf_degradation": {
        "max_percent": {"cpu.*": 45, "disk.*": 20, "network.*": 80}
    },
    "vmperf_fairness": {
        "min_index": {"*": 0.9},
        "max_spread_percent": {"disk.*": 5},
    },
}


def records(levels=(1, 2, 3), planned=4, **arguments):
    """Return the records of a run with a warm-up."""
    found = [
        made_density.record(
            number, levels, planned=planned, counted=number > 1, **arguments
        )
        for number in range(1, planned + 2)
    ]
    for record in found:
        for level, first in zip(
            record["levels"], found[0]["levels"], strict=True
        ):
            level["reference"] = copy.deepcopy(first["reference"])
    return found


def broken():
    """Return records of eight levels with a death, a skip and a void."""
    found = records(tuple(range(1, 9)), bare_metal=(1, 2, 4), noise=0.04)
    made_density.lose(found[3], 5, "g3")
    found[2]["levels"][-1] = made_density.skipped(8, 8, "the total fell")
    found[4]["levels"][5]["findings"] = [
        {"kind": "partial_overlap", "subject": "fio", "seen": "overlap 61 %"}
    ]
    return found


def few(given, names=("disk.randread.iops",)):
    """Return records with these metrics alone, which are drawn quickly."""
    for record in given:
        record["metrics"] = {name: record["metrics"][name] for name in names}
        record["expected"] = [*names]
        for level in record["levels"]:
            reference = level["reference"] or {"repetitions": []}
            for rows in (level["samples"], *reference["repetitions"]):
                rows[:] = [row for row in rows if row["metric"] in names]
    return given


def judged(given, limits=None):
    """Return a run, with the verdicts of the limits."""
    limits = limits or {}
    loss = limits.get("vmperf_degradation")
    shares = limits.get("vmperf_fairness")
    return run.make(
        given,
        judging.DegradationJudge(**loss) if loss else None,
        judging.FairnessJudge(**shares) if shares else None,
    )
