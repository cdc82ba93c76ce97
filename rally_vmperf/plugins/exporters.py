# SPDX-License-Identifier: Apache-2.0
"""Exporters of Rally for the formats of results."""

import pathlib
import typing as t

from rally.common import cfg
from rally.task import exporter

from rally_vmperf.questions import source_judge
from rally_vmperf.questions import table
from rally_vmperf.records import sources
from rally_vmperf.report import export

CONF = cfg.CONF


class Exporter(exporter.TaskExporter):
    """An exporter of the judged runs of tasks in a format."""

    format_name: str

    def generate(self) -> dict[str, t.Any]:
        """Return the text for the destination, or to print, in a dict.

        :raises SourceError: If the tasks have no run of rally_vmperf.
        """
        scenarios = table.scenarios()
        journal_dir = pathlib.Path(CONF.vmperf.journal_dir)
        runs = [
            source_judge.judge_source(
                sources.of_workload(workload, workload["name"], journal_dir)
            )
            for task in self.tasks_results
            for subtask in task["subtasks"]
            for workload in subtask["workloads"]
            if workload["name"] in scenarios
        ]
        if not runs:
            names = ", ".join(task["uuid"] for task in self.tasks_results)
            raise sources.SourceError(
                f"task {names}: has no workload of rally_vmperf"
            )
        text = "".join(export.render(self.format_name, runs))
        if not self.output_destination:
            return {"print": text}
        path = pathlib.Path(self.output_destination).absolute()
        return {
            "files": {self.output_destination: text},
            "open": path.as_uri(),
        }


def register_exporter(name: str) -> type[Exporter]:
    """Register the exporter of a format with Rally, and return it."""
    members = {
        "__doc__": export.load_format(name).__doc__,
        "__module__": __name__,
        "format_name": name,
    }
    plugin = type(f"vmperf-{name}", (Exporter,), members)
    registered = exporter.configure(name=f"vmperf-{name}")(plugin)
    return t.cast(type[Exporter], registered)


EXPORTERS = {name: register_exporter(name) for name in export.NAMES}
