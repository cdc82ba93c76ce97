# SPDX-License-Identifier: Apache-2.0
"""Records in which every text that others give is hostile."""

import copy
import functools

from tests.unit import made
from tests.unit.hostile import attacks
from tests.unit.report import shaped

WORDS = [
    text.encode("utf-8", "replace").decode() for text in attacks.WORDS.values()
]
ALL = " ".join(WORDS)


def of_overhead():
    """Return documents in which every text of a guest is hostile."""
    records = _encode(
        made.redescribe(record, functools.partial(_describe, WORDS[number]))
        for number, record in enumerate(made.records(guests=2, emulated=True))
    )
    for record in records:
        record["findings"] += [
            {"kind": kind, "subject": text, "detail": text}
            for kind in ("wrong_host", "steal_time")
            for text in WORDS
        ]
        (only,) = record["conditions"]
        _rename_machines(only)
    records[-1]["state"] = "incomplete"
    records[-1]["missing"] = [
        {"name": text, "machine": text, "reason": text} for text in WORDS
    ]
    return records


def _encode(records):
    """Return the documents of records, whose texts are not yet harmless."""
    return [made.document(shaped.shaped(record)) for record in records]


def _describe(flavor, details):
    """Have a guest say hostile things of itself."""
    guest = details["g1"]
    guest["fingerprint"] = {
        "virtualisation": ALL,
        **{text: [text, {text: text}] for text in WORDS},
    }
    guest["tools"] = {
        text: {"version": text, "checksum": text} for text in WORDS
    }
    guest["nova"].update(host=ALL, hypervisor=ALL, image={"name": ALL})
    guest["nova"]["flavor"]["name"] = flavor


def of_tuning():
    """Return documents of variants in which every text is hostile."""
    records = of_overhead()
    for record in records:
        (only,) = record["conditions"]
        record["question"] = "tuning"
        record["conditions"] = [
            {**copy.deepcopy(only), "axes": {"variant": name}, "position": 1}
            for name in ("plain", ALL)
        ]
        record["options"] = {
            "variants": [
                {"name": "plain"},
                {"name": ALL, "image_properties": {"hw_vif_model": ALL}},
            ],
            "reference": "plain",
            "idle_guests": "running",
        }
    return records


def of_density():
    """Return documents of curves in which every text of a guest is hostile."""
    records = _encode(
        made.redescribe(record, functools.partial(_describe, ALL))
        for record in made.few(made.broken())
    )
    for record in records:
        record["machines"][0]["host"] = ALL
        for level in record["conditions"]:
            _spoil(level)
    return records


def _rename_machines(condition):
    names = {
        "g1": attacks.WORDS["mathtext"],
        "g2": attacks.WORDS["svg_text_ended"],
    }
    for group in (condition, condition["observations"]):
        group["machines"] = [
            names.get(name, name) for name in group["machines"]
        ]


def _spoil(level):
    if "skip_reason" in level:
        level["skip_reason"] = ALL
        return
    _rename_machines(level)
    level["missing"] = level.get("missing", []) + [
        {"name": text, "machine": text, "reason": text} for text in WORDS
    ]
    level["findings"] = level.get("findings", []) + [
        {"kind": "steal_time", "subject": text, "detail": text}
        for text in WORDS
    ]
    level["synchronisation"] += [
        {**start, "workload": text, "command": text}
        for start in level["synchronisation"][:1]
        for text in WORDS
    ]
