# SPDX-License-Identifier: Apache-2.0
"""Loads next to the measured guests: unmeasured guests, control machine.

The control machine is neither the peer nor a hypervisor, and runs the same
small load during every condition. If its figures move, the network, the peer
or the controller has changed, not the guests.
"""

import asyncio
import collections.abc
import contextlib
import dataclasses
import re
import statistics

from rally_vmperf import documents
from rally_vmperf.execution import assignment
from rally_vmperf.execution import estimate
from rally_vmperf.execution import measured
from rally_vmperf.execution import ports
from rally_vmperf.execution import servers
from rally_vmperf.execution import sessions
from rally_vmperf.execution.stations import roles
from rally_vmperf.machines import base
from rally_vmperf.machines import clock
from rally_vmperf.machines import job
from rally_vmperf.machines import scripts
from rally_vmperf.measurement import command_result
from rally_vmperf.measurement import finding
from rally_vmperf.measurement.event import phases
from rally_vmperf.measurement.samples import sample
from rally_vmperf.measurement.samples import units
from rally_vmperf.runs import actions
from rally_vmperf.runs import conditions
from rally_vmperf.workloads import base as workloads

#: The label that distinguishes its workload from a measured one.
LABEL = "control"
#: The number of its users with h2load.
USERS = 100
#: The seconds of a run of sysbench, and the most of a run of h2load.
_SYSBENCH_SECONDS, _MOST_SECONDS = 2, 10
#: The share of the time of a measured h2load that a run takes.
_SHARE = 10
#: The ends of the names of the metrics that are reported.
_FIGURES = ("rate", "response_time_mean", "response_time_p95", "latency_p95")
_OUTPUT_LIMIT = 1 << 24
_RUN = re.compile(
    r"^run ([0-9]{1,3}) ([0-9.]{1,20}) ([0-9.]{1,20})\n", re.MULTILINE
)
#: The change in percent above which the infrastructure is said to move.
_TOLERATED_PERCENT = 20.0
#: The metrics that show a change; the rate of h2load follows its think time.
_INDICATORS = ("control.h2load.response_time_mean", "control.sysbench.rate")


def create_work(
    assignments: collections.abc.Iterable[assignment.Assignment],
) -> assignment.Assignment:
    """Return the workload of the control machine.

    It is h2load with 100 users if the task measures h2load, with the think
    time and pages of that workload, and otherwise sysbench with one thread.

    :param assignments: The measured workloads.
    """
    for assigned in assignments:
        if assigned.workload.name == "h2load":
            seconds = assigned.arguments["time"] // _SHARE
            name = "h2load"
            arguments = {
                **assigned.arguments,
                "users": USERS,
                "time": max(1, min(seconds, _MOST_SECONDS)),
            }
            break
    else:
        name = "sysbench"
        arguments = {"threads": 1, "time": _SYSBENCH_SECONDS}
    return assignment.create_assignment(
        {"name": name, "label": LABEL, "arguments": arguments}
    )


def create_metric(metric: sample.Metric) -> sample.Metric | None:
    """Return the metric of the control machine for one of its workload.

    It has absolute limits only, because bare metal has no control machine.

    :returns: The metric; None if it is not reported.
    """
    _, tool, *_, figure = metric.name.split(".")
    if figure not in _FIGURES:
        return None
    return sample.Metric(
        f"{LABEL}.{tool}.{figure}",
        metric.unit,
        metric.better,
        scale="count",
        optional=True,
    )


def list_metrics(work: assignment.Assignment) -> tuple[sample.Metric, ...]:
    """Return the metrics of a control machine with a workload."""
    created = map(create_metric, work.workload.metrics(work.arguments))
    return tuple(metric for metric in created if metric is not None)


