"""Records as JSON documents."""

import dataclasses
import typing as t

from rally_vmperf.measurement import repetition
from rally_vmperf.records import model
from rally_vmperf.records import schema

#: The format of a record; each line of a journal is one.
FORMAT = schema.Format(
    model.Record,
    "record",
    4,
    "run the task again, after: rally-vmperf baseline record NAME --task FILE "
    "--replace",
)


def decode(document: t.Any) -> model.Record:
    """Return the record in a document; reject one that is no record.

    :raises FormatError: If it is not valid; with the position and the reason.
    """
    return link(FORMAT.decode(FORMAT.check(document)))


def decode_or_none(document: t.Any) -> model.Record | None:
    """Return the record in a document; None if it is not valid."""
    try:
        return decode(document)
    except schema.FormatError:
        return None


def shorten(record: model.Record) -> model.Record:
    """Return a record as it is read again: with numbers of few digits."""
    return link(FORMAT.decode(FORMAT.encode(record)))


def link(record: model.Record) -> model.Record:
    """Return a record whose parts know what the others contain.

    The conditions have the properties of their repetition, and the bare metal
    that they are compared with.
    """
    measured = record.repetition
    references: dict[int, repetition.Reference] = {}
    if record.bare_metal:
        references = {
            copies: dataclasses.replace(
                reference,
                name=record.bare_metal.name,
                machine=record.bare_metal.machine,
                recorded_at=record.bare_metal.recorded_at,
            )
            for copies, reference in record.bare_metal.references.items()
        }
        bare_metal = dataclasses.replace(
            record.bare_metal, references=references
        )
        record = dataclasses.replace(record, bare_metal=bare_metal)
    conditions = tuple(
        dataclasses.replace(
            condition,
            number=measured.number,
            planned_repetitions=measured.planned_repetitions,
            counted=measured.counted,
            # A skipped condition expects no metrics.
            expected_metrics=()
            if condition.skip_reason
            else measured.expected_metrics,
            reference=references.get(
                condition.reference_copies or 0, repetition.NO_REFERENCE
            ),
        )
        for condition in measured.conditions
    )
    return dataclasses.replace(
        record,
        repetition=dataclasses.replace(
            measured,
            conditions=conditions,
            hosts={
                machine.name: machine.host
                for machine in record.machines
                if machine.role == "guest" and machine.host
            },
            rebooted="boot" in record.options
            or record.options.get("reboot", "never") != "never",
        ),
    )
