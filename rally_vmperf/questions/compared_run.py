# SPDX-License-Identifier: Apache-2.0
"""Runs and baselines that are compared with each other."""

import collections
import collections.abc
import dataclasses
import typing as t

from rally_vmperf import documents
from rally_vmperf import errors
from rally_vmperf.baseline import document
from rally_vmperf.baseline import matching
from rally_vmperf.execution import assignment
from rally_vmperf.judging import counting
from rally_vmperf.judging import summary
from rally_vmperf.judging.results import changes
from rally_vmperf.measurement import finding
from rally_vmperf.measurement import gathering
from rally_vmperf.measurement import repetition
from rally_vmperf.measurement.samples import sample
from rally_vmperf.measurement.samples import units
from rally_vmperf.questions import run_limits
from rally_vmperf.questions.common import question
from rally_vmperf.records import files
from rally_vmperf.records import model
from rally_vmperf.records import sources
from rally_vmperf.runs import reference
from rally_vmperf.workloads import registry

#: The facts from Nova in which runs may differ.
_FACTS = (
    *("flavor", "image", "disk", "volumes", "host"),
    *("hypervisor_version", "nova_microversion"),
)


@dataclasses.dataclass(frozen=True, kw_only=True)
class ComparedRun(changes.RunSamples):
    """A run or a baseline with its setting.

    :param setting: The question, arguments and shape by aspect, each a
        mapping; empty for a baseline, which is matched by its entries.
    :param machines: The guests and the peer, or the bare-metal machine.
    :param machines_error: The reason why their facts are missing, or "".
    :param facts: Further facts about guests and software.
    :param conditions: The conditions of a run by their text.
    :param guests: The numbers of guests that were measured at once in the
        complete repetitions, by the text of the condition.
    """

    setting: collections.abc.Mapping[str, documents.Facts] = dataclasses.field(
        default_factory=dict
    )
    machines: tuple[model.DescribedMachine, ...] = ()
    machines_error: str = ""
    facts: documents.Facts = dataclasses.field(default_factory=dict)
    conditions: dict[str, repetition.Condition] = dataclasses.field(
        default_factory=dict
    )
    guests: dict[str, set[int]] = dataclasses.field(default_factory=dict)


def create_run(
    name: str,
    source: sources.Source,
    criteria: question.Criteria | None = None,
) -> ComparedRun:
    """Return the run in a source, without void repetitions and warm-ups.

    :param criteria: The limits by SLA, which say what findings are tolerated;
        None for those of the run.
    :raises VMPerfError: If no record is readable, or if records
        contradict each other.
    """
    records = [record for record in source.records if record is not None]
    if not records:
        raise errors.VMPerfError(f"{name}: has no readable record")
    measured = [record.repetition for record in records]
    slas = run_limits.RunLimits(
        source.criteria if criteria is None else criteria,
        gathering.metric_names(measured),
    )
    counted = counting.count(
        measured, slas.tolerated.union(finding.ABOUT_BARE_METAL)
    )
    sentence = counting.first_void_sentence(
        (
            found
            for found, _ in counted.occurrences
            if found.kind in finding.ABOUT_RECORDS
        ),
        slas.tolerated,
    )
    if sentence:
        raise errors.VMPerfError(f"{name}: {sentence}")
    samples, absences, omissions = counting.collect_samples(
        counted.repetitions, slas.find_tolerated
    )
    unreadable = len(source.records) - len(records)
    missing = counting.count_missing(
        counted.repetitions, unreadable, counted.omitted
    ).with_reasons(source.damage_reasons)
    record = max(records, key=lambda record: record.repetition.number)
    machines, machines_error = files.describe_machines(source.folder, record)
    facts = _list_facts(record, machines)
    if unreadable:
        facts["unreadable records"] = unreadable
    return ComparedRun(
        name=name,
        samples=samples,
        absences=absences,
        skipped=_list_skipped(counted.repetitions),
        setting={
            "question": {"question": record.repetition.question},
            "arguments": _list_arguments(record),
            "shape": dataclasses.asdict(record.shape),
        },
        machines=machines,
        machines_error=machines_error,
        facts=facts,
        conditions={
            condition.title: condition
            for record in records
            for condition in record.repetition.conditions
        },
        guests=_count_guests(counted.judged),
        missing=missing.sentence(),
        omitted=_describe_omissions(omissions, missing.planned),
    )


