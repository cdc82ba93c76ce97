"""Chart that shows a whole run: verdicts, figures, samples, findings."""

import pathlib
import typing as t

from rally.common import cfg
from rally.common.plugin import plugin
from rally.task.processing import charts

from rally_vmperf.questions import judging
from rally_vmperf.records import output

CONF = cfg.CONF


@plugin.configure(name=output.RUN_CHART)
class RunChart(charts.OutputChart):
    """Shows verdict, figures and setting of all repetitions of a run.

    Additive output of any iteration calls for it; what it shows comes from
    the records of all iterations and from the limits of the SLAs, by the
    function that the SLAs themselves judge with.
    """

    widget = "EmbedChart"

    def add_iteration(self, iteration: t.Any) -> None:
        """Do nothing: the records of all iterations are read at the end."""

    def render(self) -> dict[str, t.Any]:
        """Return a page for a frame of Rally's report."""
        # Rally imports all plugins for a mere list; drawing is for reports.
        from rally_vmperf.report import page
        from rally_vmperf.report import sources

        scenario = self._workload["name"]
        folder = pathlib.Path(CONF.vmperf.journal_dir)
        source = sources.of_workload(self._workload, scenario, folder)
        html = page.embedded(judging.run(source))
        return {
            "title": self.title,
            "description": self.description,
            "widget": self.widget,
            # Rally's page takes the back-slash out again: see the widget
            # EmbedChart in its template.
            "data": {
                "source": None,
                "embedded": html.replace("/script>", "\\/script>"),
            },
            "label": self.label,
            "axis_label": self.axis_label,
        }
