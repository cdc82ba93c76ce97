# SPDX-License-Identifier: Apache-2.0
"""Whole runs of both questions where Rally cannot be imported.

Run as a program: its argument is a directory, and it prints the results.
"""

import importlib.abc
import json
import pathlib
import sys


class NoRally(importlib.abc.MetaPathFinder):
    """Rejects Rally, wherever it is imported."""

    def find_spec(self, name, path, target=None):
        """Raise for Rally and its plugins; ignore other modules."""
        if name.split(".")[0] in ("rally", "rally_openstack"):
            raise AssertionError(f"{name} is imported")


def main(folder):
    """Record bare metal, run both questions, judge and report."""
    from rally_vmperf.questions import source_judge
    from rally_vmperf.questions import table
    from rally_vmperf.records import journal
    from rally_vmperf.records import sources
    from rally_vmperf.report import page
    from tests.unit.runs import golden
    from tests.unit.runs import whole

    document = whole.baseline(
        folder, (1, 2), [1000, 1001, 1002, 1003, 1001, 1000]
    )

    def measure(question, journal_name, rates, criteria, **arguments):
        """Measure three repetitions; return the run in the journal."""
        machines = [
            golden.Machine(guest, [golden.sysbench(r) for r in rates])
            for guest in ("g1", "g2")
        ]
        run_request = whole.build_request(
            folder,
            document,
            *machines,
            question=question,
            journal=journal.Journal(folder, journal_name),
        )
        asked = table.questions()[question]
        content = asked.arguments(workloads=[], **arguments)
        run = run_request.run_cache.get_run(
            "w", lambda: asked.start(run_request, content)
        )
        for number in (1, 2, 3):
            run.repeat(number)
        run_request.run_cache.close("w")
        path = str(pathlib.Path(folder, f"{journal_name}.jsonl"))
        (source,) = sources.read(path, table.scenarios())
        run = source_judge.judge_source(source, criteria)
        return source_judge.create_report(run)

    def limits(most):
        return {
            "max_percent": {"*": most},
            "tolerate": ["bare_metal_unrestricted"],
        }

    shown = [
        measure(
            "overhead",
            f"overhead-{most}",
            [900, 901, 902],
            {"vmperf_overhead": limits(most)},
        )
        for most in (15, 5)
    ]
    shown.append(
        measure(
            "density",
            "density",
            [900, 901, 902, 903],
            {"vmperf_degradation": limits(20)},
            levels=[1, 2],
            order="blocks",
            idle_guests="running",
            solo_guest="rotate",
            stop=None,
        )
    )
    (pathlib.Path(folder) / "report.html").write_text(page.standalone(shown))
    return {
        "headlines": [report.headline for report in shown],
        "rally": [name for name in sys.modules if name.startswith("rally.")],
    }


if __name__ == "__main__":
    sys.meta_path.insert(0, NoRally())
    print(json.dumps(main(sys.argv[1])))
