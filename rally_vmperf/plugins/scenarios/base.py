"""What scenarios of all questions do: one iteration is one repetition."""

import contextlib
import time
import traceback
import typing as t

from rally import consts
from rally import exceptions
from rally.common import cfg
from rally.common import db
from rally.common import logging
from rally.common import objects
from rally.task import atomic
from rally_openstack.task import scenario

from rally_vmperf.guests import credentials
from rally_vmperf.guests import guest
from rally_vmperf.measurement import finding
from rally_vmperf.plugins import opened as kept
from rally_vmperf.plugins import sanitize
from rally_vmperf.questions import table
from rally_vmperf.records import journal
from rally_vmperf.records import output
from rally_vmperf.runs import opened
from rally_vmperf.runs import run as runs

CONF = cfg.CONF
LOG = logging.getLogger(__name__)

Json = dict[str, t.Any]


class Incomplete(exceptions.RallyException):
    """A repetition lacks some of its measurements, and nobody judges it."""

    msg_fmt = "%(message)s"
    error_code = 932


class Measuring(scenario.OpenStackScenario):
    """Repeats the run of the question that it asks."""

    def _measure(
        self,
        workloads: list[Json],
        warmup: int,
        peer: Json | None,
        **own: t.Any,
    ) -> None:
        """Measure once, and give the record to Rally.

        :param own: arguments that only this question has
        """
        question = table.scenarios()[self.get_name()]
        owner = self.context["owner_id"]
        stored = db.workload_get(owner)

        def first() -> runs.Run:
            plain = self.context["vmperf_guests"]
            booted = guest.Booted(
                guests=tuple(map(guest.from_plain, plain["guests"])),
                client_key=plain["client_key"],
                findings=tuple(
                    finding.Finding(**one) for one in plain["findings"]
                ),
            )
            return question.run(
                opened.Asked(
                    opened=kept.OPENED,
                    question=question.name,
                    task=self.context["task"]["uuid"],
                    owner=owner,
                    times=stored["runner"].get("times", 1),
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
                    progress=LOG.info,
                    warn=_warn,
                ),
                own,
            )

        with passed_on(self.task, owner), told():
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
    """Raise what Rally must know of a repetition.

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
    words = sanitize.sanitize(
        f"repetition {record['repetition']} is incomplete: {len(missing)} "
        f"measurements are missing, first {first['what']} of "
        f"{first['source']}: {first['reason']}"
    )
    if not any(name in criteria for name in table.criteria()):
        raise Incomplete(words)
    LOG.warning(words)


def _warn(line: str) -> None:
    LOG.warning(sanitize.sanitize(line))


#: Characters of an error's own words that Rally keeps.
_LONGEST = 500


class Defect(exceptions.RallyException):
    """A repetition met an error that nobody foresaw."""

    msg_fmt = "%(message)s"
    error_code = 934


@contextlib.contextmanager
def told() -> t.Iterator[None]:
    """Have Rally keep the words of an unforeseen error, made harmless.

    Rally puts the whole trace of an error into a script of its report, and
    what an unforeseen error quotes may be a guest's. The trace goes to the
    log, for whoever mends the defect.

    :raises Defect: in place of whatever is not an error of Rally's own kind
    """
    try:
        yield
    except exceptions.RallyException:
        raise
    except Exception as error:
        LOG.error(sanitize.sanitize(traceback.format_exc()))
        words = f"{type(error).__name__}: {error}"[:_LONGEST]
        raise Defect(sanitize.sanitize(words)) from None


#: Seconds until the engine, which looks every two, has surely understood.
_PATIENCE = 10.0

_interrupted: set[str] = set()


class Interrupted(exceptions.RallyException):
    """A repetition was interrupted by its user."""

    msg_fmt = "%(message)s"
    error_code = 931


@contextlib.contextmanager
def passed_on(task: t.Any, owner: str) -> t.Iterator[None]:
    """Have Rally abort the task when its user interrupts what is within.

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
