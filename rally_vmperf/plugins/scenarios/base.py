"""Base of all scenarios: one iteration is one repetition."""

import contextlib
import time
import typing as t

from rally import consts
from rally import exceptions
from rally.common import cfg
from rally.common import db
from rally.common import logging
from rally.common import objects
from rally.task import atomic
from rally_openstack.task import scenario

from rally_vmperf import sanitize
from rally_vmperf.execution import protocol as protocols
from rally_vmperf.guests import credentials
from rally_vmperf.guests import guest
from rally_vmperf.measurement import finding
from rally_vmperf.measurement.comparison import caps
from rally_vmperf.plugins import defects
from rally_vmperf.plugins import opened as kept
from rally_vmperf.questions import table
from rally_vmperf.questions.common import task as tasks
from rally_vmperf.records import journal
from rally_vmperf.records import output
from rally_vmperf.runs import opened
from rally_vmperf.runs import run as runs

CONF = cfg.CONF
LOG = logging.getLogger(__name__)

Json = dict[str, t.Any]


class Incomplete(exceptions.RallyException):
    """A repetition is incomplete, and no SLA judges it."""

    msg_fmt = "%(message)s"
    error_code = 932


class Measuring(scenario.OpenStackScenario):
    """Repeats the run of the question that it asks."""

    def _measure(
        self,
        workloads: list[Json],
        warmup: int | None,
        peer: Json | None,
        protocol: protocols.Protocol,
        **own: t.Any,
    ) -> None:
        """Measure once, and give the record to Rally.

        :param warmup: None for the question's own
        :param own: arguments that only this question has
        """
        question = table.scenarios()[self.get_name()]
        owner = self.context["owner_id"]
        stored = db.workload_get(owner)

        times = stored["runner"].get("times", 1)
        own = tasks.completed(
            {**own, "warmup": warmup}, times, question.defaults
        )
        warmup = own.pop("warmup") or 0

        def first() -> runs.Run:
            plain = self.context["vmperf_guests"]
            booted = guest.Booted(
                guests=tuple(map(guest.from_plain, plain["guests"])),
                absent=tuple(plain["absent"]),
                client_key=plain["client_key"],
                findings=tuple(
                    finding.Finding(**one) for one in plain["findings"]
                ),
                caps=tuple(caps.Cap(**one) for one in plain["caps"]),
            )
            return question.run(
                opened.Asked(
                    opened=kept.OPENED,
                    question=question.name,
                    task=self.context["task"]["uuid"],
                    owner=owner,
                    times=times,
                    warmup=warmup,
                    workloads=workloads,
                    peer=peer,
                    booted=booted,
                    options=plain["config"],
                    baseline=self.context.get("vmperf_baseline", {}).get(
                        "document"
                    ),
                    journal=journal.Journal(CONF.vmperf.journal_dir, owner),
                    connect=self._connect,
                    progress=_info,
                    warn=_warn,
                    protocol=protocol,
                ),
                own,
            )

        with passed_on(self.task, owner), defects.told():
            with atomic.ActionTimer(self, "vmperf.prepare"):
                run = kept.OPENED.run(owner, first)
                run.prepare()
            with atomic.ActionTimer(self, "vmperf.measure"):
                record = run.repeat(self.context["iteration"])
            self.add_output(additive=output.mark(question.title))
            self.add_output(complete=output.encode(record))
            tell(record, stored["sla"])

    def _connect(self) -> t.Any:
        """Return a connection to the cloud as the owner of the guests."""
        # Rally imports all plugins for a mere list, which needs no cloud.
        from rally_vmperf.guests import cloud

        booted = self.context["vmperf_guests"]
        return cloud.connect(
            credentials.of_guests(self.context, booted["config"])
        )


def tell(record: Json, criteria: t.Container[str]) -> None:
    """Raise an error if a repetition was interrupted or is incomplete.

    What is missing is in the record, where criteria of ours see it.  Without
    any of them the iteration has to fail, or nothing measured would pass.

    :param criteria: names of the SLAs of the workload
    :raises KeyboardInterrupt: for one that was interrupted
    :raises Incomplete: for one that lacks something, with the first of it
    """
    if record["state"] == "interrupted":
        raise KeyboardInterrupt
    if record["state"] == "complete":
        return
    parts = [*record["conditions"], record]
    missing = [gap for part in parts for gap in part["missing"]]
    first = missing[0]
    words = sanitize.text(
        f"repetition {record['repetition']} is incomplete: {len(missing)} "
        f"measurements are missing, first {first['name']} of "
        f"{first['machine']}: {first['reason']}"
    )
    if not any(name in criteria for name in table.criteria()):
        raise Incomplete(words)
    LOG.warning(words)


def _info(line: str) -> None:
    LOG.info(sanitize.text(line))


def _warn(line: str) -> None:
    LOG.warning(sanitize.text(line))


#: Seconds until the engine, which looks every two, has surely understood.
_PATIENCE = 10.0

_interrupted: set[str] = set()


class Interrupted(exceptions.RallyException):
    """A repetition was interrupted by its user."""

    msg_fmt = "%(message)s"
    error_code = 931


@contextlib.contextmanager
def passed_on(task: t.Any, owner: str) -> t.Iterator[None]:
    """Have Rally abort the task when its user interrupts the block.

    Rally returns from inside ``finally`` after every iteration, which discards
    a KeyboardInterrupt: the run would go on with the next iteration as if
    nothing had happened, and end with exit code 0.

    :param task: the running task
    :param owner: identifier of the workload
    :raises Interrupted: in place of KeyboardInterrupt, and at once when an
        earlier repetition was interrupted
    """
    if owner in _interrupted:
        raise Interrupted("not started: an earlier one was interrupted")
    try:
        yield
    except KeyboardInterrupt:
        _interrupted.add(owner)
        LOG.warning("Interrupted: no further repetition is started")
        _abort(task["uuid"])
        raise Interrupted(
            "interrupted by its user; what was measured is in the journal"
        ) from None


def _abort(uuid: str) -> None:
    """Abort a task, and wait until the engine has understood."""
    objects.Task.get(uuid).abort()
    deadline = time.monotonic() + _PATIENCE
    while time.monotonic() < deadline:
        if objects.Task.get_status(uuid) == consts.TaskStatus.ABORTED:
            return
        time.sleep(0.1)
