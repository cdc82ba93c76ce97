"""Long jobs that go on when a connection is lost.

A supervisor on the machine (scripts/job.bash) runs the command in a process
group of its own, takes the times as close around it as can be, bounds its
output and its time, and writes its account last.  So a controller that dies
leaves nothing running for ever, and one that lost the connection finds a
complete result.

While it runs the machine is left alone: one waiting command sleeps in a read
of a FIFO that the kernel ends with the supervisor.  No polling, no process
started, which matters where guests are emulated and ten times slower; the
wait is renewed once a minute, or when the connection had to be.

A job may also have everything ready and wait for an instant of the clock.  So
many machines start at once: what differs between them is then how each wakes
up, and not how long it took to tell them.
"""

import asyncio
import collections.abc
import contextlib
import dataclasses
import re
import secrets
import time

from rally_vmperf.machines import base
from rally_vmperf.machines import job_result
from rally_vmperf.machines import scripts

#: Seconds one waiting command lasts.
HOLD = 60.0
#: Seconds that a machine which answers has beyond the time a job may take.
PATIENCE = 120.0
#: Seconds for one request: more than a connection needs to notice that the
#: machine is gone, so that a time-out means a slow machine.
REQUEST = 90.0
#: What the script says of a job: gone without a result, not yet ended.
LOST, RUNNING = 3, 75
#: Seconds that a machine may be away; one that died costs no more.
_AWAY = 60.0
_HEADER = 4096