def _list_skipped(repetitions: gathering.Repetitions) -> dict[str, str]:
    """Return why conditions were run in no repetition, by their text."""
    conditions: dict[str, list[repetition.Condition]] = {}
    for condition in repetition.list_conditions(repetitions):
        if condition.counted:
            conditions.setdefault(condition.title, []).append(condition)
    return {
        title: counting.explain_unmeasured(measured)
        for title, measured in conditions.items()
        if all(condition.skip_reason for condition in measured)
    }


def _describe_omissions(omissions: counting.Omissions, planned: int) -> str:
    """Return which repetitions are void, by condition, as text, or ""."""
    titles: dict[str, list[str]] = {}
    for title, (numbers, findings) in omissions.items():
        sentence = summary.describe_void_repetitions(
            numbers, findings, planned
        )
        titles.setdefault(sentence, []).append(title)
    return "; ".join(
        f"{': '.join(filter(None, (', '.join(names), sentence)))}"
        for sentence, names in titles.items()
    )


def _count_guests(
    repetitions: gathering.Repetitions,
) -> dict[str, set[int]]:
    """Return the numbers of measured guests by condition.

    A repetition that lacks a sample of a guest is incomplete; one that ran
    without the guest is not.
    """
    numbers: dict[str, set[int]] = {}
    for condition in repetition.list_conditions(repetitions):
        guests = {observed.source for observed in condition.observations}
        if condition.counted and condition.complete and guests:
            numbers.setdefault(condition.title, set()).add(len(guests))
    return numbers


def mark_lost_guests(
    runs: collections.abc.Sequence[ComparedRun],
) -> list[ComparedRun]:
    """Return runs of which some lack guests, if others of one shape do not.

    The guests that remain share their host with fewer others.
    """
    shape = next((run.setting["shape"] for run in runs if run.setting), None)
    alike = [run for run in runs if run.setting.get("shape") == shape]
    most: dict[str, int] = {}
    for run in alike:
        for title, numbers in run.guests.items():
            most[title] = max(most.get(title, 0), *numbers)
    marked = []
    for run in runs:
        lost = [
            f"{title and f'{title}: '}some or all repetitions measured "
            f"{min(numbers)} of {units.number_of('guest', most[title])}"
            for title, numbers in run.guests.items()
            if min(numbers) < most.get(title, 0)
        ]
        missing = "; ".join(filter(None, (run.missing, *lost)))
        marked.append(dataclasses.replace(run, missing=missing))
    return marked


def _list_facts(
    record: model.Record,
    machines: collections.abc.Iterable[model.DescribedMachine],
) -> dict[str, t.Any]:
    """Return the facts about guests and software that may differ."""
    guests = [machine for machine in machines if machine.role == "guest"]
    facts: dict[str, t.Any] = {
        f"version of {package}": version
        for package, version in record.software.items()
    }
    for key in _FACTS:
        texts = [_describe(guest.nova.get(key)) for guest in guests]
        facts[key] = ", ".join(sorted({text for text in texts if text}))
    hosts = {guest.host for guest in guests} - {""}
    facts["host"] = facts["host"] or ", ".join(sorted(hosts))
    return {key: fact for key, fact in facts.items() if fact}


def _describe(fact: t.Any) -> str:
    """Return a fact from Nova as text, or "" without one."""
    if isinstance(fact, list):
        return "; ".join(map(_describe, fact))
    if isinstance(fact, collections.abc.Mapping):
        fact = ", ".join(
            f"{key}={fact[key]}"
            for key in sorted(fact)
            if key != "id" and fact[key]
        )
    return str(fact or "")


def _list_arguments(record: model.Record) -> dict[str, t.Any]:
    """Return all arguments of workloads and options of the question."""
    arguments: dict[str, t.Any] = {
        f"{workload.title} {key}": argument
        for workload in record.workloads
        for key, argument in {
            **registry.add_defaults(workload.name, workload.arguments),
            "cooldown": workload.cooldown,
            "drop_caches": workload.drop_caches,
        }.items()
    }
    # The conditions state the levels.
    options = {
        key: option
        for key, option in record.options.items()
        if key != "levels"
    }
    return {**arguments, **options}


