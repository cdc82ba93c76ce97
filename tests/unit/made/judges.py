# SPDX-License-Identifier: Apache-2.0
"""Judges, judgements and judged runs."""

from rally_vmperf.questions import source_judge
from rally_vmperf.questions.density import question as density
from rally_vmperf.questions.overhead import question as overhead
from rally_vmperf.records import sources
from tests.unit.made import common_records


def feed_judge(judge, entries):
    """Return the judge after the repetitions were added."""
    for entry in entries:
        judge.add(entry)
    return judge


def judge(entries, max_percent=None, criterion=overhead.OVERHEAD, **arguments):
    """Return a judge of overhead with these repetitions."""
    limits = {"*": 15} if max_percent is None else max_percent
    options = {"max_percent": limits, **arguments}
    options["tolerate"] = [*options.get("tolerate", ())]
    return feed_judge(criterion.parse(options).create_judge(), entries)


def judgement(entries, max_percent=None, **arguments):
    return judge(entries, max_percent, **arguments).judgement()


def judge_of_degradation(entries, max_percent=None, **arguments):
    """Return a judge of degradation that was given these repetitions."""
    return judge(entries, max_percent, density.DEGRADATION, **arguments)


def degradation(entries, max_percent=None, **arguments):
    return judge_of_degradation(entries, max_percent, **arguments).judgement()


def fairness(entries, min_index=None, max_spread_percent=None, **arguments):
    """Return the judgement on fairness of these repetitions."""
    options = {
        "min_index": min_index or {},
        "max_spread_percent": max_spread_percent or {},
        **arguments,
    }
    judge = density.FAIRNESS.parse(options).create_judge()
    return feed_judge(judge, entries).judgement()


def source_of(records, limits=None, folder=common_records.FOLDER, question=""):
    """Return records as the source of a run, with limits by SLA.

    :param question: The name of the question; by default that of the records.
    """
    questions = [record.repetition.question for record in records if record]
    return sources.Source(
        question=question or (questions or ["overhead"])[0],
        scenario="",
        records=records,
        criteria=limits or {},
        folder=folder,
    )


def run_of(*arguments, **options):
    """Return a run as a report shows it; see ``source_of``."""
    source = source_of(*arguments, **options)
    return source_judge.create_report(source_judge.judge_source(source))


def density_run(records, limits=None):
    """Return a run of density as a report shows it, judged by the limits."""
    return run_of(records, limits, question="density")
