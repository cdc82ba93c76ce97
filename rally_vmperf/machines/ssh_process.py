"""One command over an SSH connection."""

import collections.abc
import contextlib
import shlex
import typing as t

import asyncssh

#: The machine itself ends a command so long after its time-out: for the case
#: that nobody is left to tell it, and because OpenSSH takes no signals for
#: processes of root.
_GRACE = 2


class Process(asyncssh.SSHClientProcess[bytes]):
    """A command that knows whether it may have started."""

    opened = False

    def connection_made(self, chan: t.Any) -> None:
        self.opened = True
        super().connection_made(chan)

    async def start(
        self,
        connection: asyncssh.SSHClientConnection,
        argv: collections.abc.Sequence[str],
        seconds: float,
    ) -> None:
        """Ask for the command, guarded against outliving its caller."""
        guard = f"env LC_ALL=C timeout -k 2 {seconds + _GRACE:.0f}".split()
        await connection.create_session(
            lambda: self, shlex.join([*guard, *argv]), encoding=None
        )

    def end(self) -> None:
        """Leave nothing running of a command that was given up."""
        if self.opened:
            with contextlib.suppress(OSError, asyncssh.Error):
                self.channel.kill()
            self.channel.abort()