def set_limits(
    runs: collections.abc.Sequence[ComparedRun], criteria: question.Criteria
) -> list[ComparedRun]:
    """Return runs, the first with the limits of its SLAs.

    If several SLAs limit a metric, the first one counts.

    :param criteria: The limits by the name of their SLA.
    :raises VMPerfError: If a limit matches no metric or no condition.
    """
    first, *others = runs
    keys = [key for run in runs for key in (*run.samples, *run.absences)]
    metrics = {metric for _, metric in keys}
    conditions = collections.ChainMap(*(run.conditions for run in runs))
    slas = run_limits.RunLimits(criteria, {metric.name for metric in metrics})
    for parsed in slas.parsed:
        for option in question.LOSS_AND_ABSOLUTE:
            if not parsed.limits[option].patterns:
                continue
            problem = parsed.limits[option].describe_unmatched(metrics)
            if not problem and not any(
                run_limits.applies(parsed, conditions.get(title), option)
                for title, _ in keys
            ):
                titles = dict.fromkeys(title for title, _ in keys if title)
                there = ", ".join(titles) or "one for all"
                problem = f"applies to no condition (there are: {there})"
            if problem:
                raise errors.VMPerfError(
                    f"sla {parsed.criterion.name} {option}: {problem}; "
                    "correct it, or use other limits with --limits"
                )
    limited = {
        (title, metric): limit
        for title, metric in keys
        if (limit := slas.find_limit(conditions.get(title), metric))
    }
    return [dataclasses.replace(first, limits=limited), *others]


def create_baseline_like(
    name: str,
    content: document.Baseline,
    records: collections.abc.Sequence[model.Record],
) -> ComparedRun:
    """Return the entries of a baseline that match the records of a run.

    :raises BaselineError: If the baseline does not cover the run.
    :raises VMPerfError: If the run has no readable record.
    """
    if not records:
        raise errors.VMPerfError(f"{name}: the run has no readable record")
    record = records[-1]
    assignments = assignment.assign(map(vars, record.workloads))
    samples: counting.Samples = {}
    for condition in record.repetition.conditions:
        shape = document.Shape(
            record.shape.vcpus,
            record.shape.memory_mib,
            condition.reference_copies or record.shape.copies,
        )
        bare_metal, _ = reference.build_reference(
            content, assignments, [shape]
        )
        for by_metric in bare_metal.references[shape.copies].by_metric:
            for metric, measured in by_metric.items():
                key = (condition.title, metric)
                samples[key] = (*samples.get(key, ()), measured)
    return ComparedRun(
        name=name, samples=samples, machines=(_describe_metal(content),)
    )


def create_baselines(
    contents: collections.abc.Mapping[str, document.Baseline],
) -> list[ComparedRun]:
    """Return baselines whose entries match those of the first, as a list.

    :param contents: The baselines by name.
    """
    (_, first), *_ = contents.items()
    runs = []
    for name, content in contents.items():
        samples: counting.Samples = {}
        absences: counting.Absences = {}
        for number, measured in enumerate(first.entries, start=1):
            values: dict[sample.Metric, list[list[float]]] = {}
            reason = ""
            try:
                matched = matching.find(
                    content,
                    measured.workload,
                    measured.conditions,
                    measured.shape,
                )
                values = matched.collect_values()
            except document.BaselineError as error:
                reason = str(error)
            for metric in measured.metrics:
                title = measured.describe_shape()
                if (title, metric) in {**samples, **absences}:
                    title = f"{title}, entry {number}"
                if metric in values:
                    samples[title, metric] = sample.create_samples(
                        metric, values[metric]
                    )
                elif reason:
                    absences[title, metric] = reason
        runs.append(
            ComparedRun(
                name=name,
                samples=samples,
                absences=absences,
                machines=(_describe_metal(content),),
                facts={"class": content.machine_class or "none"},
            )
        )
    return runs


def _describe_metal(content: document.Baseline) -> model.DescribedMachine:
    """Return the machine of a baseline with its facts."""
    return model.DescribedMachine(
        **vars(content.machine), role="copy", nova={}
    )
