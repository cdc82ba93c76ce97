# SPDX-License-Identifier: Apache-2.0
"""Actions on machines before, during and after a condition."""

import asyncio
import collections.abc
import concurrent.futures
import dataclasses
import os
import threading
import time
import typing as t

from rally_vmperf.execution import measured
from rally_vmperf.execution import sessions
from rally_vmperf.execution.stations import controller
from rally_vmperf.guests import models
from rally_vmperf.machines import background_load
from rally_vmperf.machines import base
from rally_vmperf.measurement import finding
from rally_vmperf.measurement.samples import sample
from rally_vmperf.runs import conditions

#: Seconds to wait for a silent guest between two requests to Nova.
_POLL_INTERVAL = 30.0


@dataclasses.dataclass(frozen=True, kw_only=True)
class ActionResult:
    """The result of an action.

    :param errors: Machine -> error. Errors before a condition prevent it from
        being measured; later errors make it incomplete.
    :param lost: The machines that no longer participate.
    :param started: The guests that were started again, in a new QEMU process.
    :param explained: The kinds and subjects of findings on machines that the
        action caused on purpose; they are not reported.
    :param is_unusable: Whether the guests must be booted again before the next
        repetition.
    """

    errors: collections.abc.Mapping[str, str] = dataclasses.field(
        default_factory=dict
    )
    lost: frozenset[str] = frozenset()
    started: frozenset[str] = frozenset()
    findings: tuple[finding.Finding, ...] = ()
    observations: tuple[sample.Observation, ...] = ()
    explained: frozenset[tuple[str, str]] = frozenset()
    is_unusable: bool = False


class Action:
    """An action that does nothing; subclasses override its methods.

    :cvar name: The name in messages. :cvar moment: The seconds after the start
        of the condition at which ``during`` is called; None for the end of all
        workloads. :cvar between_workloads: Whether ``between`` is called,
        which requires that workloads run one by one.
    :cvar is_evaluated: Whether ``evaluate`` is called.
    """

    name: str = ""
    moment: float | None = None
    between_workloads: bool = False
    is_evaluated: bool = False

    def before(self, current: conditions.CurrentCondition) -> ActionResult:
        """Act before the workloads; return errors, losses and findings."""
        return ActionResult()

    def between(self, current: conditions.CurrentCondition) -> ActionResult:
        """Act between two workloads; return errors, losses and findings."""
        return ActionResult()

    def during(self, current: conditions.CurrentCondition) -> ActionResult:
        """Act in a thread while workloads run; return errors and findings."""
        return ActionResult()

    def recover(self, current: conditions.CurrentCondition) -> ActionResult:
        """Act before silent machines are lost; return errors and findings.

        An error replaces the reason why a machine was not reached.
        """
        return ActionResult()

    def evaluate(
        self, current: conditions.CurrentCondition, result: measured.Measured
    ) -> ActionResult:
        """Evaluate the results of all workloads; return observations."""
        return ActionResult()

    def after(self, current: conditions.CurrentCondition) -> ActionResult:
        """Act when workloads ended or failed; return errors and findings."""
        return ActionResult()


