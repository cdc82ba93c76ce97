"""A recording of bare metal as its journals have it: what is there, what not.

Each shape has a journal of its own, named after the recording's session.
"""

import collections.abc
import dataclasses
import json
import typing as t

from rally_vmperf.baseline import document
from rally_vmperf.execution import assignment
from rally_vmperf.execution import station as stations
from rally_vmperf.machines import base
from rally_vmperf.records import build
from rally_vmperf.records import codec
from rally_vmperf.records import files
from rally_vmperf.records import journal as journals
from rally_vmperf.runs import recording
from rally_vmperf.runs import run as runs

Json = collections.abc.Mapping[str, t.Any]


class Part:
    """One shape of a recording: what its plan asks for and what there is.

    :param journal: with the repetitions so far, if there are any
    :raises BaselineError: when these were made by another plan, or cannot be
        read
    """

    def __init__(
        self, plan: recording.Plan, journal: journals.Journal
    ) -> None:
        self.plan = plan
        self.records: list[Json] = []
        #: By machine; of the newest repetition that has them.
        self.details: dict[str, dict[str, t.Any]] = {}
        #: Why it could not be measured at all, or nothing.
        self.trouble = ""
        self._journal = journal
        if journal.path.exists():
            self._read()

    def _read(self) -> None:
        try:
            for record in self._journal.read():
                _check_options(record, self.plan)
                read = files.read(
                    self._journal.folder, record["files"]["machines"]
                )
                self._keep(record, read["machines"])
        except (files.FileError, journals.JournalError) as error:
            raise document.BaselineError(
                f"recording {self.plan.session} cannot be continued: {error}"
            ) from error

    def measure(
        self,
        connect: t.Callable[[], base.Machine],
        peer: stations.Station | None,
        progress: runs.Progress,
        warn: runs.Progress,
    ) -> None:
        """Measure what is missing, and nothing else.

        :raises MachineError: as ``recording.measure``
        """
        lacking = [one for one in self.plan.assignments if self._lacks(one)]
        if not lacking:
            return
        recording.measure(
            dataclasses.replace(
                self.plan,
                assignments=tuple(lacking),
                repetitions=max(map(self._lacks, lacking)),
            ),
            self._journal,
            connect,
            peer,
            after=max((one["repetition"] for one in self.records), default=0),
            known=self.details,
            keep=self._keep,
            progress=progress,
            warn=warn,
        )

    def missing(self) -> list[str]:
        """Return what is missing, a line for each workload."""
        asked = self.plan.repetitions
        return [
            f"{self.plan.shape}: {one.title} has {asked - lacks} of {asked} "
            f"repetitions: {self._why(one)}"
            for one in self.plan.assignments
            if (lacks := self._lacks(one)) > 0
        ]

    def entries(self) -> list[dict[str, t.Any]]:
        """Return the entries of the baseline document."""
        return [self._entry(one) for one in self.plan.assignments]

    def machine(self) -> dict[str, t.Any]:
        """Return name, fingerprint and tools of bare metal."""
        first = self.records[0]["machines"][0]
        return self._described(first["host"], first["name"])

    def peer(self) -> dict[str, t.Any] | None:
        """Return the same of the peer, if there is one."""
        for one in self.records[0]["machines"]:
            if one["role"] == "peer":
                return self._described(one["name"], one["name"])
        return None

    def _described(self, name: str, machine: str) -> dict[str, t.Any]:
        known = self.details[machine]
        return {
            "name": name,
            **{key: known[key] for key in ("fingerprint", "tools")},
        }

    def _keep(
        self,
        record: Json,
        details: collections.abc.Mapping[str, dict[str, t.Any]],
    ) -> None:
        self.records.append(record)
        for name, new in details.items():
            old = self.details.get(name, {"tools": {}, "facts": {}})
            self.details[name] = {
                **new,
                "tools": {**old["tools"], **new["tools"]},
                "facts": {**old["facts"], **new["facts"]},
            }

    def _of(self, one: assignment.Assignment) -> list[Json]:
        """Return the counted repetitions that have all of a workload."""
        names = {metric.name for metric in one.metrics()}
        return [
            record
            for record in self.records
            if record["counted"] and _has(record, names)
        ]

    def _lacks(self, one: assignment.Assignment) -> int:
        """Return how many counted repetitions of a workload are missing."""
        return max(0, self.plan.repetitions - len(self._of(one)))

    def _why(self, one: assignment.Assignment) -> str:
        """Return why the last repetition lacks a workload."""
        names = {metric.name for metric in one.metrics()}
        for record in reversed(self.records):
            for gap in _gaps(record):
                if gap["what"] in names or gap["what"] == "repetition":
                    return f"{gap['source']}: {gap['reason']}"
        return self.trouble or "it was not measured"

    def _entry(self, one: assignment.Assignment) -> dict[str, t.Any]:
        records = self._of(one)
        copies = [
            machine["name"]
            for machine in records[0]["machines"]
            if machine["role"] == "copy"
        ]
        facts: dict[str, str] = {}
        for name in copies:
            facts.update(self.details[name]["facts"].get(one.title, {}))
        found = {
            json.dumps(each): each
            for record in records
            for part in (record, *record["conditions"])
            for each in part["findings"]
        }
        return {
            "workload": one.workload.name,
            "arguments": one.arguments,
            "shape": dataclasses.asdict(self.plan.shape),
            "held": self.details[copies[0]]["held"],
            "facts": facts,
            "metrics": codec.encode_metrics(
                one.workload.metrics(one.arguments)
            ),
            "repetitions": [_samples(record, one) for record in records],
            "findings": list(found.values()),
        }


