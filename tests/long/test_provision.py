# SPDX-License-Identifier: Apache-2.0
"""A guest that lacks tools gets them from a mirror."""

import contextlib
import http.server
import pathlib
import threading

import yaml

from rally_vmperf.image import tool_packages
from rally_vmperf.machines.remote import routes
from tests import repository
from tests.cloud.system import layout
from tests.functional import breakage
from tests.functional import laboratory
from tests.long import long

TASK = pathlib.Path(__file__).parent / "tasks" / "provision.yaml"
#: sysbench, and with it every package that was installed only for it.
PURGED = ["mbw", "sysbench", "libmariadb3", "libluajit2-5.1-2"]
#: Nobody knows this name: only a proxy can be asked for it.
MIRROR = "mirror.vmperf.invalid"
#: The user data of a guest without the tools and with one source.
USER_DATA = yaml.safe_dump(
    {
        "bootcmd": [
            ["dpkg", "--purge", "--force-depends", *PURGED],
            ["rm", "-f", "/etc/apt/sources.list.d/debian.sources"],
        ],
        "write_files": [
            {
                "path": "/etc/apt/sources.list",
                "content": f"deb [trusted=yes] http://{MIRROR}/debian ./\n",
            }
        ],
    }
)


class Proxy(http.server.SimpleHTTPRequestHandler):
    """Answers for one mirror, from a folder, and remembers what was asked."""

    paths: list[str]

    def translate_path(self, path):
        """Return the file that a whole URL means."""
        return super().translate_path(
            path.removeprefix(f"http://{MIRROR}/debian")
        )

    def log_request(self, code="-", size="-"):
        """Remember it."""
        self.paths.append(self.path)

    def log_message(self, format, *args):
        """Say nothing."""


@contextlib.contextmanager
def proxy(served):
    """Serve a folder as a mirror behind a proxy; give its URL and log.

    It is at the peer's address: guests reach nothing of the host.
    """
    paths = []

    def handler(*args):
        made = type("Handler", (Proxy,), {"paths": paths})
        return made(*args, directory=str(served))

    address = laboratory.networks().peer
    server = http.server.ThreadingHTTPServer(
        (address, 0), handler, bind_and_activate=False
    )
    server.socket.close()
    with breakage.attached(layout.PEER_NAMESPACE) as namespace:
        server.socket = routes.open_socket(namespace)
    server.server_bind()
    server.server_activate()
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://{address}:{server.server_port}", paths
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@long.LONG
class TestMirror(laboratory.Case):
    """Tools come from a mirror."""

    def test_mirror_behind_a_proxy(self):
        """The guest's apt asks the proxy for packages that it lacks."""
        lab = self.laboratory
        lab.use("member")
        lab.record_baseline(
            "provision",
            *("--task", str(TASK), "--task-args", '{"guest_options": {}}'),
            *("--flavor", "vmperf.tiny"),
        )
        before = lab.journals()
        with proxy(self._mirror()) as (url, paths):
            options = {"proxy": url, "user_data": USER_DATA}
            process = lab.start(TASK, guest_options=options)
        self.check_ended(0, process)
        (record,) = lab.records(self.new_journal(before, process))
        self.assertEqual("complete", record.repetition.state)
        tools = lab.machines(record)["g1"]["tools"]
        for name in ("mbw", "sysbench"):
            self.assertEqual(64, len(tools[name]["checksum"]))
        sent = {path.rpartition("/")[2] for path in paths}
        self.assertLessEqual({"mbw.deb", "sysbench.deb"}, sent)
        self.assertTrue(all(path.startswith("http://") for path in paths))

    def _mirror(self):
        """Return a repository of what a bundle of the tools is made of."""
        folder = self.laboratory.folder
        request = tool_packages.PackageRequest(
            suite="bookworm",
            packages=("mbw", "sysbench"),
        )
        packages = tool_packages.fetch(
            request, folder / "provision-apt", folder / "provision-apt.log"
        )
        served = folder / "mirror"
        served.mkdir()
        repository.make(served, packages)
        return served