@dataclasses.dataclass
class GuestWatch(Action):
    """A check with Nova that guests are active and on their hosts.

    :param connection: The connection to the cloud, with the credential of the
        guests.
    :param timeout: The seconds within which a rebooting guest must answer.
    """

    connection: t.Any
    guests: collections.abc.Sequence[models.Guest]
    session: sessions.Session
    timeout: float
    progress: t.Callable[[str], None]
    #: Server -> when Nova last changed it.
    updated: dict[str, str] = dataclasses.field(default_factory=dict)
    #: The requests of this run in Nova that moved guests.
    requested: set[str] = dataclasses.field(default_factory=set)
    #: The names of guests that did not answer before a timeout.
    given_up: set[str] = dataclasses.field(default_factory=set)
    name = "watch"

    def during(self, current: conditions.CurrentCondition) -> ActionResult:
        """Query Nova during the counters' reading; return findings."""
        from rally_vmperf.guests.booting import placement

        guests = [g for g in self.guests if g.name in current.working]
        findings = placement.find_changes(
            self.connection, guests, self.updated, self.requested
        )
        return ActionResult(findings=tuple(findings))

    def recover(self, current: conditions.CurrentCondition) -> ActionResult:
        """Wait for guests that reboot; return lost guests and findings.

        For a while, Nova reports a guest that has died as running. A guest
        that did not answer in time is not waited for again until it does.
        """
        from rally_vmperf.execution.stations import arrival
        from rally_vmperf.guests.booting import obstacles
        from rally_vmperf.guests.booting import placement

        silent = self.session.silent(current.machines) - set(current.lost)
        self.given_up -= {*current.machines} - silent
        gone = [
            guest
            for guest in self.guests
            if guest.name in silent - self.given_up
        ]
        search = obstacles.Obstacles(self.connection, gone)
        deadline, has_reported = time.monotonic() + self.timeout, False
        while (
            gone and (left := deadline - (started_at := time.monotonic())) > 0
        ):
            gone = [
                guest
                for guest in gone
                if placement.is_running(self.connection, guest)
            ]
            if gone and not has_reported:
                names = (guest.name for guest in gone)
                self.progress(
                    f"no answer from {finding.join_first(names, ', ')}; "
                    f"waiting for {self.timeout:.0f} s at most"
                )
                has_reported = True
            timeout = min(left, _POLL_INTERVAL)
            arrivals = self.session.runner.run(
                arrival.wait_all(
                    gone,
                    self.session.stations,
                    timeout,
                    self.progress,
                    search.find,
                )
            )
            gone = [
                guest
                for guest, arrived in zip(gone, arrivals, strict=True)
                if (arrived.error or arrived.busy) and not arrived.is_final
            ]
            if time.monotonic() - started_at < timeout:
                break  # The guest answers, but has changed.
        else:
            self.given_up.update(guest.name for guest in gone)
        if not silent:
            return ActionResult()
        return ActionResult(
            findings=tuple(self.session.look_again(silent)),
            errors={
                name: f"guest {name} does not answer: {reason}"
                for name, reason in search.reasons.items()
            }
            | {
                guest.name: placement.describe_deleted(guest.name)
                for guest in self.guests
                if guest.name in silent
                and placement.is_deleted(self.connection, guest.id)
            },
        )


@dataclasses.dataclass
class HostWatch(Action):
    """A check with Nova for guests of others on the hosts of the guests.

    :param admin: The connection to the cloud of an administrator.
    """

    admin: t.Any
    guests: collections.abc.Sequence[models.Guest]
    progress: t.Callable[[str], None]
    #: The findings of the last check; None before the first one.
    latest: tuple[finding.Finding, ...] | None = None
    name = "host watch"

    def before(self, current: conditions.CurrentCondition) -> ActionResult:
        """Check the hosts before the run; return an empty result."""
        if self.latest is None:
            self.latest = self._find_shared_hosts()
        return ActionResult()

    def after(self, current: conditions.CurrentCondition) -> ActionResult:
        """Check the hosts again; return findings from both checks."""
        earlier, self.latest = self.latest or (), self._find_shared_hosts()
        findings = dict.fromkeys((*earlier, *self.latest))
        return ActionResult(findings=tuple(findings))

    def _find_shared_hosts(self) -> tuple[finding.Finding, ...]:
        """Return a finding on each host with guests of others."""
        from rally_vmperf.guests import host_sharing

        return host_sharing.find_shared_hosts(
            self.admin, self.guests, self.progress
        )


@dataclasses.dataclass
class ControllerWatch(Action):
    """A check that the controller is not busy while workloads run."""

    sampler: controller.LoadSampler | None = None
    name = "controller watch"

    def before(self, current: conditions.CurrentCondition) -> ActionResult:
        """Start to sample load and lag; return an empty result."""
        self.sampler = controller.LoadSampler()
        return ActionResult()

    def after(self, current: conditions.CurrentCondition) -> ActionResult:
        """Return a finding if the controller was busy."""
        if self.sampler is None:
            return ActionResult()
        load, self.sampler = self.sampler.stop(), None
        return ActionResult(findings=load.create_findings(os.cpu_count() or 1))


