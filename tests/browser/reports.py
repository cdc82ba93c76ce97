# SPDX-License-Identifier: Apache-2.0
"""Both reports about a run whose guests said all the words there are."""

import json
import logging

from rally.cli import task_results_loader
from rally.common import cfg
from rally.task import sla
from rally.task import utils
from rally.task.processing import plot

from rally_vmperf import opts
from rally_vmperf.judging.results import changes
from rally_vmperf.measurement.comparison import verdict
from rally_vmperf.measurement.samples import sample
from rally_vmperf.plugins import criteria
from rally_vmperf.plugins import defects
from rally_vmperf.plugins import rally_charts
from rally_vmperf.records import model
from rally_vmperf.report import changes_page
from rally_vmperf.report import page
from tests.unit import made
from tests.unit.hostile import attacks
from tests.unit.hostile import records
from tests.unit.report import rally_results

#: Rally finds them by their names, once they are imported.
CHARTS = (rally_charts.RunChart, rally_charts.RecordChart)


def ours():
    """Return the page of ``rally-vmperf report``."""
    limits = {"vmperf_overhead": made.LIMITS}
    return page.standalone([_judge(records.of_overhead(), limits)])


def our_curves():
    """Return the page of ``rally-vmperf report`` about two density runs."""
    shown = _judge(records.of_density(), made.DENSITY_LIMITS, "density")
    return page.standalone([shown, shown])


def our_variants():
    """Return the page of ``rally-vmperf report`` about variants."""
    limits = {"vmperf_tuning": {"min_gain_percent": {"*": {"*": -5}}}}
    shown = _judge(records.of_tuning(), limits, "tuning")
    return page.standalone([shown])


def _judge(documents, limits, question="overhead"):
    """Return the judged run of documents as a report shows it."""
    decoded = [*map(model.decode, documents)]
    return made.run_of(decoded, limits, question=question)


def our_comparison():
    """Return the page of ``rally-vmperf compare`` about three hostile runs."""
    names = [*records.WORDS[:2], records.ALL]
    metrics = [
        sample.Metric(attacks.WORDS[name], "s", "lower")
        for name in ("script_ended", "image", "mathtext", "svg_text_ended")
    ]
    runs = [
        changes.RunSamples(
            name=name,
            samples={
                (records.ALL, metric): sample.create_samples(
                    metric, [[place + 1 + number / 100] for number in range(5)]
                )
                for metric in metrics
            },
            absences={("", sample.Metric("x", "s", "lower")): records.ALL},
        )
        for place, name in enumerate(names)
    ]
    compared = changes.compare_runs(runs, verdict.Limits({"*": 5.0}))
    return changes_page.standalone(
        names,
        compared,
        list(records.WORDS),
        changes.summarise(runs, compared),
    )


def rallys(sanitise=defects.sanitise_errors):
    """Return the page of ``rally task report --html-static``.

    :param sanitise: The context between the scenario's errors and Rally.
    """
    cfg.CONF.register_opts(opts.OPTIONS, opts.GROUP)
    cfg.CONF.set_override("journal_dir", str(made.FOLDER), opts.GROUP)
    repetitions = [*records.of_overhead(), *(None for _ in records.WORDS)]
    task = rally_results.results(
        [
            (repetitions, made.LIMITS),
            (records.of_density(), made.DENSITY_LIMITS),
        ]
    )
    workload, _ = task["tasks"][0]["subtasks"][0]["workloads"]
    failed = workload["data"][-len(records.WORDS) :]
    for iteration, text in zip(failed, records.WORDS, strict=True):
        iteration["error"] = _error(text, sanitise)
    workload["sla_results"] = {"sla": [_verdict(workload["data"])]}
    return _plotted(task)


def _plotted(task):
    results = json.loads(json.dumps(task))
    loaded = task_results_loader._update_new_results(results)
    return plot.plot(loaded, include_libs=True)


def _error(text, sanitise):
    """Return an error as Rally keeps it of an iteration."""
    logging.disable()
    try:
        with sanitise():
            raise ValueError(text)
    except Exception as error:
        return utils.format_exc(error)
    finally:
        logging.disable(logging.NOTSET)


def _verdict(iterations):
    sla = criteria.SLAS["vmperf_overhead"](made.LIMITS)
    for iteration in iterations:
        sla.add_iteration(iteration)
    return {
        "criterion": "vmperf_overhead",
        "success": False,
        "detail": sla.details(),
    }


def rallys_failed(errors):
    """Return Rally's page about a workload whose contexts failed.

    :param errors: The errors that Rally caught.
    """
    task = rally_results.results([([], made.LIMITS)])
    (workload,) = task["tasks"][0]["subtasks"][0]["workloads"]
    verdicts = []
    for error in errors:
        checker = sla.SLAChecker({"sla": {}})
        checker.set_unexpected_failure(error)
        verdicts += checker.results()
    workload["sla_results"] = {"sla": verdicts}
    return _plotted(task)
