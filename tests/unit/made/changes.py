# SPDX-License-Identifier: Apache-2.0
"""Changes of records.

Each function returns a changed copy of a record, or of each in a list.
"""

import dataclasses
import functools

from rally_vmperf.measurement import finding
from rally_vmperf.measurement import repetition
from rally_vmperf.measurement.samples import sample
from rally_vmperf.records import files
from rally_vmperf.records import model
from tests.unit.made import common_records

#: The fields of a condition that was not run, next to its reason.
SKIPPED = {
    "state": "skipped",
    "machines": (),
    "observations": (),
    "synchronisation": (),
    "reference_copies": None,
}


def _for_each(change):
    @functools.wraps(change)
    def change_all(record, *arguments, **options):
        if isinstance(record, list):
            return [change(each, *arguments, **options) for each in record]
        return change(record, *arguments, **options)

    return change_all


@_for_each
def with_fields(record, **changes):
    """Return a record with other fields, also in its repetition."""
    measured = {
        key: changes.pop(key)
        for key in common_records.MEASURED & changes.keys()
    }
    changes["repetition"] = dataclasses.replace(record.repetition, **measured)
    return model.link(dataclasses.replace(record, **changes))


@_for_each
def with_finding(record, kind, subject="g1", detail="x", **fields):
    """Return a record with another finding."""
    added = finding.Finding(kind, subject, detail, **fields)
    findings = (*record.repetition.findings, added)
    return with_fields(record, findings=findings)


@_for_each
def with_conditions(record, change, places=None):
    """Return a record with other conditions.

    :param change: The function that returns a condition in place of another.
    :param places: The places of those that change; None for all.
    """
    conditions = tuple(
        change(condition) if places is None or place in places else condition
        for place, condition in enumerate(record.repetition.conditions)
    )
    return with_fields(record, conditions=conditions)


def with_condition(record, place=0, **changes):
    """Return a record with other fields in one of its conditions."""
    return with_conditions(
        record,
        lambda condition: dataclasses.replace(condition, **changes),
        [place],
    )


def with_start(record, place, **changes):
    """Return a record with another start of the first command of a level."""

    def change(condition):
        first, *others = condition.synchronisation
        starts = (dataclasses.replace(first, **changes), *others)
        return dataclasses.replace(condition, synchronisation=starts)

    return with_conditions(record, change, [place])


@_for_each
def with_neighbours(record, factor):
    """Return a record whose conditions are repeated next to other guests.

    :param factor: The factor of the values with neighbours.
    """
    neighbours = {"guests": 1, "workload": "stress_ng", "arguments": {}}
    return with_fields(
        record,
        options={**record.options, "neighbours": neighbours},
        conditions=tuple(
            dataclasses.replace(
                multiply(condition, share),
                axes={**condition.axes, "neighbours": number},
            )
            for number, share in enumerate((1, factor))
            for condition in record.repetition.conditions
        ),
    )


def vary(condition, change):
    """Return a condition with other values.

    :param change: The function that returns the value in place of a sample
        from the name of its metric, its value and its machine; None removes
        it.
    """
    observations = []
    for observation in condition.observations:
        metric, source = observation.sample.metric, observation.source
        value = change(metric.name, observation.sample.value, source)
        if value is not None:
            changed = sample.Sample(metric, value)
            observations.append(sample.Observation(source, changed))
    return dataclasses.replace(condition, observations=tuple(observations))


def multiply(condition, factor, name=None, machine=None):
    """Return a condition with values multiplied.

    :param name: The name of their metric; None for all metrics.
    :param machine: The name of their machine; None for all machines.
    """

    def change(metric, value, source):
        is_meant = name in (None, metric) and machine in (None, source)
        return value * factor if is_meant else value

    return vary(condition, change)


def with_factor(record, factor, name, places=None, machine=None):
    """Return a record with the values of a metric multiplied."""
    return with_conditions(
        record,
        lambda condition: multiply(condition, factor, name, machine),
        places,
    )


def lose(record, place, machine, names, reason):
    """Return a record that lacks metrics of a machine in a condition."""

    def keep(name, value, source):
        return value if name not in names or source != machine else None

    missing = tuple(
        repetition.Missing(name=name, machine=machine, reason=reason)
        for name in names
    )
    return with_conditions(
        with_fields(record, state="incomplete"),
        lambda condition: dataclasses.replace(
            vary(condition, keep), state="incomplete", missing=missing
        ),
        [place],
    )


@_for_each
def with_references(record, change):
    """Return a record with other bare metal, if it has some.

    :param change: The function that returns a reference in place of another,
        which has a number of copies.
    """
    bare_metal = record.bare_metal and dataclasses.replace(
        record.bare_metal,
        references={
            copies: change(copies, reference)
            for copies, reference in record.bare_metal.references.items()
        },
    )
    return with_fields(record, bare_metal=bare_metal)


@_for_each
def with_metrics(record, change):
    """Return a record with other metrics.

    :param change: The function that returns the metric in place of a metric;
        None removes it with its samples.
    """

    def replace(metrics):
        return tuple(filter(None, map(change, metrics)))

    def observe(observations):
        return tuple(
            dataclasses.replace(
                observation,
                sample=dataclasses.replace(observation.sample, metric=metric),
            )
            for observation in observations
            for metric in replace([observation.sample.metric])
        )

    record = with_fields(
        record,
        metrics=replace(record.metrics),
        expected_metrics=replace(record.repetition.expected_metrics),
    )
    record = with_references(
        record,
        lambda _, reference: dataclasses.replace(
            reference, repetitions=tuple(map(observe, reference.repetitions))
        ),
    )
    return with_conditions(
        record,
        lambda condition: dataclasses.replace(
            condition, observations=observe(condition.observations)
        ),
    )


def few(record, names=("disk.fio.randread.iops",)):
    """Return a record with these metrics alone, which are drawn quickly."""
    return with_metrics(
        record, lambda metric: metric if metric.name in names else None
    )


@_for_each
def redescribe(record, change):
    """Return a record whose file of machines says something else.

    :param change: A function that changes the details by name of the machine.
    """
    folder = common_records.FOLDER
    details = files.read(folder, record.machines_file)["machines"]
    change(details)
    return dataclasses.replace(
        record, machines_file=common_records.write_machines(details)
    )
