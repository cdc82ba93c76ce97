# SPDX-License-Identifier: Apache-2.0
"""A session that measures nothing, and a run with it."""

from rally_vmperf.execution.stations import roles
from rally_vmperf.machines import testing
from rally_vmperf.measurement import command_result
from rally_vmperf.measurement.samples import sample
from rally_vmperf.records import model
from rally_vmperf.runs import attempt
from rally_vmperf.runs import conditions
from rally_vmperf.runs import runs
from rally_vmperf.runs import setting

RATE = sample.Metric(
    name="cpu.sysbench.rate", unit="events/s", better="higher"
)
SETTING = setting.Setting(
    shape=model.RecordedShape(vcpus=1, memory_mib=1024, copies=3),
    machines=tuple(
        model.RecordedMachine(
            name=name, role="guest", host="h", boot_id=f"id-{name}#1"
        )
        for name in ("g1", "g2", "g3")
    ),
    details={name: {"nova": {}} for name in ("g1", "g2", "g3")},
    workloads=(
        model.RecordedWorkload(name="sysbench", label="", arguments={}),
    ),
    expected_metrics=(RATE,),
    metrics=(RATE,),
)


def command_run(machine, stdout):
    """Return a run of sysbench with this output."""
    return command_result.CommandRun(
        workload="sysbench",
        machine=machine,
        result=command_result.CommandResult(
            name="sysbench",
            exit_status=0,
            seconds=1.0,
            started=1.0,
            ended=2.0,
            stdout=stdout,
            stderr="",
        ),
    )


class Session:
    """A session on a host with two processors.

    :param errors: number of machines at which an error is raised -> error
    :param killed: number of machines at which one dies -> its name
    :param missing: The names of metrics that are not measured.
    :param printed: The outputs of every machine.
    :param look: A function that is called while workloads run.
    """

    peer = None

    def __init__(
        self, *, errors=None, killed=None, missing=(), printed=(), look=None
    ):
        self.errors, self.killed = errors or {}, killed or {}
        self.missing, self.printed, self.look = missing, printed, look
        self.repeated, self.gone, self.closed = [], set(), False
        self.assignments, self.ran = (), []
        self.stations = [
            roles.Station(
                name=name,
                machine=testing.FakeMachine(name),
                role="guest",
                folder="",
            )
            for name in ("g1", "g2", "g3")
        ]

    def repeat(self, result, names, on_measured, assignments=None):
        """Take a sample of each machine that lives."""
        self.ran.append(assignments)
        names = names or [station.name for station in self.stations]
        self.repeated.append(tuple(names))
        self.gone |= {self.killed.get(len(names))}
        for text in self.printed:
            result.keep_raw(command_run(names[0], text))
        if self.look:
            self.look()
        for name in names:
            if name in self.gone:
                result.miss(RATE.name, name, f"{name} no longer answers")
                continue
            value = 100.0 * min(1.0, 2 / len(names))
            result.observations.append(
                sample.Observation(
                    source=name,
                    sample=sample.Sample(metric=RATE, value=value),
                )
            )
        for what in self.missing:
            result.miss(what, names[0], "it broke")
        if len(names) in self.errors:
            raise self.errors[len(names)]
        on_measured()
        return []

    def silent(self, names):
        """Return the machines that died."""
        return frozenset(names) & self.gone

    def look_again(self, names):
        """Find nothing on the machines that died."""
        return []

    def close(self):
        """Remember it."""
        self.closed = True


def values(record, index=0):
    """Return the value of each machine in a condition, None if it has none."""
    condition = record.repetition.conditions[index]
    measured = {
        observation.source: observation.sample.value
        for observation in condition.observations
        if observation.sample.metric == RATE
    }
    return [measured.get(name) for name in condition.machines]


def guests(*numbers):
    """Return conditions with the first so many guests."""

    def chosen(number):
        names = ("g1", "g2", "g3")[:number]
        return lambda lost, number: conditions.Participants(names=names)

    return tuple(
        conditions.PlannedCondition(axes={"guests": n}, choose=chosen(n))
        for n in numbers
    )


def run_of(session, run_journal, actions=(), **changes):
    """Return a run of three repetitions, the first of them a warm-up.

    :param run_journal: The journal of the run.
    """
    ready = attempt.ReadySession(
        session=session, setting=SETTING, actions=tuple(actions)
    )
    lines = []
    arguments = {
        "question": "overhead",
        "task": "t",
        "workload": "w",
        "times": 3,
        "warmup": 1,
        "conditions": (conditions.PlannedCondition(copies=3),),
        "journal": run_journal,
        "fallback_setting": SETTING,
        "open": lambda: ready,
        "progress": lambda line: None,
        "warn": lines.append,
    }
    made = runs.Run(**{**arguments, **changes})
    made.warnings = lines
    return made