def baseline(parts: collections.abc.Sequence[Part]) -> dict[str, t.Any]:
    """Return the document of a recording that lacks nothing."""
    first = parts[0]
    peers = [peer for one in parts if (peer := one.peer())]
    return {
        "version": 2,
        "name": first.plan.baseline,
        "session": first.plan.session,
        "recorded_at": first.records[0]["started_at"],
        "software": build.software(),
        "machine": _merged([one.machine() for one in parts]),
        **({"peer": _merged(peers)} if peers else {}),
        "entries": [entry for one in parts for entry in one.entries()],
    }


def _check_options(record: Json, plan: recording.Plan) -> None:
    """Refuse to continue with other arguments."""
    given, wanted = record["options"], plan.options
    for key in sorted({*given, *wanted}):
        if given.get(key) != wanted.get(key):
            raise document.BaselineError(
                f"recording {plan.session} was begun with {key} "
                f"{given.get(key)!r:.200}, not {wanted.get(key)!r:.200}; give "
                "the same arguments, or record anew without --continue"
            )


def _has(record: Json, names: collections.abc.Set[str]) -> bool:
    """Tell whether a repetition lacks nothing of a workload's metrics."""
    gaps = {gap["what"] for gap in _gaps(record)}
    if gaps & names or not names <= set(record["expected"]):
        return False
    if not record["missing"]:
        return True
    # It was cut off: what came before is whole if all copies have it.
    samples = [one["samples"] for one in record["conditions"]]
    return bool(samples) and all(
        None not in samples[0].get(name, [None]) for name in names
    )


def _samples(record: Json, one: assignment.Assignment) -> dict[str, t.Any]:
    """Return a workload's samples under the names that it gives them."""
    samples = record["conditions"][0]["samples"]
    return {
        metric.name: [
            codec.of_one(codec.several(given, record["metrics"][name]))
            for given in samples[name]
        ]
        for metric in one.workload.metrics(one.arguments)
        if (name := one.rename(metric.name)) in samples
    }


def _gaps(record: Json) -> list[Json]:
    parts = (*record["conditions"], record)
    return [gap for part in parts for gap in part["missing"]]


def _merged(machines: list[dict[str, t.Any]]) -> dict[str, t.Any]:
    """Return one account of a machine, with the tools of all its parts."""
    tools: dict[str, t.Any] = {}
    for one in machines:
        tools.update(one["tools"])
    return {**machines[0], "tools": tools}
