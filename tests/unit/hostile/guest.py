# SPDX-License-Identifier: Apache-2.0
"""A hostile guest on this computer, behind a real SSH server."""

import asyncio
import os
import pathlib
import threading

from rally_vmperf.guests import models
from tests.unit.guests import made
from tests.unit.hostile import tools
from tests.unit.machines import sshd


class Guest:
    """Its SSH server runs in a thread, its tools are those of ``tools``.

    :param folder: The folder for its tools and for its user's home.
    :param more: The texts of additional programs by name.
    """

    def __init__(self, folder, more=None):
        self.folder = pathlib.Path(folder)
        path = self.folder / "bin"
        path.mkdir()
        programs = tools.programs(str(self.folder))
        for name, text in {**programs, **(more or {})}.items():
            text = text.replace("{folder}", str(self.folder))
            (path / name).write_text(text)
            (path / name).chmod(0o755)
        (self.folder / tools.WORDS).write_bytes(tools.all_texts())
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)
        self.server = sshd.Sshd(
            environment={
                **os.environ,
                "PATH": f"{path}:{os.environ['PATH']}",
                "HOME": str(self.folder),
            }
        )

    def __enter__(self):
        self._thread.start()
        self._wait(self.server.start())
        return self

    def __exit__(self, *_):
        self._wait(self.server.stop())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def booted(self, server_id="00000000-0000-4000-8000-000000000001"):
        """Return what the guests' context knows of it."""
        return made.guest(
            id=server_id,
            boot=models.create_boot_id(server_id),
            address=self.server.host,
            measure_address=self.server.host,
            port=self.server.port,
            host_key=self.server.host_pair.public,
            host_id="h",
            host="host-1",
            hypervisor="host-1",
            flavor=models.Flavor(
                id="f1", name="small", vcpus=1, memory_mib=1024, disk_gib=4
            ),
        )

    def _wait(self, work):
        asyncio.run_coroutine_threadsafe(work, self._loop).result(60)