@dataclasses.dataclass(kw_only=True)
class Job:
    """A command that runs in a new folder of a machine.

    It holds no connection: it is asked for over any that the machine has.

    :param timeout: seconds after which the machine itself ends it; of an
        armed job, after its release
    :param output_limit: bytes per stream; a program that prints more is ended
    :param prefix: command line put before the job's supervisor, for holding
        it to a shape; its own start-up is not measured
    :ivar path: its own folder, below that one
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
        """Start the command and return at once.

        :raises MachineError: when it cannot be started
        :raises Unreachable: when the machine is away for a minute
        """
        self._check_started(await self._persist("start", *self._start(())))

    async def run(self, finished: list[str]) -> job_result.JobResult:
        """Start the command, wait for its end and return its result.

        It costs one request, where the connection holds and the job is short:
        each costs an emulated machine a fifth of a second.

        :param finished: paths of earlier jobs, removed before this one
            starts; then this one's, for the next
        :raises MachineError: as ``start`` and ``finish`` do; the job is ended
        """
        hold = min(HOLD, self.timeout + PATIENCE)
        try:
            done = await self._persist(
                *("run", f"{hold:.3f}", *self._start(finished)),
                timeout=HOLD + REQUEST,
                output_limit=self.output_limit,
                patience=HOLD + PATIENCE,
            )
            if done.exit_status == RUNNING:
                done = await self._wait("await")
            elif done.exit_status != LOST:
                self._check_started(done)
            result = self._result(done)
        except BaseException:
            await self.give_up()
            raise
        finished[:] = [self.path]
        return result

    async def arm(self, finished: list[str], *, keep_up: bool = False) -> None:
        """Have the command ready.

        One that is never released goes away by itself after ten minutes.

        :param finished: paths of earlier jobs, removed before
        :param keep_up: when it has ended, repeat it, uncounted, until
            ``end_load`` is called or ``timeout`` has passed once more
        :raises MachineError: when it cannot be started; nothing is left then
        """
        arguments = self._start(finished, armed=True, keep_up=keep_up)
        try:
            self._check_started(await self._persist("start", *arguments))
        except BaseException:
            await self.give_up()
            raise
        finished.clear()

    async def release(self, at: float) -> job_result.JobResult:
        """Start an armed job, wait for its end and return its result.

        Its folder stays; a load that it keeps up goes on.

        :param at: seconds since the epoch on the machine's own clock
        :raises MachineError: as ``finish`` does
        """
        return self._result(await self._wait("release", f"{at:.6f}"))

    async def end_load(self) -> float | None:
        """End the load that a job keeps up.

        :returns: until when it did, on the machine's own clock; None when the
            machine does not know
        :raises MachineError: when the machine cannot be asked
        """
        done = await self._persist("end_load", self.path)
        try:
            told = job_result.fields(done.stdout)
            return job_result.moment(told["kept_up_until"])
        except (KeyError, ValueError):
            return None

    async def finish(self) -> job_result.JobResult:
        """Wait for a job's end, collect its result, and remove its files.

        :raises TimedOut: when the machine had to end it
        :raises OutputTooLong: likewise
        :raises Unreachable: when the machine is away for a minute
        """
        done = await self._wait("await")
        if not done.exit_status:
            # All is here: a machine that goes away now takes nothing with it.
            with contextlib.suppress(base.MachineError):
                await self._ask("discard", self.path)
        return self._result(done)

    async def running(self) -> bool:
        """Return whether the command is still at work.

        :raises MachineError: when the machine cannot be asked
        """
        done = await self._ask("await", self.path, "0.001")
        return done.exit_status == RUNNING

    async def cancel(self) -> None:
        """End a job with everything it started, and remove its files."""
        await self._ask("cancel", self.path)

    async def give_up(self) -> None:
        """Cancel a job whatever happens around it; a lost machine is fine."""
        with contextlib.suppress(base.MachineError):
            await asyncio.shield(self.cancel())

    def _start(
        self,
        finished: collections.abc.Collection[str],
        *,
        armed: bool = False,
        keep_up: bool = False,
    ) -> tuple[str, ...]:
        """Return the arguments of the request that starts a job."""
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
        """Wait until the job has ended, by as many requests as it takes."""
        deadline = time.monotonic() + self.timeout + PATIENCE
        while True:
            left = max(deadline - time.monotonic(), 1)
            done = await self._persist(
                *(request, self.path, *arguments, f"{min(HOLD, left):.3f}"),
                timeout=HOLD + REQUEST,
                output_limit=self.output_limit,
                patience=left,
            )
            if done.exit_status != RUNNING:
                return done
            if time.monotonic() > deadline:
                raise base.timed_out(
                    self.machine.name, self.name, self.timeout
                )

    async def _ask(
        self, *arguments: str, timeout: float = 60, output_limit: int = 1 << 20
    ) -> base.Completed:
        return await self.machine.run(
            scripts.argv("job.bash", *arguments),
            timeout=timeout,
            output_limit=output_limit,
        )

    async def _persist(
        self,
        *arguments: str,
        timeout: float = REQUEST,
        output_limit: int = 0,
        patience: float = PATIENCE,
    ) -> base.Completed:
        """Ask again while the machine is away; all requests are repeatable.

        After a loss at least one more connection is tried, for a silent one
        may have been dropped somewhere between here and a machine that is
        well.

        :param patience: seconds to go on asking a machine that is only slow
        """
        deadline = time.monotonic() + patience
        lost: float | None = None
        pause = 0.2
        while True:
            try:
                return await self._ask(
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
        if done.exit_status:
            raise base.MachineError(
                f"{self.machine.name}: command {self.name} cannot be started "
                f"in {self.folder}: {base.last_line(done.stderr)}; the "
                "machine needs bash and a writable folder"
            )

    def _result(self, done: base.Completed) -> job_result.JobResult:
        """Return the job's result.

        :raises MachineError: when it left nothing, or was ended for cause
        """
        machine, command = self.machine.name, self.name
        if done.exit_status:
            raise base.MachineError(
                f"{machine}: command {command} vanished without a result "
                f"({base.last_line(done.stderr)}); see whether the machine "
                "was rebooted or ran out of memory"
            )
        header, _, stdout = done.stdout.partition("\n\n")
        marks = job_result.fields(header)
        if "unkept" in marks:
            raise base.MachineError(
                f"{machine}: the output of command {command} could not be "
                f"kept in {self.folder}; free space there"
            )
        if "too_long" in marks:
            raise base.too_long(machine, command, self.output_limit)
        if "timed_out" in marks:
            raise base.timed_out(machine, command, self.timeout)
        if "late" in marks:
            raise base.MachineError(
                f"{machine}: command {command} was released too late; was its "
                "clock stepped, or was its connection lost?"
            )
        if "cancelled" in marks:
            raise base.MachineError(
                f"{machine}: command {command} was cancelled"
            )
        return job_result.read(machine, command, header, stdout, done.stderr)
