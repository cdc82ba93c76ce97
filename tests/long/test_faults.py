# SPDX-License-Identifier: Apache-2.0
"""Faults that take a guest, or a call to the cloud each, to be seen.

Every fault and what comes of it is in doc/source/contributor/faults.rst.
"""

import json
import os
import pathlib
import re
import signal
import tempfile
from unittest import mock

import ddt
from rally.common import cfg

from rally_vmperf import opts
from rally_vmperf.execution.stations import arrival
from rally_vmperf.guests import cloud
from rally_vmperf.guests import errors
from rally_vmperf.plugins import contexts
from tests import patience
from tests.functional import fault_proxy
from tests.functional import fault_table
from tests.functional import laboratory
from tests.functional import test_faults
from tests.long import long

CONF = cfg.CONF
TASKS = pathlib.Path(__file__).parent / "tasks"
TOOLS = TASKS / "tools.yaml"
SHORT = laboratory.TASKS / "short.yaml"

#: Calls that only an administrator makes.
PLACEMENT = {
    "placement GET /",
    "placement GET /allocation_candidates",
    "placement GET /resource_providers",
}
#: Calls of runs that choose a host, or whose guest does not come up.
RARE = {
    "compute GET /v2.1/os-services",
    "compute POST /v2.1/servers/{id}/action",
    *PLACEMENT,
}
#: What becomes of each call here; in memory there is more.
ACTIONS = (403, 503, "hang", "lost")
#: Calls that a run on one network, without trouble, has no need of.
UNUSED = (
    *("os-services", "/action", "GET /v2.1/servers/{id}"),
    *PLACEMENT,
)


def member():
    """Return the member's specification for Rally."""
    path = pathlib.Path(laboratory.CLOUD, "rally-env-member.json")
    return json.loads(path.read_text())["existing@openstack"]


def used_calls():
    """Return the calls that booting and cleaning up make."""
    return [
        row.call
        for row in fault_table.calls()
        if not row.call.endswith(UNUSED) and UNUSED[0] not in row.call
    ]


@long.LONG
class TestUnsteadyCloud(test_faults.ProxyCase):
    """Faults that pass by themselves cost nothing but time."""

    def test_each_question_fails_once(self):
        """The run passes; every call it makes is in the table of faults."""
        self.break_(r"\w+ GET .*|identity POST .*", 503, each=True)
        self.break_(r"\w+ DELETE .*", 503, each=True)
        process = self.laboratory.start(SHORT, network="private")
        self.check_ended(0, process)
        documented = {row.call for row in fault_table.calls()}
        made = {str(call) for call in self.proxy.calls}
        self.assertEqual(set(), made - documented, "calls without a row")
        self.assertEqual(RARE, documented - made, "rows without a call")
        self.assertTrue(all(rule.struck for rule in self.proxy.rules))


@long.LONG
@ddt.ddt
class TestEveryCall(laboratory.Case):
    """Each call of the context, failing in each way, on the real cloud.

    The test does not wait for the boot: guests that are active are enough.
    """

    def setUp(self):
        """Have a context whose cloud is behind a proxy."""
        super().setUp()
        folder = self.enterContext(tempfile.TemporaryDirectory())
        CONF.register_opts(opts.OPTIONS, group=opts.GROUP)
        CONF.set_override("journal_dir", folder, group=opts.GROUP)
        self.addCleanup(CONF.clear_override, "journal_dir", group=opts.GROUP)
        credentials = member()
        self.proxy = self.enterContext(
            fault_proxy.FaultProxy(credentials["auth_url"])
        )
        (user,) = credentials["users"]
        self.credential = {
            **user,
            "tenant_name": user["project_name"],
            "region_name": credentials["region_name"],
            "auth_url": self.proxy.auth_url,
        }
        self.enterContext(mock.patch.object(cloud, "TIMEOUT", 4))
        self.enterContext(
            mock.patch.object(
                arrival.ConnectedGuests,
                "wait",
                autospec=True,
                return_value=[arrival.Arrival()],
            )
        )

    def context(self):
        """Return the context of one guest."""
        config = {
            "image": {"name": "vmperf-guest"},
            "flavor": {"name": "vmperf.tiny"},
            "network": {"name": "private"},
        }
        return contexts.Guests(
            {
                "task": {"uuid": "12345678-0000-4000-8000-000000000000"},
                "owner_id": "abcd1234-0000-4000-8000-000000000000",
                "config": {"vmperf_guests@openstack": config},
                "users": [{"credential": self.credential, "tenant_id": "p"}],
                "tenants": {"p": {}},
            }
        )

    @ddt.data(*used_calls())
    def test_call(self, call):
        """The run continues, or reports it in one line; nothing stays."""
        pattern = fault_proxy.pattern(call)
        for action in ACTIONS:
            with self.subTest(action=action):
                self.proxy.forget()
                rule = fault_proxy.Rule(call=pattern, action=action)
                self.proxy.rules.append(rule)
                context = self.context()
                try:
                    context.setup()
                    context.cleanup()
                except errors.GuestError as error:
                    self.assertNotIn("\n", str(error))
                    if "clean-up" in str(error):
                        self.assertIn("rally-vmperf cleanup", str(error))
                        self.proxy.forget()
                        context.cleanup()
                self.assertTrue(rule.struck)
                self.check_nothing_left()


