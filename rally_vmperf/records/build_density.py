"""From what the levels of a curve left to the record of the curve."""

import collections.abc
import dataclasses
import typing as t

from rally_vmperf.measurement import finding
from rally_vmperf.measurement import repetition
from rally_vmperf.measurement import sample
from rally_vmperf.measurement.density import curve
from rally_vmperf.records import build
from rally_vmperf.records import codec

State = t.Literal["complete", "incomplete", "interrupted", "skipped"]
OrderKind = t.Literal["listed", "shuffled"]
Others = t.Literal["idle", "paused", "stopped"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Order:
    """In which order the levels of a curve ran.

    :param seed: what a shuffling begins with; the repetition adds its number
    """

    kind: OrderKind
    seed: int


@dataclasses.dataclass(frozen=True, kw_only=True)
class Level:
    """What one number of guests left.

    :param guests: how many on each host
    :param position: place in the order in which the levels ran, from 1
    :param skipped: why it was not run at all, or nothing
    :param machines: names of the guests that were to take part
    :param runs: dataclasses with the schema's keys
    :param reference: of bare metal in as many copies, None without one
    """

    guests: int
    position: int
    state: State
    skipped: str = ""
    machines: tuple[str, ...] = ()
    observations: tuple[sample.Observation, ...] = ()
    runs: tuple[t.Any, ...] = ()
    missing: tuple[repetition.Missing, ...] = ()
    findings: tuple[finding.Finding, ...] = ()
    starts: tuple[curve.Start, ...] = ()
    reference: dict[str, t.Any] | None = None


def build_density(
    identity: build.Identity,
    setting: build.Setting,
    levels: collections.abc.Sequence[Level],
    *,
    order: Order,
    others: Others,
    state: repetition.State,
    started_at: str,
    missing: collections.abc.Iterable[repetition.Missing],
    findings: collections.abc.Iterable[finding.Finding],
    raw: str,
) -> dict[str, t.Any]:
    """Return the record of one complete curve.

    :param levels: in the order of the task
    :param others: what guests did that took no part in a level
    :param missing: of the curve as a whole, beside those of its levels
    :param findings: likewise
    """
    gaps = [gap for one in levels for gap in one.missing]
    observations = [each for one in levels for each in one.observations]
    return {
        **build.frame(identity, setting, observations),
        "kind": "density",
        "state": state,
        "started_at": started_at,
        "runs": [],
        "samples": [],
        "missing": build.plain(dict.fromkeys((*gaps, *missing))),
        "findings": build.plain(dict.fromkeys((*setting.findings, *findings))),
        "reference": None,
        "order": dataclasses.asdict(order),
        "others": others,
        "levels": [_level(one) for one in levels],
        "raw": raw,
    }


def _level(one: Level) -> dict[str, t.Any]:
    return {
        "guests": one.guests,
        "position": one.position,
        "state": one.state,
        "skipped": one.skipped,
        "machines": list(one.machines),
        "samples": codec.encode_observations(one.observations),
        "runs": build.plain(one.runs),
        "missing": build.plain(one.missing),
        "findings": build.plain(dict.fromkeys(one.findings)),
        "starts": build.plain(one.starts),
        "reference": one.reference,
    }
