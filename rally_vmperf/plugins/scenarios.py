# SPDX-License-Identifier: Apache-2.0
"""The scenarios of all questions; an iteration is a repetition."""

import contextlib
import inspect
import time
import typing as t

from rally import consts
from rally import exceptions
from rally.common import cfg
from rally.common import db
from rally.common import logging
from rally.common import objects
from rally.common import validation
from rally.task import atomic
from rally_openstack.task import scenario

from rally_vmperf import declaration
from rally_vmperf import live_line
from rally_vmperf import sanitize
from rally_vmperf.guests import credentials
from rally_vmperf.measurement import repetition
from rally_vmperf.plugins import defects
from rally_vmperf.plugins import open_runs
from rally_vmperf.questions import table
from rally_vmperf.questions.common import question as questions
from rally_vmperf.records import journal
from rally_vmperf.records import model
from rally_vmperf.runs import calibration
from rally_vmperf.runs import run_request
from rally_vmperf.runs import runs

CONF = cfg.CONF
LOG = logging.getLogger(__name__)


class IncompleteRepetition(exceptions.RallyException):
    """An incomplete repetition that no SLA judges."""

    msg_fmt = "%(message)s"
    error_code = 932


class MeasurementScenario(scenario.OpenStackScenario):
    """A scenario that repeats the run of its question."""

    def measure(self) -> None:
        """Measure one repetition, and pass its record to Rally.

        The arguments are those in Rally's database.
        """
        question = table.scenarios()[self.get_name()]
        owner = self.context["owner_id"]
        guests = self.context["vmperf_guests"]
        subtask = question.complete_task(
            question.create_task(db.workload_get(owner)),
            lambda: t.cast(int, self.context["vmperf_host_cpus"]),
        )

        def create_run() -> runs.Run:
            """Return a new run with the booted guests in Rally's context."""
            return question.create_run(
                subtask,
                run_request.RunEnvironment(
                    run_cache=open_runs.OPEN_RUNS,
                    task=self.context["task"]["uuid"],
                    owner=owner,
                    booted=guests["booted"],
                    options=guests["config"],
                    baseline=self.context.get("vmperf_baseline", {}).get(
                        "document"
                    ),
                    journal=journal.Journal(CONF.vmperf.journal_dir, owner),
                    connect=self._connect,
                    connect_admin=self._connect_admin,
                    progress=_show_progress,
                    warn=_log_warning,
                ),
            )

        with (
            abort_on_interrupt(self.task, owner),
            defects.sanitise_errors(),
        ):
            with atomic.ActionTimer(self, "vmperf.prepare"):
                run = open_runs.OPEN_RUNS.get_run(owner, create_run)
                run.prepare()
            with atomic.ActionTimer(self, "vmperf.measure"):
                record = run.repeat(self.context["iteration"])
            self.add_output(
                additive=model.request_chart(question.title, record)
            )
            self.add_output(complete=model.encode_output(record))
            if isinstance(run.failure, calibration.CalibrationError):
                raise IncompleteRepetition(sanitize.text(str(run.failure)))
            raise_if_incomplete(record.repetition, subtask.criteria)

    def _connect(self) -> t.Any:
        """Return a connection to the cloud with the owner of the guests."""
        # Rally imports all plugins even to list them.
        from rally_vmperf.guests import cloud

        booted = self.context["vmperf_guests"]
        return cloud.connect(
            credentials.get_guest_credential(self.context, booted["config"])
        )

    def _connect_admin(self) -> t.Any:
        """Return an administrator's connection to the cloud, or None."""
        from rally_vmperf.guests import cloud

        admin = credentials.get_admin_credential(self.context)
        return cloud.connect(admin) if admin else None


def raise_if_incomplete(
    measured: repetition.Repetition, criteria: t.Container[str]
) -> None:
    """Raise an error if a repetition was interrupted or is incomplete.

    The SLAs of rally_vmperf judge missing measurements. Without these SLAs,
    an incomplete iteration must fail; otherwise, a task without any
    measurement would pass.

    :param criteria: The names of the SLAs of the workload.
    :raises KeyboardInterrupt: If the repetition was interrupted.
    :raises IncompleteRepetition: If a measurement is missing; the message
        names the first.
    """
    if measured.state == "interrupted":
        raise KeyboardInterrupt
    if measured.state == "complete":
        return
    missing = measured.all_missing
    message = sanitize.text(
        f"repetition {measured.number} is incomplete: {len(missing)} "
        f"measurements are missing; the first is {missing[0].sentence()}"
    )
    if not any(name in criteria for name in table.criteria()):
        raise IncompleteRepetition(message)
    LOG.warning(message)


def _show_progress(line: str) -> None:
    """Show a line on the terminal, or log it if there is none."""
    if shown := live_line.find_line():
        shown.show(line)
    else:
        LOG.info(sanitize.text(line))


def _log_warning(line: str) -> None:
    """Log a sanitised line at level WARNING."""
    LOG.warning(sanitize.text(line))


#: The maximum time in seconds until the engine, which polls every two seconds,
#: has aborted a task.
_ABORT_TIMEOUT = 10.0

_interrupted: set[str] = set()


class InterruptedRepetition(exceptions.RallyException):
    """A repetition that the user interrupted."""

    msg_fmt = "%(message)s"
    error_code = 931


@contextlib.contextmanager
def abort_on_interrupt(task: t.Any, owner: str) -> t.Iterator[None]:
    """Abort the task if the user interrupts the block.

    Rally returns from ``finally`` after every iteration, which discards a
    KeyboardInterrupt: the run would continue with the next iteration, and end
    with exit code 0.

    :param task: The running task.
    :param owner: The identifier of the workload.
    :raises InterruptedRepetition: If the block raises KeyboardInterrupt, or
        an earlier repetition was interrupted.
    """
    if owner in _interrupted:
        raise InterruptedRepetition(
            "not started: an earlier repetition was interrupted"
        )
    try:
        yield
    except KeyboardInterrupt:
        _interrupted.add(owner)
        LOG.warning("Interrupted: no more repetitions are started")
        _abort_task(task["uuid"])
        raise InterruptedRepetition(
            "interrupted by the user; the journal contains the measurements"
        ) from None


def _abort_task(uuid: str) -> None:
    """Abort a task, and wait until the engine has aborted it."""
    objects.Task.get(uuid).abort()
    deadline = time.monotonic() + _ABORT_TIMEOUT
    while time.monotonic() < deadline:
        if objects.Task.get_status(uuid) == consts.TaskStatus.ABORTED:
            return
        time.sleep(0.1)


def register_scenario(
    question: questions.AnyQuestion,
) -> type[MeasurementScenario]:
    """Register the scenario of a question with Rally, and return it."""

    def run(self: MeasurementScenario, **arguments: t.Any) -> None:
        self.measure()

    title = inspect.getdoc(question) or ""
    declaration.imitate(run, question.arguments, title)
    plugin: t.Any = type(
        type(question).__name__,
        (MeasurementScenario,),
        {
            "__doc__": title,
            "__module__": __name__,
            "run": run,
        },
    )
    plugin = scenario.configure(name=question.scenario, platform="openstack")(
        plugin
    )
    for name, options in (
        (
            "required_platform",
            {"platform": "openstack", "users": True},
        ),
        ("vmperf_cloud", {}),
        ("vmperf_reach", {}),
        ("vmperf_task", {}),
    ):
        plugin = validation.add(name, **options)(plugin)
    return t.cast(type[MeasurementScenario], plugin)


SCENARIOS = {
    name: register_scenario(question)
    for name, question in table.scenarios().items()
}