@dataclasses.dataclass(kw_only=True)
class ControlLoad:
    """The load of the control machine during a condition.

    :param measured: The assignments that are measured meanwhile.
    :param further_seconds: The seconds that an action, such as a migration,
        can last after the workloads.
    :ivar error: The reason why the last condition has no figures, or "".
    :ivar line: The indicator in the last condition, one point for each run;
        None if its time is not known.
    """

    control: sessions.Control
    measured: collections.abc.Sequence[assignment.Assignment]
    peer: roles.Station | None
    further_seconds: float = 0.0
    error: str = ""
    line: phases.Line | None = None
    _job: job.Job | None = None
    _servers: servers.Servers | None = None

    async def begin(self) -> None:
        """Start the load; store an error."""
        self.error, self.line = "", None
        station, work = self.control.station, self.control.work
        # A load that a killed controller leaves ends by itself.
        seconds = self.further_seconds + estimate.get_longest_seconds(
            self.measured
        )
        self._servers = servers.Servers(
            title=work.title, peer=self.peer, seconds=seconds
        )
        try:
            command = self._create_command()
            await self._servers.hold(station, command, seconds)
            self._job = job.Job(
                machine=station.machine,
                folder=station.folder_of(work.title),
                name=work.title,
                argv=scripts.argv("control.bash", *command.argv),
                timeout=seconds,
                output_limit=_OUTPUT_LIMIT,
                prefix=(*station.prefix, *station.tools),
            )
            await self._job.start()
        except (base.MachineError, workloads.WorkloadError) as error:
            self._job = None
            self.error = str(error)

    async def end(self) -> tuple[sample.Sample, ...]:
        """End the load after its current run; return the means of all runs."""
        started, self._job = self._job, None
        station = self.control.station
        try:
            if started is None:
                return ()
            folder = station.folder_of(self.control.work.title)
            await station.machine.put(b"", f"{folder}/stop")
            result = await started.finish()
            figures = self._average(result.stdout)
            await self._correct_clock()
            return figures
        except (base.MachineError, workloads.WorkloadError) as error:
            self.error = str(error)
            return ()
        finally:
            if started is not None and self.error:
                await started.give_up()
            if self._servers is not None:
                await self._servers.close()

    async def _correct_clock(self) -> None:
        """Move the line to the clock of the controller, or remove it."""
        line, self.line = self.line, None
        if line is not None:
            with contextlib.suppress(base.MachineError):
                reading = await clock.read(self.control.station.machine)
                self.line = dataclasses.replace(
                    line, begun=line.begun - reading.offset
                )

    def _create_command(self) -> workloads.Command:
        """Return the command, with a port that no measured machine has."""
        work = self.control.work
        needed = work.workload.ports(work.arguments)
        begin = ports.LAST + 1 - needed.own - needed.shared
        (allotment,) = ports.allocate([work], begin)
        (command,) = work.workload.commands(
            work.arguments, allotment.connect(0, self.peer)
        )
        return command

    def _average(self, text: str) -> tuple[sample.Sample, ...]:
        """Return the mean of each metric over the complete runs.

        :raises WorkloadError: If no run succeeded.
        """
        values: dict[sample.Metric, list[float]] = {}
        problem = "no run ended during the condition"
        fields = _RUN.split(text)
        for status, begun, ended, output in zip(
            *(fields[place::4] for place in (1, 2, 3, 4)), strict=True
        ):
            try:
                readings = self._parse(int(status), begun, ended, output)
            except (ValueError, workloads.WorkloadError) as error:
                problem = str(error)
                continue
            for reading in readings:
                if metric := create_metric(reading.metric):
                    values.setdefault(metric, []).append(reading.value)
                    if metric.name in _INDICATORS:
                        self._add_point(
                            metric, float(begun), float(ended), reading.value
                        )
        if not values:
            raise workloads.WorkloadError(
                f"{self.control.station.name}: {self.control.work.title}: "
                f"{problem}"
            )
        return tuple(
            sample.Sample(metric, statistics.fmean(of_runs))
            for metric, of_runs in values.items()
        )

    def _add_point(
        self, metric: sample.Metric, begun: float, ended: float, figure: float
    ) -> None:
        """Add the indicator of a run to the line."""
        line = self.line or phases.Line(
            machine=self.control.station.name,
            metric=metric,
            begun=begun,
            points=(),
        )
        self.line = dataclasses.replace(
            line, points=(*line.points, (ended - line.begun, figure))
        )

    def _parse(
        self, status: int, begun: str, ended: str, output: str
    ) -> list[sample.Sample]:
        """Return the samples in the output of one run.

        :raises WorkloadError: If the run failed, or its output is not valid.
        """
        work = self.control.work
        result = command_result.CommandResult(
            name=self._create_command().name,
            exit_status=status,
            seconds=float(ended) - float(begun),
            started=float(begun),
            ended=float(ended),
            stdout=output,
            stderr="",
        )
        samples: list[sample.Sample] = []
        for reading in work.workload.parse_all(
            work.arguments, {result.name: result}
        ):
            if isinstance(reading, sample.Distribution):
                samples += reading.samples()
            elif isinstance(reading, sample.Sample):
                samples.append(reading)
        return samples


