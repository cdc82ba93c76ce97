# SPDX-License-Identifier: Apache-2.0
"""Tests of how Rally hears what is wrong with a task."""

import math
import pathlib
import tempfile
import unittest
from unittest import mock

from rally.common import validation

from rally_vmperf.guests.cleanup import ledger
from rally_vmperf.plugins import scenarios
from rally_vmperf.plugins import validators
from tests.unit.guests.cleanup import test_ledger

CONFIG = {
    "args": {"workloads": [{"name": "sysbench"}], "levels": [1, 2]},
    "contexts": {"vmperf_guests@openstack": {"count": 2}},
    "runner_type": "serial",
    "runner": {"times": 4},
    "sla": {"vmperf_degradation": {"max_percent": {"cpu.*": 50}}},
}


class TestTask(unittest.TestCase):
    """Rally reports the errors that the table of questions finds."""

    def setUp(self):
        """Have a folder for the ledger."""
        super().setUp()
        self.journals = pathlib.Path(
            self.enterContext(tempfile.TemporaryDirectory())
        )

    def validate(self, config):
        """Run the validator as Rally does."""
        options = mock.Mock(
            baseline_dir="/none", journal_dir=str(self.journals)
        )
        conf = mock.MagicMock(vmperf=options)
        conf.__contains__.return_value = False
        validators.warn_about_killed_runs.cache_clear()
        with mock.patch.object(validators, "CONF", conf):
            validators.Task().validate(
                {}, config, scenarios.SCENARIOS["VMPerf.density"], None
            )

    def test_no_configuration(self):
        """There is nothing to check."""
        self.validate(None)

    def test_remarks(self):
        """Remarks that are not errors are logged."""
        guests = CONFIG["contexts"]["vmperf_guests@openstack"]
        config = {
            **CONFIG,
            "contexts": {"vmperf_guests@openstack": {**guests, "count": 6}},
        }
        with self.assertLogs(validators.LOG.logger, "INFO") as logs:
            self.validate(config)
        self.assertIn("level_placement_wrong", logs.output[0])

    def test_cpus_that_the_cloud_has(self):
        """Only a validator with a connection knows the number of guests."""
        levels = {"ratio": [1], "vcpus": 2}
        guests = {"image": {"name": "debian"}, "flavor": {"name": "small"}}
        self.validate(
            {
                **CONFIG,
                "args": {**CONFIG["args"], "levels": levels},
                "contexts": {"vmperf_guests@openstack": guests},
            }
        )

    def test_killed_runs_come_first(self):
        """They are named before any context acts, with what shows more."""
        ledger.Ledger(self.journals).write(
            test_ledger.entry("99999999-1", process=test_ledger.dead())
        )
        ledger.Ledger(self.journals).write(test_ledger.entry("99999999-2"))
        with self.assertLogs(validators.LOG.logger, "INFO") as logs:
            self.validate(CONFIG)
        self.assertRegex(
            logs.output[0],
            r"an earlier run was killed \(task task-1, started 2026-01-01 "
            r"12:03 UTC\); to list its resources: rally-vmperf cleanup$",
        )
        self.assertNotIn("killed", "".join(logs.output[1:]))

    def test_refused(self):
        """The message is that of the check."""
        for key, value, pattern in (
            ("runner_type", "rps", "runner=rps"),
            ("args", {"workloads": [], "levels": [1]}, "workloads: "),
            (
                "sla",
                {"vmperf_degradation": {"max_percent": {"*": math.nan}}},
                r"sla vmperf_degradation: max_percent: \*: nan: must be a",
            ),
        ):
            with self.assertRaisesRegex(validation.ValidationError, pattern):
                self.validate({**CONFIG, key: value})
