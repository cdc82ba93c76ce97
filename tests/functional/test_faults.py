# SPDX-License-Identifier: Apache-2.0
"""A real cloud whose APIs fail: runs bear with it, or end in one line.

Every fault and what comes of it is in doc/source/contributor/faults.rst.
"""

import json
import os
import pathlib
import re
import signal

from tests import patience
from tests.functional import fault_proxy
from tests.functional import laboratory

SHORT = laboratory.TASKS / "short.yaml"


class ProxyCase(laboratory.Case):
    """A member whose way to the cloud leads through a proxy."""

    @classmethod
    def setUpClass(cls):
        """Have an environment whose Keystone is the proxy."""
        super().setUpClass()
        lab = laboratory.laboratory()
        path = pathlib.Path(laboratory.CLOUD, "rally-env-member.json")
        specification = json.loads(path.read_text())
        member = specification["existing@openstack"]
        cls.proxy = fault_proxy.FaultProxy(member["auth_url"])
        cls.enterClassContext(cls.proxy)
        member["auth_url"] = cls.proxy.auth_url
        path = lab.folder / "faulty.json"
        path.write_text(json.dumps(specification))
        name = f"faulty-{cls.__name__}"
        lab.rally(
            "env", "create", "--name", name, "--spec", str(path), check=True
        )
        cls.environment = name

    def setUp(self):
        """Begin without faults, with the short task's baseline."""
        super().setUp()
        self.laboratory.record_baseline(
            "short", "--task", str(SHORT), "--flavor", "vmperf.tiny"
        )
        self.laboratory.use(self.environment)
        self.proxy.forget()

    def break_(self, call, action, **options):
        """Have calls fail."""
        rule = fault_proxy.Rule(call=call, action=action, **options)
        self.proxy.rules.append(rule)

    def check_reported(self, process, *words_of_line):
        """Expect a context that failed in one line with all these words."""
        self.check_ended(2, process)
        for rule in self.proxy.rules:
            self.assertTrue(rule.struck, rule)
        text = process.stdout + process.stderr
        self.assertNotIn("Traceback", text)
        lines = [line for line in text.splitlines() if "GuestError" in line]
        self.assertTrue(
            any(all(word in line for word in words_of_line) for line in lines),
            (words_of_line, lines, laboratory.problem_lines(process)),
        )


class TestCreationFails(ProxyCase):
    """Earlier resources are removed, and the failure is reported."""

    def test_server_and_key_pair(self):
        """A lost one is found by its name; one that stays has a remedy."""
        self.break_("compute POST .*/servers", "lost")
        self.break_("compute DELETE .*/servers/.*", 503, times=2)
        self.break_("compute DELETE .*/os-keypairs/.*", 403, times=None)
        process = self.laboratory.start(SHORT)
        self.check_reported(process, "create server c_rally_", "reset by peer")
        text = process.stdout + process.stderr
        self.assertIn("removing 1 server", text)
        self.assertIn("clean-up: not removed: key pair c_rally_", text)
        self.assertNotEqual(self.before, self.laboratory.count())
        self.proxy.forget()
        remedy = re.search(r"remove it with: rally-vmperf (.*?--yes)", text)
        cleaned = self.laboratory.vmperf(*remedy[1].split())
        self.check_ended(0, cleaned)

    def test_floating_address(self):
        """The pool is exhausted; the guest is removed again."""
        says = "No more IP addresses available on network public."
        self.break_("network POST .*/floatingips", 409, message=says)
        process = self.laboratory.start(SHORT, network="private")
        self.check_reported(process, "create a floating IP for guest g1", says)


class TestToldToEnd(ProxyCase):
    """SIGTERM, as a shutdown or a scheduler of jobs sends it."""

    def test_sigterm_while_booting(self):
        """Everything is removed, and Rally does not have it as running."""
        lab = self.laboratory
        # What is slow gives the test its time.
        self.break_("compute GET .*/servers/detail", "slow", times=None)
        with lab.started(SHORT) as process:
            laboratory.wait_for("a server", self._asked_for_a_server)
            os.kill(process.pid, signal.SIGTERM)
            self.assertNotEqual(0, process.wait(patience.seconds(300)))
        listed = lab.rally("task", "list", "--status", "running", check=True)
        self.assertIn("no tasks", listed.stdout.lower())

    def _asked_for_a_server(self):
        made = [str(call) for call in self.proxy.calls]
        return "compute POST /v2.1/servers" in made
