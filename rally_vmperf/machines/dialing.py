"""Open a TCP connection quickly, or say quickly why not."""

import asyncio
import collections.abc
import socket

#: Makes an unconnected socket of a family, kind and protocol.
Maker = collections.abc.Callable[[int, int, int], socket.socket]


async def dial(
    host: str, port: int, timeout: float, make: Maker = socket.socket
) -> socket.socket:
    """Return a connected socket; IPv4 and IPv6, the first that answers.

    A short time-out here, with a long one for the SSH handshake, finds a
    booting guest within a second of its coming up and still bears with an
    emulated one that takes many seconds to log in.

    :param timeout: seconds per address
    :raises OSError: as the last address answered; ``TimeoutError`` is one
    """
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    last = OSError(f"no address for {host}")
    for family, kind, protocol, _, address in found:
        connection = make(family, kind, protocol)
        connection.setblocking(False)
        try:
            async with asyncio.timeout(timeout):
                await loop.sock_connect(connection, address)
        except OSError as error:
            connection.close()
            last = error
        except BaseException:
            connection.close()
            raise
        else:
            return connection
    raise last
