"""Whole runs of both questions where Rally cannot be imported.

Run as a program: a folder is its argument, it prints what came of the runs.
"""

import importlib.abc
import json
import pathlib
import sys


class NoRally(importlib.abc.MetaPathFinder):
    """Refuses Rally, wherever it is imported."""

    def find_spec(self, name, path, target=None):
        """Raise for Rally and its plugins, leave others to others."""
        if name.split(".")[0] in ("rally", "rally_openstack"):
            raise AssertionError(f"{name} is imported")


def main(folder):
    """Record bare metal, ask both questions, judge and report."""
    from rally_vmperf.measurement import overhead_judge
    from rally_vmperf.measurement.density import judging
    from rally_vmperf.questions import overhead
    from rally_vmperf.questions.density import run as density
    from rally_vmperf.records import build
    from rally_vmperf.records import journal
    from rally_vmperf.report import page
    from rally_vmperf.report import run as reports
    from rally_vmperf.report.density import run as density_reports
    from tests.unit.runs import golden
    from tests.unit.runs import whole

    def measure(name, rates, make):
        """Return the records of three repetitions, as the journal has them."""
        machines = [
            golden.Machine(guest, [golden.sysbench(r) for r in rates])
            for guest in ("g1", "g2")
        ]
        asked = whole.asked(
            folder,
            document,
            *machines,
            journal=journal.Journal(folder, name),
        )
        run = asked.opened.run("w", lambda: make(asked))
        for number in (1, 2, 3):
            run.repeat(number)
        asked.opened.close("w")
        return journal.Journal(folder, name).read()

    def make_density(asked):
        return density.make(
            asked,
            levels=(1, 2),
            order=build.Order(kind="blocks", seed=1),
            others="idle",
            stop=None,
        )

    document = whole.baseline(
        folder, (1, 2), [1000, 1001, 1002, 1003, 1001, 1000]
    )
    shown = []
    tolerate = ["shape_whole"]
    for rate, most in ((900, 15), (900, 5)):
        rates = [rate, rate + 1, rate + 2]
        records = measure(f"overhead-{most}", rates, overhead.make)
        judge = overhead_judge.OverheadJudge({"*": most}, tolerate=tolerate)
        shown.append(reports.make(records, judge, pathlib.Path(folder)))
    records = measure("density", [900, 901, 902, 903], make_density)
    judge = judging.DegradationJudge({"*": 20}, tolerate=tolerate)
    shown.append(
        density_reports.make(records, judge, None, pathlib.Path(folder))
    )
    (pathlib.Path(folder) / "report.html").write_text(page.standalone(shown))
    return {
        "headlines": [one.headline for one in shown],
        "rally": [name for name in sys.modules if name.startswith("rally.")],
    }


if __name__ == "__main__":
    sys.meta_path.insert(0, NoRally())
    print(json.dumps(main(sys.argv[1])))
