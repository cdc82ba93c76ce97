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
    """Return records in which every text of a guest is hostile."""
    records = made.records(guests=2, emulated=True)
    for number, record in enumerate(records):
        made.redescribe(record, functools.partial(_describe, WORDS[number]))
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
    return [shaped.shaped(record) for record in records]


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
    """Return records of variants in which every text is hostile."""
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
    """Return records of curves in which every text of a guest is hostile."""
    records = made.few(made.broken())
    for record in records:
        made.redescribe(record, functools.partial(_describe, ALL))
        record["machines"][0]["host"] = ALL
        for level in record["conditions"]:
            _spoil(level)
    return [shaped.shaped(record) for record in records]


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
    _rename_machines(level)
    level["skip_reason"] = level["skip_reason"] and ALL
    level["missing"] += [
        {"name": text, "machine": text, "reason": text} for text in WORDS
    ]
    level["findings"] += [
        {"kind": "steal_time", "subject": text, "detail": text}
        for text in WORDS
    ]
    level["synchronisation"] += [
        {**start, "workload": text, "command": text}
        for start in level["synchronisation"][:1]
        for text in WORDS
    ]
