"""Ways to an SSH server; this module has the direct one."""

import typing as t

from rally_vmperf.machines import dialing

#: Seconds for a TCP answer.
DIAL = 2


class Way(t.Protocol):
    """How the TCP connection to an SSH server comes about.

    :ivar words: what messages add to the server's address
    """

    words: str

    async def open(
        self, user: object, host: str, port: int
    ) -> dict[str, t.Any]:
        """Return what asyncssh needs for a connection that goes this way.

        :param user: whoever goes, until it says ``leave``
        :raises OSError: when the server does not answer
        :raises MachineError: when the way itself cannot be gone
        """

    async def leave(self, user: object) -> None:
        """Be told that somebody has closed all its connections."""


class Direct:
    """From here, as this machine's routes lead."""

    words = ""

    async def open(
        self, user: object, host: str, port: int
    ) -> dict[str, t.Any]:
        return {"sock": await dialing.dial(host, port, DIAL)}

    async def leave(self, user: object) -> None:
        """Nothing is shared."""
