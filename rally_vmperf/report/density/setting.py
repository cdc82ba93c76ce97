"""Under which circumstances a density run measured, in words."""

import collections.abc
import typing as t

from rally_vmperf.report import setting
from rally_vmperf.report.density import run as runs
from rally_vmperf.report.density import told

Json = collections.abc.Mapping[str, t.Any]


def facts(run: runs.Run) -> setting.Facts:
    """Return what a reader must know before the figures, in order."""
    if not run.records:
        return []
    judged = run.judgement.judged
    compared = [
        ("Numbers of guests", [_levels(run.last)]),
        ("Order", [_order(run.last["order"])]),
        ("Others meanwhile", [run.last.get("others", "idle")]),
        ("Bare metal", _bare(run.last)),
        (
            "Limits",
            [f"on the loss {told.whose(one)}" for one in judged[:1]],
        ),
    ]
    return setting.about(run, run.judgement, compared)


def _levels(record: Json) -> str:
    levels = sorted(one["guests"] for one in record["levels"])
    words = f"{', '.join(map(str, levels))} at once"
    hosts = {
        str(one.get("nova", {}).get("host_id"))
        for one in record["machines"]
        if one["role"] == "guest"
    }
    return (
        f"{words} on each of {len(hosts)} hosts" if len(hosts) > 1 else words
    )


def _order(order: Json) -> str:
    if order["kind"] == "shuffled":
        return f"shuffled in each repetition, from seed {order['seed']}"
    return "as the task lists them"


def _bare(record: Json) -> list[str]:
    """Return the baselines, each with its numbers of copies."""
    found: dict[str, list[int]] = {}
    for level in record["levels"]:
        if level["reference"] is not None:
            words = setting.reference(level["reference"])
            found.setdefault(words, []).append(level["guests"])
    lines = [
        f"{words}, for {_copies(copies)}" for words, copies in found.items()
    ]
    known = {one for copies in found.values() for one in copies}
    lacking = sorted(
        one["guests"]
        for one in record["levels"]
        if one["guests"] not in known and not one["skipped"]
    )
    if not lines:
        return ["none to compare with"]
    if lacking:
        lines.append(f"none for {_copies(lacking)}")
    return lines


def _copies(numbers: list[int]) -> str:
    words = ", ".join(map(str, sorted(numbers)))
    return f"{words} {'copy' if numbers == [1] else 'copies'}"
