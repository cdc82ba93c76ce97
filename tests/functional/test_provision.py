"""Guests that lack tools get them, from a mirror or from Rally's machine."""

import contextlib
import http.server
import threading

import yaml

from rally_vmperf.toolbox import folder
from tests.functional import laboratory

TASK = laboratory.TASKS / "provision.yaml"
#: The bridge between this machine and the guests.
BRIDGE = "172.24.4.1"
#: Nobody knows this name: only a proxy can be asked for it.
MIRROR = "mirror.vmperf.invalid"
#: sysbench, and with it every package that was installed only for it.
PURGED = ["mbw", "sysbench", "libmariadb3", "libluajit2-5.1-2"]


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

    server = http.server.ThreadingHTTPServer((BRIDGE, 0), handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://{BRIDGE}:{server.server_port}", asked
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def without_tools(*sources):
    """Return user data that removes tools and leaves these sources only."""
    commands = [
        ["dpkg", "--purge", "--force-depends", *PURGED],
        ["rm", "-f", "/etc/apt/sources.list.d/debian.sources"],
    ]
    written = "".join(f"{line}\n" for line in sources)
    return yaml.safe_dump(
        {
            "bootcmd": commands,
            "write_files": [
                {"path": "/etc/apt/sources.list", "content": written}
            ],
        }
    )


class TestProvision(laboratory.Case):
    """Tools come by the way that the task names."""

    def setUp(self):
        """Have a baseline and packages."""
        super().setUp()
        lab = self.laboratory
        lab.use("member")
        lab.record_baseline(
            "provision",
            *("--task", str(TASK), "--task-args", '{"guest_options": {}}'),
            *("--flavor", "vmperf.tiny"),
        )
        self.tools = lab.folder / "tools"
        if not self.tools.exists():
            lab.vmperf(
                *("tools", "fetch", str(self.tools), "--task", str(TASK)),
                *("--task-args", '{"guest_options": {}}'),
                check=True,
            )

    def run_task(self, **options):
        """Run a guest; return its record's tools."""
        before = self.laboratory.journals()
        done = self.laboratory.start(TASK, guest_options=options)
        self.check_ended(0, done)
        path = self.new_journal(before, done)
        (record,) = self.laboratory.records(path)
        self.assertEqual("complete", record["state"])
        tools = record["machines"][0]["tools"]
        for name in ("mbw", "sysbench"):
            self.assertEqual(64, len(tools[name]["checksum"]))
        return record

    def test_mirror_behind_a_proxy(self):
        """The guest's apt asks the proxy for packages that it lacks."""
        (chosen,) = folder.load(self.tools).sets
        with self._flat_repository(chosen) as served, proxy(served) as behind:
            url, asked = behind
            self.run_task(
                proxy=url,
                user_data=without_tools(
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

    def test_sent_from_here(self):
        """Without any mirror the guest gets them over SSH."""
        record = self.run_task(
            tools=str(self.tools), user_data=without_tools()
        )
        self.assertEqual([], record["missing"])
