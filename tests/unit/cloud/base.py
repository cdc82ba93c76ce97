# SPDX-License-Identifier: Apache-2.0
"""A state directory for each test, and a supervisord that answers."""

import io
import pathlib
import socketserver
import tempfile
import threading
import unittest
import xmlrpc.server

from rally_vmperf import removal
from rally_vmperf.image import commands
from tests.cloud.state import credentials
from tests.cloud.state import settings
from tests.cloud.state import templates
from tests.cloud.system import layout


class _Handler(xmlrpc.server.SimpleXMLRPCRequestHandler):
    """A request by a UNIX socket, which has no option of TCP."""

    disable_nagle_algorithm = False


class _Supervisord(
    socketserver.UnixStreamServer, xmlrpc.server.SimpleXMLRPCDispatcher
):
    """A server of supervisord's method that is in use."""

    logRequests = False

    def __init__(self, path, method):
        xmlrpc.server.SimpleXMLRPCDispatcher.__init__(self)
        super().__init__(str(path), _Handler)
        self.register_function(method, "supervisor.getAllProcessInfo")


class CloudTestCase(unittest.TestCase):
    """A test with a state directory of its own."""

    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(
            self.enterContext(tempfile.TemporaryDirectory())
        )
        self.folders = layout.Layout(self.folder / "root")
        self.folders.make_directories()
        removal.mark(self.folders.root)
        self.output = io.StringIO()
        self.progress = commands.Progress(self.output)

    def fill_databases(self):
        """Let the databases have data that could be lost."""
        (self.folders.data / "done" / "schema-nova").touch()

    def make_templates(self, **options):
        """Return the templates of a cloud with these settings."""
        path = self.folders.etc / "secrets.json"
        self.secrets = credentials.load(path, used=False)
        return templates.Templates(
            self.folders, self.secrets, settings.Settings(**options)
        )

    def serve(self, method, name="supervisord"):
        """Answer at supervisord's socket until the end of the test."""
        server = _Supervisord(self.folders.run / f"{name}.sock", method)
        self.addCleanup(server.server_close)
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(server.shutdown)


def process(name, state="RUNNING", **changes):
    """Return supervisord's description of a program."""
    return {
        "name": name,
        "statename": state,
        "pid": 7,
        "start": 1_700_000_000,
        "exitstatus": 0,
        "spawnerr": "",
        "description": "pid 7, uptime 0:00:09",
        **changes,
    }
