"""A chart that contains the record of one repetition."""

import typing as t

from rally.common.plugin import plugin
from rally.task.processing import charts

from rally_vmperf.records import model
from rally_vmperf.records import output

_COLUMNS = ["Guest", "Metric", "Value", "State or reason"]


@plugin.configure(name=output.CHART)
class Record(charts.OutputChart):
    """Record of one repetition, and a table of its samples.

    Only complete output is supported. Rally's database and JSON contain the
    full record; the HTML page contains a few rows of it.
    """

    widget = "Table"

    @classmethod
    def render_complete_data(cls, pdata: dict[str, t.Any]) -> dict[str, t.Any]:
        """Return a table (a dict) of samples and missing measurements.

        :param pdata: The output of ``records.output.encode``.
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
