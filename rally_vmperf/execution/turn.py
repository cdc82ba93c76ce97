"""One workload on one station: its commands, one by one."""

import collections.abc
import contextlib
import dataclasses
import math
import typing as t

from rally_vmperf.execution import assignment
from rally_vmperf.execution import barrier
from rally_vmperf.execution import command as commands
from rally_vmperf.execution import measured
from rally_vmperf.execution import part as parts
from rally_vmperf.execution import station as stations
from rally_vmperf.machines import base
from rally_vmperf.measurement import course as courses
from rally_vmperf.measurement import sample
from rally_vmperf.workloads import base as workloads


@dataclasses.dataclass(kw_only=True)
class Turn:
    """A station's part in a workload, and what came of it.

    :param steps: its commands by name
    :param given: names of the metrics that each command gave a sample of
    :param reasons: why others have none
    :param lost: the machine answers no more
    """

    one: assignment.Assignment
    place: stations.Station
    peer: stations.Station | None
    result: measured.Measured
    steps: dict[str, workloads.Command]
    given: dict[str, set[str]] = dataclasses.field(default_factory=dict)
    reasons: list[str] = dataclasses.field(default_factory=list)
    lost: bool = False

    def owes(self, name: str) -> bool:
        """Whether a command is among the station's own, and it is there."""
        return not self.lost and name in self.steps

    async def step(self, name: str) -> None:
        """Run one command alone."""
        with self._noting(name):
            self._take(
                await commands.run(
                    self.place,
                    self.steps[name],
                    self.place.folder_of(self.one.title),
                    self.peer,
                )
            )

    def part(
        self, name: str, meeting: barrier.Meeting, ahead: float
    ) -> parts.Part:
        """Return the station's part in a command that several begin.

        :param ahead: seconds that the station's clock is ahead of ours
        """
        return parts.Part(
            place=self.place,
            command=self.steps[name],
            folder=self.place.folder_of(self.one.title),
            peer=self.peer,
            meeting=meeting,
            ahead=ahead,
        )

    async def step_together(self, part: parts.Part) -> None:
        """Run one command as others do; what it gives is taken at once."""
        with self._noting(part.command.name):
            try:
                outcome = await part.run()
                self._take(outcome)
                part.course = self._course(outcome)
            finally:
                await part.settle()

    @contextlib.contextmanager
    def _noting(self, name: str) -> collections.abc.Iterator[None]:
        """Note why a command has no samples, and whether the machine is."""
        try:
            yield
        except (base.MachineError, workloads.WorkloadError) as error:
            self.reasons.append(f"{name}: {error}")
            self.lost = isinstance(error, base.Unreachable)

    def _take(self, outcome: workloads.Outcome) -> None:
        self._keep(outcome)
        self._parse(outcome)

    def note_missing(self) -> None:
        """Name every metric that is owed and was not taken."""
        reason = "; ".join(self.reasons) or "the tool did not report it"
        taken = set().union(*self.given.values())
        for metric in self.one.metrics():
            if metric.name not in taken:
                self.result.miss(metric.name, self.place.name, reason[:500])

    def _course(self, outcome: workloads.Outcome) -> courses.Course | None:
        """Return how far a command was when, its metrics labelled.

        Samples that could be read are worth as much without it.
        """
        course = None
        with contextlib.suppress(workloads.WorkloadError, ValueError):
            course = self.one.workload.course(self.one.arguments, outcome)
        if course is None:
            return None
        names = {self.one.rename(name) for name in course.metrics}
        return dataclasses.replace(course, metrics=frozenset(names))

    def _work(self, outcome: workloads.Outcome) -> workloads.Work | None:
        """Return how much a command did; samples are worth as much without."""
        with contextlib.suppress(workloads.WorkloadError, ValueError):
            work = self.one.workload.work(self.one.arguments, outcome)
            if work is not None and 0 < work.amount < math.inf:
                return work
        return None

    def _keep(self, outcome: workloads.Outcome) -> None:
        where: dict[str, t.Any] = {
            "workload": self.one.title,
            "command": outcome.name,
            "machine": self.place.name,
        }
        work = self._work(outcome)
        self.result.runs.append(
            measured.Run(
                **where,
                started=outcome.started,
                ended=outcome.ended,
                seconds=outcome.seconds,
                exit_status=outcome.exit_status,
                user=outcome.user,
                system=outcome.system,
                work=work.amount if work else None,
                work_unit=work.unit if work else "",
            )
        )
        self.result.keep_raw(
            {**where, "stdout": outcome.stdout, "stderr": outcome.stderr}
        )

    def _parse(self, outcome: workloads.Outcome) -> None:
        """Take the samples of one command.

        :raises WorkloadError: when the command failed or cannot be read
        """
        try:
            samples = self.one.workload.parse(
                self.one.arguments, {outcome.name: outcome}
            )
        except ValueError as error:
            raise workloads.WorkloadError(str(error)) from error
        given = self.given.setdefault(outcome.name, set())
        for value in samples:
            metric = self.one.relabel(value.metric)
            given.add(metric.name)
            self.result.observations.append(
                sample.Observation(
                    source=self.place.name,
                    sample=sample.Sample(metric=metric, value=value.value),
                )
            )


def begin(
    one: assignment.Assignment,
    place: stations.Station,
    peer: stations.Station | None,
    result: measured.Measured,
    lost: collections.abc.Mapping[str, str],
) -> Turn:
    """Return a station's turn at a workload, with nothing done yet.

    :param lost: why machines are left out, by their names
    """
    ends = workloads.Ends(
        peer=peer.address if peer else "",
        partner=place.partner.address if place.partner else "",
        port=place.port,
    )
    own = one.narrowed(ends)
    turn = Turn(
        one=own,
        place=place,
        peer=peer,
        result=result,
        steps={
            step.name: step
            for step in own.workload.commands(own.arguments, ends)
        },
    )
    if place.name in lost:
        turn.lost = True
        turn.reasons.append(lost[place.name])
    return turn
