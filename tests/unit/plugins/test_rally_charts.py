# SPDX-License-Identifier: Apache-2.0
"""Rally's own code makes its report from our records."""

import copy
import json
import re
import subprocess
import sys
import unittest

from rally.cli import task_results_loader
from rally.common import cfg
from rally.task.processing import charts
from rally.task.processing import plot

from rally_vmperf import opts
from rally_vmperf.plugins import rally_charts
from rally_vmperf.records import model
from rally_vmperf.report import page
from tests.unit import made
from tests.unit.report import rally_results

CONF = cfg.CONF


def rallys(workloads):
    """Return results as Rally's own loader hands them to its reports."""
    document = json.loads(json.dumps(rally_results.results(workloads)))
    return task_results_loader._update_new_results(document)


def shown(html):
    """Return the data that Rally's page shows."""
    match = re.search(r"\$scope\.scenarios = (.*);\n", html)
    return json.loads(match.group(1))


def ours(embedded):
    """Return an embedded page without what Rally's own criterion said."""
    html, number = re.subn(
        r"<p[^>]*>failure_rate of Rally: [^<]*</p>\n?", "", embedded
    )
    assert number == 1, "Rally's criterion is missing"
    return without_data(html.replace("\\/script>", "/script>"))


def without_data(html):
    """Return a page without its data link, which has Rally's criteria."""
    return re.sub('data:[a-z/]+;base64,[^"]*', "", html)


class StaticReportTestCase(unittest.TestCase):
    def setUp(self):
        """Have the journal's folder hold what the records name."""
        super().setUp()
        CONF.register_opts(opts.OPTIONS, group=opts.GROUP)
        CONF.set_override("journal_dir", str(made.FOLDER), group=opts.GROUP)
        self.addCleanup(CONF.clear_override, "journal_dir", group=opts.GROUP)

    def test_report_holds_our_page_per_workload(self):
        small, many = (
            [*map(model.shorten, made.records(guests=guests))]
            for guests in (1, 2)
        )
        html = plot.plot(
            rallys([(small, made.LIMITS), ([*many, None], made.LIMITS)]),
            include_libs=True,
        )
        for workload, records in zip(
            shown(html), (small, [*many, None]), strict=True
        ):
            (chart,) = workload["additive_output"]
            self.assertEqual("EmbedChart", chart["widget"])
            limits = {"vmperf_overhead": made.LIMITS}
            expected = without_data(
                page.embedded(made.run_of(records, limits))
            )
            embedded = chart["data"]["embedded"]
            self.assertEqual(expected, ours(embedded))
            self.assertNotIn("</script>", embedded)

    def test_report_holds_a_table_per_repetition_and_no_record(self):
        html = plot.plot(rallys([(made.records(), made.LIMITS)]))
        (workload,) = shown(html)
        self.assertEqual(6, len(workload["complete_output"]))
        for (shows,) in workload["complete_output"]:
            self.assertEqual({"title", "widget", "data"}, set(shows))
            self.assertEqual("Table", shows["widget"])
            self.assertEqual(len(made.METRICS), len(shows["data"]["rows"]))

    def test_report_holds_our_page_of_curves(self):
        records = [*map(model.shorten, made.few(made.broken()))]
        html = plot.plot(rallys([([*records, None], made.DENSITY_LIMITS)]))
        (workload,) = shown(html)
        (chart,) = workload["additive_output"]
        self.assertEqual("EmbedChart", chart["widget"])
        expected = without_data(
            page.embedded(
                made.density_run([*records, None], made.DENSITY_LIMITS)
            )
        )
        self.assertEqual(expected, ours(chart["data"]["embedded"]))
        tables = [
            x
            for charts_of_iteration in workload["complete_output"]
            for x in charts_of_iteration
        ]
        self.assertEqual(len(records), len(tables))
        states = [x[3] for table in tables for x in table["data"]["rows"]]
        self.assertIn("8 guests at once: skipped, the total fell", states)

    def test_report_without_limits_has_figures_only(self):
        html = plot.plot(rallys([(made.records(), None)]))
        (workload,) = shown(html)
        (chart,) = workload["additive_output"]
        self.assertIn("No verdict", chart["data"]["embedded"])

    def test_hostile_guest_cannot_end_rallys_script(self):
        missing = {
            "name": "a",
            "machine": "b",
            "reason": "</script><script>x",
        }

        def spoil(details):
            details["g1"]["fingerprint"]["kernel"] = "</script><b>"

        records = [
            made.document(made.redescribe(record, spoil), missing=[missing])
            for record in made.records()
        ]
        html = plot.plot(rallys([(records, made.LIMITS)]))
        self.assertEqual("VMPerf", shown(html)[0]["cls"])
        self.assertNotIn("</script><", html)


class ChartsTestCase(unittest.TestCase):
    def test_names_are_those_of_the_outputs(self):
        self.assertIs(
            rally_charts.RecordChart, charts.OutputChart.get(model.CHART)
        )
        self.assertIs(
            rally_charts.RunChart, charts.OutputChart.get(model.RUN_CHART)
        )

    def test_task_start_prints_a_table_of_it(self):
        workload = {"total_iteration_count": 2}
        table = charts.OutputStatsTable(workload, title="title")
        request = model.request_chart("Title", made.record())
        for _ in range(2):
            table.add_iteration(copy.deepcopy(request["data"]))
        self.assertEqual(
            "missing measurements", table.render()["data"]["rows"][0][0]
        )

    def test_a_list_of_plugins_loads_no_drawing(self):
        code = (
            "import sys\n"
            "from rally_vmperf.plugins import rally_charts\n"
            "heavy = {'rally_vmperf.report.page'}\n"
            "sys.exit(' '.join(heavy & set(sys.modules)) or 0)\n"
        )
        process = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True
        )
        self.assertEqual((0, ""), (process.returncode, process.stderr))
