# SPDX-License-Identifier: Apache-2.0
"""Records with machines and bare metal, and their documents."""

import atexit
import dataclasses
import pathlib
import shutil
import tempfile

from rally_vmperf.baseline import document as baseline_document
from rally_vmperf.measurement import repetition as repetitions_
from rally_vmperf.records import files
from rally_vmperf.records import model
from tests.unit.made import repetitions

#: Where the files lie that the records name.
FOLDER = pathlib.Path(tempfile.mkdtemp(prefix="vmperf-made-"))
atexit.register(shutil.rmtree, FOLDER, ignore_errors=True)

SESSION = "5e55" * 8


def machine(name, role="guest", host=""):
    """Return a machine of a record."""
    boot = f"id-{name}#1" if role == "guest" else ""
    return model.RecordedMachine(name=name, role=role, host=host, boot_id=boot)


def write_machines(details):
    """Write the facts of machines; return the reference to the file."""
    return files.write_machines(FOLDER, details, print)


def keep_files(folder):
    """Put the files that records name into the folder of a journal."""
    shutil.copytree(FOLDER, folder, dirs_exist_ok=True)


#: The fields of a record that belong to its repetition.
MEASURED = {
    field.name for field in dataclasses.fields(repetitions_.Repetition)
}


def record(rate=90.0, **changes):
    """Return the record of a guest, with one sample.

    :param changes: Other fields of the record or of its repetition.
    """
    measured = {
        "run": "workload-1",
        "question": "overhead",
        "expected_metrics": (repetitions.EVENTS,),
        "conditions": [
            repetitions.build_condition(
                2,
                {repetitions.EVENTS: [rate]},
                reference=repetitions.reference(
                    {repetitions.EVENTS: (100.0, 101.0, 99.0)}
                ),
            )
        ],
        **{key: changes.pop(key) for key in MEASURED & changes.keys()},
    }
    number = measured.pop("number", 2)
    changes.setdefault("machines", (machine("g1"),))
    return record_of(
        repetitions.repetition(number, measured.pop("conditions"), **measured),
        **changes,
    )


def record_of(measured, **changes):
    """Return the record of a repetition as it is read from a journal.

    :param changes: The other fields of the record.
    """
    references = {}
    conditions = []
    for compared in measured.conditions:
        copies = None
        if compared.reference.repetitions:
            copies = compared.reference_copies or len(compared.machines) or 1
            references[copies] = compared.reference
        conditions.append(
            dataclasses.replace(compared, reference_copies=copies)
        )
    sampled = [
        observation.sample.metric
        for observations_ in (
            *(compared.observations for compared in measured.conditions),
            *(
                observations_
                for compared in references.values()
                for observations_ in compared.repetitions
            ),
        )
        for observation in observations_
    ]
    fields = {
        "task": "task-1",
        "started_at": "2026-01-02T03:04:05+00:00",
        "finished_at": "2026-01-02T03:05:05+00:00",
        "software": {"rally-vmperf": "1.0.0", "rally": "5.1.1"},
        "shape": model.RecordedShape(vcpus=1, memory_mib=1024, copies=1),
        "machines": tuple(
            machine(name, host=host) for name, host in measured.hosts.items()
        ),
        "workloads": (model.RecordedWorkload(name="sysbench", arguments={}),),
        "metrics": tuple(
            dict.fromkeys((*measured.expected_metrics, *sampled))
        ),
        "bare_metal": bare_metal(references) if references else None,
    }
    measured = dataclasses.replace(measured, conditions=tuple(conditions))
    return model.link(
        model.Record(repetition=measured, **{**fields, **changes})
    )


def bare_metal(references, **changes):
    """Return the bare metal of a record.

    :param references: The samples by number of copies.
    :param changes: Other fields.
    """
    first = next(iter(references.values()))
    return model.BareMetal(
        **{
            "name": first.name,
            "machine": first.machine,
            "recorded_at": first.recorded_at,
            "digest": "0" * 64,
            "session": SESSION,
            "fingerprint": {"kernel": "6.1.0-18-amd64"},
            "tools": {},
            "references": references,
            **changes,
        }
    )


def document(content, **changes):
    """Return a record or a baseline as its document.

    :param changes: Other keys of the document.
    """
    is_record = isinstance(content, model.Record)
    content_format = model.FORMAT if is_record else baseline_document.FORMAT
    return {**content_format.encode(content), **changes}
