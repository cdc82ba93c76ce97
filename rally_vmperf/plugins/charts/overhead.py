"""Chart that shows a whole run: verdict, figures, samples and findings."""

import typing as t

from rally.common.plugin import plugin
from rally.task.processing import charts

from rally_vmperf.plugins.sla import overhead
from rally_vmperf.records import output


@plugin.configure(name=output.SUMMARY_CHART)
class Overhead(charts.OutputChart):
    """Shows overheads, verdict and setting of all repetitions together.

    Additive output of any iteration calls for it; what it shows comes from
    the records of all iterations and from the limits of the SLA, by the
    function that the SLA itself judges with.
    """

    widget = "EmbedChart"

    def add_iteration(self, iteration: t.Any) -> None:
        """Do nothing: the records of all iterations are read at the end."""

    def render(self) -> dict[str, t.Any]:
        """Return a page for a frame of Rally's report."""
        # Rally imports all plugins for a mere list; drawing is for reports.
        from rally_vmperf.report import page
        from rally_vmperf.report import run
        from rally_vmperf.report import sources

        source = sources.of_workload(self._workload)
        judge = overhead.judge(source.criterion) if source.criterion else None
        html = page.embedded(run.make(source.records, judge))
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
