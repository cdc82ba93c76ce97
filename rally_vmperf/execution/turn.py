"""One workload on one station: its commands, one by one."""

import collections.abc
import contextlib
import dataclasses
import math
import typing as t

from rally_vmperf.execution import assignment
from rally_vmperf.execution import barrier
from rally_vmperf.execution import caches
from rally_vmperf.execution import command as commands
from rally_vmperf.execution import measured
from rally_vmperf.execution import servers as servers_
from rally_vmperf.execution.stations import station as stations_
from rally_vmperf.machines import base
from rally_vmperf.measurement.samples import course as courses
from rally_vmperf.measurement.samples import sample
from rally_vmperf.workloads import base as workloads


@dataclasses.dataclass(kw_only=True)
class Turn:
    """A station's commands of a workload, and their results.

    :param steps: its commands by name
    :param given: names of the metrics that each command gave a sample of
    :param reasons: why others have none
    :param lost: the machine no longer answers
    """

    one: assignment.Assignment
    station: stations_.Station
    servers: servers_.Servers
    result: measured.Measured
    steps: dict[str, workloads.Command]
    given: dict[str, set[str]] = dataclasses.field(default_factory=dict)
    reasons: list[str] = dataclasses.field(default_factory=list)
    lost: bool = False

    def owes(self, name: str) -> bool:
        """Whether a command is among the station's own, and it is there."""
        return not self.lost and name in self.steps

    def seconds(self) -> float:
        """Return how many its commands take at most, if begun with others."""
        before = self.one.cooldown
        if self.one.drop_caches:
            before += caches.TIMEOUT
        return sum(
            before + 2 * (one.timeout + barrier.PATIENCE)
            for one in self.steps.values()
        )

    async def step(self, name: str) -> None:
        """Run one command alone."""
        with self._noting(name):
            command = self.steps[name]
            folder = self.station.folder_of(self.one.title)
            self._take(
                await self.servers.serve(
                    self.station,
                    command,
                    lambda: commands.run(self.station, command, folder),
                )
            )

    def part(
        self, name: str, meeting: barrier.Meeting, clock_offset: float
    ) -> commands.Part:
        """Return the station's part in a command that several begin.

        :param clock_offset: seconds that the station's clock is ahead of ours
        """
        return commands.Part(
            station=self.station,
            command=self.steps[name],
            folder=self.station.folder_of(self.one.title),
            servers=self.servers,
            meeting=meeting,
            clock_offset=clock_offset,
        )

    async def step_with_others(self, part: commands.Part) -> None:
        """Run one command together with others, and parse its output."""
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
            others = self.servers.intruders.get((self.station.name, name))
            self.reasons.append(
                f"{name}: {error}; {others}" if others else f"{name}: {error}"
            )
            self.lost = isinstance(error, base.Unreachable)

    def omit(self, name: str, error: base.MachineError) -> None:
        """Leave a command out that the machine is not ready for."""
        del self.steps[name]
        with self._noting(name):
            raise error

    def _take(self, outcome: workloads.Outcome) -> None:
        self._keep(outcome)
        self._parse(outcome)

    def note_missing(self) -> None:
        """Name every metric that is owed and was not taken."""
        reason = "; ".join(self.reasons) or "the tool did not report it"
        taken = set().union(*self.given.values())
        for metric in self.one.metrics():
            if metric.name not in taken and not metric.optional:
                self.result.miss(metric.name, self.station.name, reason[:500])

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
            "machine": self.station.name,
        }
        work = self._work(outcome)
        self.result.runs.append(
            measured.CommandRun(
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
            readings = self.one.workload.parse(
                self.one.arguments, {outcome.name: outcome}
            )
        except ValueError as error:
            raise workloads.WorkloadError(str(error)) from error
        given = self.given.setdefault(outcome.name, set())
        for one in readings:
            own = dataclasses.replace(one, metric=self.one.relabel(one.metric))
            values = [own] if isinstance(own, sample.Sample) else []
            if isinstance(own, sample.Distribution):
                values = own.samples()
                # Machines together may have more than one of them alone.
                given |= {one.name for one in sample.percentiles(own.metric)}
            if not isinstance(own, sample.Sample):
                self.result.readings.append((self.station.name, own))
            given |= {value.metric.name for value in values}
            self.result.observations += [
                sample.Observation(self.station.name, value)
                for value in values
            ]


def begin(
    one: assignment.Assignment,
    station: stations_.Station,
    ends: workloads.Ends,
    servers: servers_.Servers,
    result: measured.Measured,
    lost: collections.abc.Mapping[str, str],
) -> Turn:
    """Return a station's turn at a workload, with nothing done yet.

    :param lost: why machines are left out, by their names
    """
    own = one.narrowed(ends)
    turn = Turn(
        one=own,
        station=station,
        servers=servers,
        result=result,
        steps={
            step.name: step
            for step in own.workload.commands(own.arguments, ends)
        },
    )
    if station.name in lost:
        turn.lost = True
        turn.reasons.append(lost[station.name])
    return turn