@dataclasses.dataclass
class UnmeasuredLoad(Action):
    """The load of unmeasured guests in the conditions that have them."""

    load: conditions.Load
    runner: asyncio.Runner
    name: str

    def before(self, current: conditions.CurrentCondition) -> ActionResult:
        """Start the jobs, wait for the load, and return errors by guest."""
        if not current.condition.unmeasured:
            return ActionResult()
        return ActionResult(errors=self.runner.run(self.load.begin()))

    def after(self, current: conditions.CurrentCondition) -> ActionResult:
        """End the jobs; return an error for each that ended earlier."""
        return ActionResult(errors=self.runner.run(self.load.end()))


class BackgroundLoadCheck(Action):
    """A check for other processes that use bare metal.

    A machine that cannot be checked is assumed to be idle.

    :ivar findings: The findings from the time before the session.
    """

    name = "background load check"

    def __init__(
        self,
        machine: base.Machine,
        runner: asyncio.Runner,
        warn: t.Callable[[str], None],
    ) -> None:
        self.findings: tuple[finding.Finding, ...] = ()
        self._machine = machine
        self._runner = runner
        self._warn = warn
        self._before: background_load.LoadReading | None = None

    def check_before_session(self) -> None:
        """Store findings on other processes, before the session's own."""
        processes = self._read_processes(background_load.QUIET)
        if processes is not None:
            self.findings = self._create_findings(
                background_load.find_load(processes)
            )

    def before(self, current: conditions.CurrentCondition) -> ActionResult:
        """Read the CPU times of all processes; return an empty result."""
        self._before = self._read_processes()
        return ActionResult()

    def after(self, current: conditions.CurrentCondition) -> ActionResult:
        """Return a finding if other processes used CPU time."""
        after = self._read_processes()
        if self._before is None or after is None:
            return ActionResult()
        processes = background_load.find_cpu_use(self._before, after)
        return ActionResult(findings=self._create_findings(processes))

    def _read_processes(
        self, quiet: int = 0
    ) -> background_load.LoadReading | None:
        """Return the CPU times of all processes, or None after a warning."""
        try:
            return self._runner.run(
                background_load.read_load(self._machine, quiet)
            )
        except base.MachineError as error:
            self._warn(f"cannot check bare metal for background load: {error}")
            return None

    def _create_findings(
        self, loads: list[background_load.LoadedPart]
    ) -> tuple[finding.Finding, ...]:
        """Warn about loads; return a finding per part of the machine."""
        descriptions: dict[str, list[str]] = {}
        for load in loads:
            self._warn(f"other processes use bare metal: {load.description}")
            descriptions.setdefault(load.subject, []).append(load.description)
        return tuple(
            finding.Finding("bare_metal_busy", subject, "; ".join(texts))
            for subject, texts in descriptions.items()
        )


class BackgroundAction:
    """The method ``during`` of an action, in a separate thread.

    An interrupted run does not wait for it.
    """

    def __init__(
        self, action: Action, current: conditions.CurrentCondition
    ) -> None:
        self._action = action
        self._current = current
        self._lock = threading.Lock()
        self._is_started = False
        self._result = concurrent.futures.Future[ActionResult]()
        self._timer: threading.Timer | None = None
        if action.moment is not None:
            self._timer = threading.Timer(action.moment, self._start)
            self._timer.daemon = True
            self._timer.start()

    def on_workloads_ended(self) -> None:
        """Start an action that waits for this, or note that it is too late."""
        if self._timer is None:
            self._start()
            return
        self._timer.cancel()
        with self._lock:
            if self._is_started:
                return
            self._is_started = True
        late = (
            f"{self._action.name} should start {self._action.moment:g} s "
            "after the start of the condition, but the workloads had ended; "
            "use an earlier moment or longer workloads"
        )
        self._result.set_result(ActionResult(errors={self._action.name: late}))

    def result(self) -> ActionResult:
        """Start the action if it is still due, wait, and return its result."""
        self.on_workloads_ended()
        return self._result.result()

    def cancel(self) -> None:
        """Prevent the action from starting."""
        if self._timer is not None:
            self._timer.cancel()

    def _start(self) -> None:
        """Start the action in a thread, unless it was started or cancelled."""
        with self._lock:
            if self._is_started:
                return
            self._is_started = True
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self) -> None:
        """Perform the action, and store its result or its error."""
        try:
            self._result.set_result(self._action.during(self._current))
        except BaseException as error:
            self._result.set_exception(error)