@long.LONG
class TestMoreCreationFails(test_faults.ProxyCase):
    """Earlier resources are removed, and the failure is reported."""

    def test_key_pair(self):
        """An error of Nova's own."""
        self.break_("compute POST /v2.1/os-keypairs", 500)
        process = self.laboratory.start(SHORT)
        self.check_reported(
            process, "create key pair c_rally_", "fault of the test"
        )

    def test_quota_of_security_groups(self):
        """A refusal of Neutron's."""
        says = "Quota exceeded for resources: ['security_group']."
        self.break_("network POST .*/security-groups", 409, message=says)
        process = self.laboratory.start(SHORT)
        self.check_reported(process, "create security group c_rally_", says)

    def test_quota_of_instances_in_the_middle(self):
        """The first of two guests is removed again."""
        lab = self.laboratory
        lab.pretend_shape("two", "short", copies=2)
        says = "Quota exceeded for instances: Requested 1, but already used 1"
        self.break_("compute POST .*/servers", 403, message=says, skip=1)
        process = lab.start(SHORT, count=2, baseline="two")
        self.check_reported(process, "create server c_rally_", says)
        self.assertIn("removing 1 server", process.stdout + process.stderr)


@long.LONG
class TestInTheGuest(laboratory.Case):
    """A fault in a guest costs its own samples only."""

    def setUp(self):
        """Have the tools' baseline."""
        super().setUp()
        self.laboratory.record_baseline(
            "tools", "--task", str(TOOLS), "--flavor", "vmperf.tiny"
        )
        self.laboratory.use("member")
        self.earlier_journals = self.laboratory.journals()

    def records(self, process):
        """Return the records of the run."""
        return self.laboratory.records(
            self.new_journal(self.earlier_journals, process)
        )

    def sampled(self, record):
        """Return the names of the metrics that have samples."""
        observations = record.repetition.conditions[0].observations
        return {observation.sample.metric.name for observation in observations}

    def test_tools_that_lie_talk_and_die(self):
        """Garbage, endless output and a killed tool are named as such."""
        fakes = (TASKS / "fakes.yaml").read_text()
        process = self.laboratory.start(TOOLS, user_data=fakes, times=1)
        self.check_ended(2, process)
        for record in self.records(process):
            self.assertEqual("incomplete", record.repetition.state)
            metrics = self.sampled(record)
            self.assertIn("cpu.sysbench.rate", metrics)
            self.assertIn("cpu.bzip2.compress_time", metrics)
            gaps = record.repetition.all_missing
            reasons = " ".join(gap.reason for gap in gaps)
            self.assertIn("mbw", reasons)
            self.assertIn("decompress printed more than", reasons)
            self.assertIn("write ended with exit status 137", reasons)

    def test_full_disk(self):
        """The tool says so, or there is not even room for its words."""
        full = (TASKS / "full.yaml").read_text()
        process = self.laboratory.start(TOOLS, user_data=full, broken=False)
        self.check_ended(2, process)
        text = " ".join((process.stdout + process.stderr).split())
        cause = "preparing fio: .*No space left on device|cleared or full?"
        self.assertRegex(text, f"g1: .*({cause})")

    def test_qemu_dies_in_the_middle(self):
        """Earlier samples are kept, and the rest of the run is short."""
        lab = self.laboratory
        lab.pretend_arguments("slow", "tools", "fio", runtime=40)
        measuring = re.compile("(?<!preparing )fio on g1")
        with lab.started(
            TOOLS, broken=False, runtime=40, baseline="slow"
        ) as process:
            laboratory.wait_for(
                "fio", lambda: measuring.search(process.log.read_text())
            )
            (server,) = lab.admin.compute.servers(all_projects=True)
            os.kill(laboratory.qemu(server.id), signal.SIGKILL)
            self.assertEqual(2, process.wait(patience.seconds(400)))
        (path,) = lab.journals() - self.earlier_journals
        first, *later = lab.records(path)
        self.assertEqual("incomplete", first.repetition.state)
        self.assertIn("cpu.sysbench.rate", self.sampled(first))
        only = first.repetition.condition
        missing = {gap.name for gap in only.missing}
        self.assertTrue(any(what.startswith("disk.") for what in missing))
        kinds = {finding.kind for finding in only.findings}
        self.assertIn("guest_host_changed", kinds)
        for record in later:
            only = record.repetition.condition
            self.assertEqual((), only.observations)
