"""Guests that lack tools get them, from a mirror or from Rally's machine."""

import contextlib
import http.server
import threading

from rally_vmperf.toolbox import folder
from tests.functional import laboratory
from tests.functional import provisioning
from tests.long import long

#: Nobody knows this name: only a proxy can be asked for it.
MIRROR = "mirror.vmperf.invalid"


class Proxy(http.server.SimpleHTTPRequestHandler):
    """Answers for one mirror, from a folder, and remembers what was asked."""

    asked: list[str]

    def translate_path(self, path):
        """Return the file that a whole URL means."""
        return super().translate_path(
            path.removeprefix(f"http://{MIRROR}/debian")
        )

    def log_request(self, code="-", size="-"):
        """Remember it."""
        self.asked.append(self.path)

    def log_message(self, format, *args):
        """Say nothing."""


@contextlib.contextmanager
def proxy(served):
    """Serve a folder as a mirror behind a proxy; give its URL and log."""
    asked = []

    def handler(*args):
        made = type("Handler", (Proxy,), {"asked": asked})
        return made(*args, directory=str(served))

    # the bridge between this machine and the guests
    bridge = laboratory.networks().gateway
    server = http.server.ThreadingHTTPServer((bridge, 0), handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://{bridge}:{server.server_port}", asked
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@long.LONG
class TestMirror(provisioning.ProvisionCase):
    """Tools come from a mirror."""

    def test_mirror_behind_a_proxy(self):
        """The guest's apt asks the proxy for packages that it lacks."""
        (chosen,) = folder.load(self.tools).sets
        with self._flat_repository(chosen) as served, proxy(served) as behind:
            url, asked = behind
            self.run_task(
                proxy=url,
                user_data=provisioning.without_tools(
                    f"deb [trusted=yes] http://{MIRROR}/debian ./"
                ),
            )
        sent = {path.rpartition("/")[2] for path in asked}
        wanted = {
            one.target
            for one in chosen.packages
            if one.package in ("mbw", "sysbench")
        }
        self.assertLessEqual(wanted, sent)
        self.assertTrue(all(path.startswith("http://") for path in asked))

    @contextlib.contextmanager
    def _flat_repository(self, chosen):
        served = self.laboratory.folder / "mirror"
        served.mkdir()
        for one in (*chosen.index, *chosen.packages):
            (served / one.target).symlink_to(self.tools / one.path)
        yield served


@long.LONG
class TestUpload(provisioning.ProvisionCase):
    """Tools come over SSH."""

    def test_sent_from_here(self):
        """Without any mirror the guest gets them over SSH."""
        record = self.run_task(
            tools=str(self.tools), user_data=provisioning.without_tools()
        )
        self.assertEqual([], record["missing"])
