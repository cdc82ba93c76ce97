"""Chart that carries the record of one repetition."""

import typing as t

from rally.common.plugin import plugin
from rally.task.processing import charts

from rally_vmperf.records import output

_COLUMNS = ["Guest", "Metric", "Value", "State or reason"]


@plugin.configure(name=output.CHART)
class Record(charts.OutputChart):
    """Carries the record of one repetition, shows its samples as a table.

    Only data of complete output have meaning here. The record stays whole in
    Rally's database and JSON; the HTML gets a few rows of it.
    """

    widget = "Table"

    @classmethod
    def render_complete_data(cls, pdata: dict[str, t.Any]) -> dict[str, t.Any]:
        """Return a table of samples and of what is missing.

        :param pdata: as ``records.output.encode`` made it
        """
        # Rally imports all plugins for a mere list.
        from rally_vmperf.report import samples

        return {
            "title": pdata["title"],
            "widget": cls.widget,
            "data": {
                "cols": _COLUMNS,
                "rows": samples.of_repetition(pdata["data"]),
            },
        }