@dataclasses.dataclass
class ControlAction(actions.Action):
    """The load of the control machine, and the comparison of its figures.

    :ivar earlier: The indicator in earlier repetitions, by condition.
    :ivar figures: The figures of a condition whose load has ended.
    """

    load: ControlLoad
    runner: asyncio.Runner
    figures: tuple[sample.Sample, ...] | None = None
    earlier: dict[str, list[float]] = dataclasses.field(default_factory=dict)
    name = "control machine"
    is_evaluated = True

    def before(
        self, current: conditions.CurrentCondition
    ) -> actions.ActionResult:
        """Start the load; return an empty result.

        Without it, the guests are measured, and its figures are missing.
        """
        self.runner.run(self.load.begin())
        return actions.ActionResult()

    def evaluate(
        self, current: conditions.CurrentCondition, result: measured.Measured
    ) -> actions.ActionResult:
        """End the load, and store its indicator; return an empty result."""
        self.figures = self.runner.run(self.load.end())
        result.control = self.load.line
        return actions.ActionResult()

    def after(
        self, current: conditions.CurrentCondition
    ) -> actions.ActionResult:
        """Return the figures of the load, and a finding if they moved."""
        samples, self.figures = self.figures, None
        if samples is None:
            samples = self.runner.run(self.load.end())
        source = self.load.control.station.name
        findings = [
            moved
            for figure in samples
            if figure.metric.name in _INDICATORS
            and (moved := self._compare(str(current.condition), figure))
        ]
        return actions.ActionResult(
            errors={source: self.load.error} if self.load.error else {},
            findings=tuple(findings),
            observations=tuple(
                sample.Observation(source, figure) for figure in samples
            ),
        )

    def _compare(
        self, condition: str, figure: sample.Sample
    ) -> finding.Finding | None:
        """Store a figure; return a finding if it differs from earlier ones."""
        earlier = self.earlier.setdefault(condition, [])
        usual = statistics.median(earlier) if earlier else figure.value
        earlier.append(figure.value)
        low, high = sorted((usual, figure.value))
        if high <= low * (1 + _TOLERATED_PERCENT / 100):
            return None
        unit = figure.metric.unit
        return finding.Finding(
            "control_disturbed",
            self.load.control.station.name,
            f"{figure.metric.name} {units.show(figure.value, unit)}, "
            f"{units.show(usual, unit)} in the median of "
            f"{units.number_of('earlier repetition', len(earlier) - 1)}",
        )


def create_control(
    options: documents.Arguments | None,
    assignments: collections.abc.Iterable[assignment.Assignment],
) -> sessions.Control | None:
    """Return the control machine with its workload; None without one.

    :param options: The control machine, as the task defines it.
    :param assignments: The measured workloads.
    """
    from rally_vmperf.execution.stations import reach

    if options is None:
        return None
    return sessions.Control(
        station=reach.peer_station(options, "control"),
        work=create_work(assignments),
    )


def list_loads(
    unmeasured: conditions.Unmeasured | None, session: sessions.Session
) -> list[actions.Action]:
    """Return the actions of the loads in a session, as a list.

    :param unmeasured: The guests that are not measured; None without them.
    """
    loads: list[actions.Action] = []
    if unmeasured is not None:
        load = unmeasured.create_load(session, unmeasured.names)
        loads.append(
            actions.UnmeasuredLoad(load, session.runner, unmeasured.axis)
        )
    if session.control is not None:
        control_load = ControlLoad(
            control=session.control,
            measured=session.assignments,
            peer=session.peer,
        )
        loads.append(ControlAction(control_load, session.runner))
    return loads
