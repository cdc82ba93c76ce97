"""Guests in an aggregate, which takes an administrator."""

import contextlib
import time

from tests.functional import laboratory
from tests.functional import test_placement
from tests.long import long

#: Makes a guest print where its user data came from.
TELL = "runcmd: ['cat /run/cloud-init/status.json > /dev/console']"


@long.LONG
class TestAggregate(test_placement.PlacementCase):
    """Forced into an aggregate."""

    def test_inside_an_aggregate_from_a_config_drive(self):
        """An administrator's guest is in it, its user data on a drive."""
        lab = self.laboratory
        lab.use("admin")
        before = lab.journals()
        with _aggregate(lab.admin) as host:
            with lab.started(
                test_placement.TASK,
                baseline="one-tiny",
                guests=1,
                peer=laboratory.peer(),
                options={
                    "aggregate": test_placement.AGGREGATE,
                    "network": {"name": "public"},
                    "config_drive": True,
                    "user_data": TELL,
                },
            ) as process:
                text = self._console()
                code = process.wait(timeout=200)
            self.assertEqual(0, code, process.log.read_text()[-4000:])
        self.assertIn("DataSourceConfigDrive", text)
        (path,) = lab.journals() - before
        guest = lab.records(path)[0]["machines"][0]["nova"]
        self.assertEqual(host, guest["host"])
        self.assertIs(True, guest["config_drive"])

    def _console(self):
        """Return what the run's server printed until it told its source."""
        admin = self.laboratory.admin
        text, deadline = "", time.monotonic() + 150
        while "datasource" not in text and time.monotonic() < deadline:
            time.sleep(1)
            for server in admin.compute.servers(all_projects=True):
                with contextlib.suppress(laboratory.REFUSALS):
                    answer = admin.compute.get_server_console_output(server.id)
                    text = answer.get("output") or ""
        return text


@contextlib.contextmanager
def _aggregate(admin):
    """Have an aggregate without a zone, with the cloud's host in it."""
    made = admin.compute.create_aggregate(name=test_placement.AGGREGATE)
    try:
        (host,) = (
            one.host for one in admin.compute.services(binary="nova-compute")
        )
        admin.compute.add_host_to_aggregate(made, host)
        try:
            yield host
        finally:
            admin.compute.remove_host_from_aggregate(made, host)
    finally:
        admin.compute.delete_aggregate(made)
