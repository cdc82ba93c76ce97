# SPDX-License-Identifier: Apache-2.0
"""A process that is many machines: an SSH server on the loopback.

Each connection to it is a machine of its own.  It prints one line, JSON, with
its port and the keys, and ends with its standard input.
"""

import asyncio
import json
import resource
import sys

from tests.bench.density import simulated
from tests.unit.machines import sshd

KINDS = {"real": sshd.Sshd, "simulated": simulated.Sshd}


async def main() -> None:
    """Serve until no process listens any more."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    server = KINDS[sys.argv[1]]()
    await server.start()
    description = {
        "host": server.host,
        "port": server.port,
        "client_key": server.client_pair.private,
        "host_key": server.host_pair.public,
    }
    print(json.dumps(description), flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    await server.stop()


if __name__ == "__main__":
    asyncio.run(main())
