import errno
import http.server
import stat
import threading
from unittest import mock

from rally_vmperf.cloud import bringup
from rally_vmperf.cloud import preflight
from rally_vmperf.cloud.container import kvm
from rally_vmperf.cloud.state import hypervisors
from rally_vmperf.cloud.state import settings
from rally_vmperf.cloud.state import state_root
from rally_vmperf.cloud.system import errors
from tests.unit.cloud import base


class UpTestCase(base.CloudTestCase):
    def up(self, error):
        with (
            mock.patch.object(preflight, "check", autospec=True),
            mock.patch.object(preflight, "gather", autospec=True),
            mock.patch.object(
                state_root, "claim", autospec=True, side_effect=error
            ),
        ):
            bringup.up(self.folders, self.progress)

    def test_a_full_disk(self):
        for code in (errno.ENOSPC, errno.EDQUOT):
            with self.assertRaisesRegex(
                errors.CloudError, "the disk is full: /some/file cannot be"
            ):
                self.up(OSError(code, "full", "/some/file"))


class BringupTestCase(base.CloudTestCase):
    def configure(self, *options, hardware=False):
        steps = bringup.Bringup(self.folders, self.progress)
        with mock.patch.object(
            kvm, "works", autospec=True, return_value=hardware
        ):
            steps.configure(*options)
        return steps


class ConfigureTestCase(BringupTestCase):
    def test_settings_remain(self):
        self.configure("unsafe", 2)
        self.assertIn("emulated (TCG)", self.output.getvalue())
        self.configure(None, None, hardware=True)
        self.assertEqual(
            settings.Settings("unsafe", "kvm", 2), settings.load(self.folders)
        )

    def test_the_cookie_of_rabbitmq(self):
        """It is kept, of 256 bits, and for root only."""
        self.configure(None, None)
        cookie = self.folders.data / "rabbitmq/.erlang.cookie"
        text = cookie.read_text()
        self.assertRegex(text, "^[0-9a-f]{64}$")
        self.assertEqual(0o400, stat.S_IMODE(cookie.stat().st_mode))
        self.configure(None, None)
        self.assertEqual(text, cookie.read_text())

    def test_fewer_hypervisors_of_a_cloud_that_is_down(self):
        self.configure(None, 2)
        self.configure(None, 1)
        self.configure(None, 2)
        self.fill_databases()
        with self.assertRaisesRegex(
            errors.CloudError, "^--hypervisors=1: the cloud must run"
        ):
            self.configure(None, 1)
        self.assertEqual(2, settings.load(self.folders).hypervisors)


class StartTestCase(BringupTestCase):
    def test_a_container_that_runs_is_not_started_again(self):
        for pid, expected in (
            (None, ["end", "start"]),
            (7, ["update"]),
        ):
            with mock.patch.object(
                bringup.container, "Container", autospec=True
            ) as made:
                made.return_value.pid = pid
                bringup.Bringup(self.folders, self.progress).start()
            calls = [name for name, *_ in made.return_value.method_calls]
            self.assertEqual(expected, calls)


class StartsTestCase(BringupTestCase):
    """The API's reports of earlier starts do not count."""

    def starts(self, count):
        names = (*hypervisors.AGENTS, "nova-compute", "hypervisor-2")
        self.serve(
            lambda: [
                base.process(name, start=number)
                for number, name in enumerate(names[: 4 + count], start=1)
            ]
        )
        steps = self.configure(None, count)
        return steps._starts_of_agents(), steps._starts_of_hypervisors()

    def test_one_hypervisor(self):
        agents, found = self.starts(1)
        self.assertEqual([1, 2, 3, 4], [*agents.values()])
        self.assertEqual({hypervisors.NAMES[0]: 5}, found)

    def test_two_hypervisors(self):
        agents, found = self.starts(2)
        self.assertEqual([1, 2, 3, 4, 6], [*agents.values()])
        self.assertEqual(
            dict(zip(hypervisors.NAMES, (5, 6), strict=True)), found
        )


class AnswersTestCase(base.CloudTestCase):
    def test_by_status(self):
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                self.send_response(int(self.path[1:]))
                self.end_headers()

            def log_message(self, *_words):
                pass

        server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        url = f"http://127.0.0.1:{server.server_port}"
        with mock.patch.dict("os.environ", {"http_proxy": "http://x:1"}):
            found = {
                code: bringup._answers(f"{url}/{code}")
                for code in (200, 300, 401, 500, 503)
            }
        server.shutdown()
        thread.join()
        server.server_close()
        self.assertEqual(
            {200: True, 300: True, 401: True, 500: False, 503: False}, found
        )
        self.assertFalse(bringup._answers(url))
