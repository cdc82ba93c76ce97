# SPDX-License-Identifier: Apache-2.0
"""Long jobs that survive the loss of a connection.

A supervisor on the machine (scripts/job.bash) runs the command in its own
process group, measures the time as close to the command as possible, limits
its output and time, and writes its report last.  If the controller dies, the
job ends nevertheless; if the connection is lost, the result is complete.

While the job runs, the machine is not disturbed: one waiting command sleeps in
a read of a FIFO that the kernel ends with the supervisor.  There is no polling
and no new process, which matters for emulated guests, which are ten times
slower. The wait is renewed once per minute, or after a loss of the connection.

A job may also prepare the command and wait for a time of the clock, so that
many machines start simultaneously: the start times differ only by the delay
of the wake-up, and not by the delay of the requests.
"""

import asyncio
import collections.abc
import contextlib
import dataclasses
import re
import secrets
import time

from rally_vmperf.machines import base
from rally_vmperf.machines import scripts
from rally_vmperf.measurement import command_result

#: Tolerance in seconds between the clock and the uptime, which has two digits.
_APART = 0.02
#: Maximum characters of a report; a supervisor writes about 200.
_MAX_REPORT_CHARACTERS = 2048
#: The maximum time, the year 9999, in seconds since the epoch.
_LATEST = 253402300800
#: Duration of a waiting command in seconds.
HOLD = 60.0
#: Seconds in addition to the timeout of a job for a machine that answers.
PATIENCE = 120.0
#: Timeout of a request in seconds: longer than the detection of a lost
#: connection, so that it indicates a slow machine.
REQUEST = 90.0
#: Exit statuses of the script: lost without a result, and running.
LOST, RUNNING = 3, 75
#: Seconds for which a machine may be unreachable.
_AWAY = 60.0
_HEADER = 4096


