# SPDX-License-Identifier: Apache-2.0
"""Charts for the reports of Rally: a repetition, and a run."""

import pathlib
import typing as t

from rally.common import cfg
from rally.common.plugin import plugin
from rally.task.processing import charts

from rally_vmperf.questions import source_judge
from rally_vmperf.records import model

CONF = cfg.CONF
_COLUMNS = ["Guest", "Metric", "Value", "State or reason"]


@plugin.configure(name=model.CHART)
class RecordChart(charts.OutputChart):
    """Record of one repetition, and a table of its samples.

    Only complete output is supported. Rally's database and JSON contain the
    full record; the HTML page contains a few rows of it.
    """

    widget = "Table"

    @classmethod
    def render_complete_data(cls, pdata: dict[str, t.Any]) -> dict[str, t.Any]:
        """Return a table (a dict) of samples and missing measurements.

        :param pdata: The output of ``records.model.encode_output``.
        """
        # Rally imports all plugins even to list them.
        from rally_vmperf.report import samples

        return {
            "title": pdata["title"],
            "widget": cls.widget,
            "data": {
                "cols": _COLUMNS,
                "rows": samples.of_repetition(
                    model.decode_or_none(pdata["data"])
                ),
            },
        }


@plugin.configure(name=model.RUN_CHART)
class RunChart(charts.OutputChart):
    """Verdicts, figures and configuration of all repetitions of a run.

    The additive output of an iteration adds this chart to a report. Its
    content is computed from the records of all iterations and the limits of
    the SLAs, with the function that the SLAs use.
    """

    widget = "EmbedChart"

    def add_iteration(self, iteration: t.Any) -> None:
        """Ignore the iteration; ``render`` reads all records."""

    def render(self) -> dict[str, t.Any]:
        """Return a dict with an HTML page for a frame of Rally's report."""
        # Rally imports all plugins even to list them.
        from rally_vmperf.records import sources
        from rally_vmperf.report import page

        scenario = self._workload["name"]
        journal_dir = pathlib.Path(CONF.vmperf.journal_dir)
        source = sources.of_workload(self._workload, scenario, journal_dir)
        run = source_judge.judge_source(source)
        html = page.embedded(source_judge.create_report(run))
        return {
            "title": self.title,
            "description": self.description,
            "widget": self.widget,
            # The widget EmbedChart in Rally's template removes the backslash.
            "data": {
                "source": None,
                "embedded": html.replace("/script>", "\\/script>"),
            },
            "label": self.label,
            "axis_label": self.axis_label,
        }
