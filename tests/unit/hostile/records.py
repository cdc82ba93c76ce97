"""Records in which every text that others give is hostile."""

import copy
import functools

from tests.unit import made
from tests.unit.hostile import attacks
from tests.unit.report import shaped

WORDS = [
    words.encode("utf-8", "replace").decode()
    for words in attacks.WORDS.values()
]
ALL = " ".join(WORDS)


def of_overhead():
    """Return records in which every text of a guest is hostile."""
    found = made.records(guests=2, emulated=True)
    for number, record in enumerate(found):
        made.redescribe(record, functools.partial(_describe, WORDS[number]))
        record["findings"] += [
            {"kind": kind, "subject": words, "detail": words}
            for kind in ("wrong_host", "steal_time")
            for words in WORDS
        ]
        (only,) = record["conditions"]
        _rename_machines(only)
    found[-1]["state"] = "incomplete"
    found[-1]["missing"] = [
        {"name": words, "machine": words, "reason": words} for words in WORDS
    ]
    return [shaped.shaped(record) for record in found]


def _describe(flavor, details):
    """Have a guest say hostile things of itself."""
    guest = details["g1"]
    guest["fingerprint"] = {
        "virtualisation": ALL,
        **{words: [words, {words: words}] for words in WORDS},
    }
    guest["tools"] = {
        words: {"version": words, "checksum": words} for words in WORDS
    }
    guest["nova"].update(host=ALL, hypervisor=ALL, image={"name": ALL})
    guest["nova"]["flavor"]["name"] = flavor


def of_tuning():
    """Return records of variants in which every text is hostile."""
    found = of_overhead()
    for record in found:
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
    return found


def of_density():
    """Return records of curves in which every text of a guest is hostile."""
    found = made.few(made.broken())
    for record in found:
        made.redescribe(record, functools.partial(_describe, ALL))
        record["machines"][0]["host"] = ALL
        for level in record["conditions"]:
            _spoil(level)
    return [shaped.shaped(record) for record in found]


def _rename_machines(condition):
    names = {
        "g1": attacks.WORDS["mathtext"],
        "g2": attacks.WORDS["svg_text_ended"],
    }
    for part in (condition, condition["observations"]):
        part["machines"] = [names.get(one, one) for one in part["machines"]]


def _spoil(level):
    _rename_machines(level)
    level["skip_reason"] = level["skip_reason"] and ALL
    level["missing"] += [
        {"name": words, "machine": words, "reason": words} for words in WORDS
    ]
    level["findings"] += [
        {"kind": "steal_time", "subject": words, "detail": words}
        for words in WORDS
    ]
    level["synchronisation"] += [
        {**start, "workload": words, "command": words}
        for start in level["synchronisation"][:1]
        for words in WORDS
    ]