@dataclasses.dataclass(kw_only=True)
class Job:
    """A command that runs in a new directory of a machine.

    It does not keep a connection: a request uses any connection of the
    machine.

    :param timeout: The seconds after which the machine ends the job; of an
        armed job, after its release.
    :param output_limit: The maximum bytes per stream; a program that prints
        more is ended.
    :param prefix: The command line before that of the supervisor, which limits
        its resources; its start is not measured.
    :ivar path: The directory of the job, below ``folder``.
    """

    machine: base.Machine
    folder: str
    name: str
    argv: collections.abc.Sequence[str]
    timeout: float
    output_limit: int = 1 << 20
    prefix: collections.abc.Sequence[str] = ()
    path: str = ""

    def __post_init__(self) -> None:
        if not self.path:
            label = re.sub(r"[^\w.-]", "_", self.name)[:60]
            self.path = f"{self.folder}/.job-{label}-{secrets.token_hex(4)}"

    async def start(self) -> None:
        """Start the command without waiting for its end.

        :raises MachineError: If the command cannot be started.
        :raises Unreachable: If the machine is unreachable for a minute.
        """
        self._check_started(
            await self._repeat_request("start", *self._start_arguments(()))
        )

    async def run(self, finished: list[str]) -> command_result.CommandResult:
        """Start the command, wait for its end and return its CommandResult.

        A short job requires one request, if the connection is not lost: each
        request takes a fifth of a second on an emulated machine.

        :param finished: The paths of earlier jobs and of files in work
            directories, which are removed first; replaced by the path of this
            job.
        :raises MachineError: If ``start`` or ``finish`` raises it; the job is
            ended.
        """
        hold = min(HOLD, self.timeout + PATIENCE)
        try:
            done = await self._repeat_request(
                *("run", f"{hold:.3f}", *self._start_arguments(finished)),
                timeout=HOLD + REQUEST,
                output_limit=self.output_limit,
                patience=HOLD + PATIENCE,
            )
            if done.exit_status == RUNNING:
                done = await self._wait("await")
            elif done.exit_status != LOST:
                self._check_started(done)
            result = self._parse_result(done)
        except BaseException:
            await self.give_up()
            raise
        finished[:] = [self.path]
        return result

    async def arm(self, finished: list[str], *, keep_up: bool = False) -> None:
        """Start the supervisor; the command itself waits for ``release``.

        A command that is never released ends after ten minutes.

        :param finished: The paths of earlier jobs and of files in work
            directories, which are removed first.
        :param keep_up: A flag to repeat the command after its end, without
            measurement, until ``end_load`` is called or ``timeout`` expires.
        :raises MachineError: If the command cannot be started; the job is
            removed.
        """
        arguments = self._start_arguments(
            finished, armed=True, keep_up=keep_up
        )
        try:
            self._check_started(
                await self._repeat_request("start", *arguments)
            )
        except BaseException:
            await self.give_up()
            raise
        finished.clear()

    async def release(self, at: float) -> command_result.CommandResult:
        """Start an armed job, wait for its end and return its CommandResult.

        Its directory remains, and a repeated command continues.

        :param at: The start on the machine's clock in seconds since the epoch.
        :raises MachineError: If ``finish`` raises it.
        """
        return self._parse_result(await self._wait("release", f"{at:.6f}"))

    async def end_load(self) -> float | None:
        """End the repetition; return its end in epoch seconds, or None.

        :returns: The end of the load on the machine's clock; None if it is not
            known.
        :raises MachineError: If the request fails.
        """
        done = await self._repeat_request("end_load", self.path)
        try:
            reported_fields = parse_fields(done.stdout)
            return parse_time(reported_fields["kept_up_until"])
        except (KeyError, ValueError):
            return None

    async def finish(self) -> command_result.CommandResult:
        """Wait for a job's end, remove its files and return its CommandResult.

        :raises TimedOut: If the job exceeded its timeout.
        :raises OutputTooLong: If the job exceeded its output limit.
        :raises Unreachable: If the machine is unreachable for a minute.
        """
        done = await self._wait("await")
        if not done.exit_status:
            # The result is complete, so that failures do not matter any more.
            with contextlib.suppress(base.MachineError):
                await self._request("discard", self.path)
        return self._parse_result(done)

    async def running(self) -> bool:
        """Return whether the command still runs, as a bool.

        :raises MachineError: If the request fails.
        """
        done = await self._request("await", self.path, "0.001")
        return done.exit_status == RUNNING

    async def cancel(self) -> None:
        """End a job with all its processes, and remove its files."""
        await self._request("cancel", self.path)

    async def give_up(self) -> None:
        """Cancel a job, even during a cancellation; ignore failures."""
        with contextlib.suppress(base.MachineError):
            await asyncio.shield(self.cancel())

    def _start_arguments(
        self,
        finished: collections.abc.Collection[str],
        *,
        armed: bool = False,
        keep_up: bool = False,
    ) -> tuple[str, ...]:
        """Return the script arguments of the request that starts a job."""
        return (
            *(str(len(finished)), *finished),
            self.path,
            self.folder,
            f"{self.timeout:.3f}",
            str(self.output_limit),
            str(int(armed)),
            str(int(keep_up)),
            str(len(self.prefix)),
            *self.prefix,
            *self.argv,
        )

    async def _wait(self, request: str, *arguments: str) -> base.Completed:
        """Repeat a request until the job ended; return its last answer."""
        deadline = time.monotonic() + self.timeout + PATIENCE
        while True:
            left = max(deadline - time.monotonic(), 1)
            done = await self._repeat_request(
                *(request, self.path, *arguments, f"{min(HOLD, left):.3f}"),
                timeout=HOLD + REQUEST,
                output_limit=self.output_limit,
                patience=left,
            )
            if done.exit_status != RUNNING:
                return done
            if time.monotonic() > deadline:
                raise base.timeout_error(
                    self.machine.name, self.name, self.timeout
                )

    async def _request(
        self, *arguments: str, timeout: float = 60, output_limit: int = 1 << 20
    ) -> base.Completed:
        """Run the job script once on the machine; return its output."""
        return await self.machine.run(
            scripts.argv("job.bash", *arguments),
            timeout=timeout,
            output_limit=output_limit,
        )

    async def _repeat_request(
        self,
        *arguments: str,
        timeout: float = REQUEST,
        output_limit: int = 0,
        patience: float = PATIENCE,
    ) -> base.Completed:
        """Repeat a request until the machine answers; return its output.

        All requests are repeatable. After a loss at least one more connection
        is attempted, because the connection may have been dropped on the
        route to a healthy machine.

        :param patience: The seconds for which the requests to a slow machine
            are repeated.
        """
        deadline = time.monotonic() + patience
        lost: float | None = None
        pause = 0.2
        while True:
            try:
                return await self._request(
                    *arguments,
                    timeout=timeout,
                    output_limit=output_limit + _HEADER,
                )
            except base.TimedOut:
                lost = None
                if time.monotonic() > deadline:
                    raise
            except base.Unreachable as error:
                now = time.monotonic()
                if lost is None:
                    lost = now - error.silent
                elif now > min(lost + _AWAY, deadline):
                    raise base.Unreachable(
                        f"{self.machine.name}: connection lost "
                        f"{now - lost:.0f} s ago at command {self.name}, and "
                        f"not restored: {error}",
                        silent=now - lost,
                    ) from None
            await asyncio.sleep(pause)
            pause = min(pause * 2, 2)

    def _check_started(self, done: base.Completed) -> None:
        """Raise a MachineError if the request to start a job failed."""
        done.check(
            f"{self.machine.name}: command {self.name} cannot be started in "
            f"{self.folder}",
            "the machine needs bash and a writable directory",
        )

    def _parse_result(
        self, done: base.Completed
    ) -> command_result.CommandResult:
        """Parse the output of an ended job into a CommandResult.

        :raises MachineError: If there is no result, or if the job was ended.
        """
        machine, command = self.machine.name, self.name
        if done.exit_status:
            raise base.MachineError(
                f"{machine}: command {command} vanished without a result "
                f"({base.last_line(done.stderr)}); check whether the machine "
                "was rebooted or ran out of memory"
            )
        header, _, stdout = done.stdout.partition("\n\n")
        marks = parse_fields(header)
        if "unkept" in marks:
            raise base.MachineError(
                f"{machine}: cannot store the output of command {command} in "
                f"{self.folder}; free space there"
            )
        if "too_long" in marks:
            raise base.output_limit_error(machine, command, self.output_limit)
        if "timed_out" in marks:
            raise base.timeout_error(machine, command, self.timeout)
        if "late" in marks:
            raise base.MachineError(
                f"{machine}: command {command} was released too late; check "
                "whether its clock was stepped or its connection was lost"
            )
        if "cancelled" in marks:
            raise base.MachineError(
                f"{machine}: command {command} was cancelled"
            )
        return parse_result(machine, command, header, stdout, done.stderr)


