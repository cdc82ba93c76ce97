"""Under which circumstances a density run measured, in words."""

import collections.abc
import typing as t

from rally_vmperf.questions.density.section import run as runs
from rally_vmperf.questions.density.section import told
from rally_vmperf.report import setting

Json = collections.abc.Mapping[str, t.Any]


def compared(run: runs.Run) -> setting.Facts:
    """Return what ran, and what it is compared with."""
    judged = run.judgement.judged
    return [
        ("Numbers of guests", [_levels(run.last)]),
        ("Order", [_order(run.last["order"])]),
        ("Others meanwhile", [run.last["options"].get("others", "idle")]),
        ("Bare metal", _bare(run.last)),
        (
            "Limits",
            [f"on the loss {told.whose(one)}" for one in judged[:1]],
        ),
    ]


def _levels(record: Json) -> str:
    levels = sorted(one["axes"]["guests"] for one in record["conditions"])
    words = f"{', '.join(map(str, levels))} at once"
    hosts = {
        one["host"] for one in record["machines"] if one["role"] == "guest"
    }
    return (
        f"{words} on each of {len(hosts)} hosts" if len(hosts) > 1 else words
    )


def _order(order: Json) -> str:
    if order["kind"] == "shuffled":
        return f"shuffled in each repetition, from seed {order['seed']}"
    return "as the task lists them"


def _bare(record: Json) -> list[str]:
    """Return the baseline with its numbers of copies, and what it lacks."""
    reference = record["reference"]
    if reference is None:
        return ["none to compare with"]
    known = [one["copies"] for one in reference["copies"]]
    lines = [f"{setting.reference(reference)}, for {_copies(known)}"]
    lacking = [
        one["axes"]["guests"]
        for one in record["conditions"]
        if one["copies"] is None and not one["skipped"]
    ]
    if lacking:
        lines.append(f"none for {_copies(lacking)}")
    return lines


def _copies(numbers: list[int]) -> str:
    words = ", ".join(map(str, sorted(numbers)))
    return f"{words} {'copy' if numbers == [1] else 'copies'}"