def parse_fields(header: str) -> dict[str, str]:
    """Return the key=value fields of a supervisor's report as a dict."""
    return dict(re.findall(r"\b(\w+)=(\S+)", header[:_MAX_REPORT_CHARACTERS]))


def parse_result(
    machine: str, command: str, header: str, stdout: str = "", stderr: str = ""
) -> command_result.CommandResult:
    """Check a supervisor's report and return it as a CommandResult.

    :raises MachineError: If the report is not valid, or if the clock was
        stepped meanwhile.
    """
    report = parse_fields(header)
    try:
        status = _parse_status(report["exit"])
        started, ended = (
            parse_time(report["started"]),
            parse_time(report["ended"]),
        )
        step = _clock_step(started, ended, report)
        seconds = (
            ended - started if step else _reject_negative(ended - started)
        )
        user, system = (parse_time(report[key]) for key in ("user", "system"))
    except (KeyError, ValueError):
        raise base.MachineError(
            f"{machine}: command {command} left {header[:100]!r} "
            "instead of its result; check whether its directory was cleared "
            "or full"
        ) from None
    if step:
        raise base.MachineError(
            f"clock of {machine} was stepped by {step:+.2f} s while "
            f"{command} ran; repeat the run, or stop its time synchronisation"
        )
    return command_result.CommandResult(
        name=command,
        exit_status=status,
        seconds=seconds,
        started=started,
        ended=ended,
        user=user,
        system=system,
        stdout=stdout,
        stderr=stderr,
    )


def _clock_step(
    started: float, ended: float, report: collections.abc.Mapping[str, str]
) -> float:
    """Return the step of the clock in seconds, 0 if it was not stepped.

    Uptime cannot be stepped and runs as fast as the clock. The time between
    the readings of clock and uptime is a tolerance, for machines that are slow
    or without CPU at that time.
    """
    lasted = _reject_negative(
        _parse_number(report["up_ended"]) - _parse_number(report["up"])
    )
    step = ended - started - lasted
    between = max(started - parse_time(report["before"]), 0) + max(
        parse_time(report["after"]) - ended, 0
    )
    return step if abs(step) > _APART + between else 0.0


def _parse_status(text: str) -> int:
    """Parse an exit status from 0 to 255 into an integer."""
    if not re.fullmatch("[0-9]{1,3}", text) or int(text) > 255:
        raise ValueError(text)
    return int(text)


def _parse_number(text: str) -> float:
    """Parse a decimal number into a float; raise ValueError if invalid."""
    # Python also accepts 1_000, nan, and the digits of other scripts.
    if not re.fullmatch(r"-?[0-9]{1,20}(\.[0-9]{1,20})?", text):
        raise ValueError(text)
    return float(text)


def parse_time(text: str) -> float:
    """Parse a clock time into seconds since the epoch as a float.

    :raises ValueError: If the text is not a valid time.
    """
    number = _parse_number(text)
    if not 0 <= number < _LATEST:
        raise ValueError(text)
    return number


def _reject_negative(number: float) -> float:
    """Return the number unchanged; raise ValueError if it is negative."""
    if number < 0:
        raise ValueError(number)
    return number
