"""Tests of how Rally hears what is wrong with a task."""

import unittest
from unittest import mock

from rally.common import validation

from rally_vmperf.plugins.scenarios import density
from rally_vmperf.plugins.validators import task

CONFIG = {
    "args": {"workloads": [{"name": "sysbench"}], "levels": [1, 2]},
    "contexts": {"vmperf_guests@openstack": {"count": 2}},
    "runner_type": "serial",
    "runner": {"times": 4},
    "sla": {"vmperf_degradation": {"max_percent": {"cpu.*": 50}}},
}


class TestTask(unittest.TestCase):
    """The table of questions says what is wrong, Rally is told."""

    def validate(self, config):
        """Run the validator as Rally does."""
        conf = mock.Mock(vmperf=mock.Mock(baseline_dir="/none"))
        with mock.patch.object(task, "CONF", conf):
            task.Task().validate({}, config, density.Density, None)

    def test_no_configuration(self):
        """There is nothing to check."""
        self.validate(None)

    def test_remarks(self):
        """What is no error is said all the same."""
        with self.assertLogs(task.LOG.logger, "INFO") as logs:
            self.validate(CONFIG)
        self.assertIn("guests_on_other_hosts", logs.output[0])

    def test_refused(self):
        """In the words of whoever checked it."""
        for key, value, words in (
            ("runner_type", "rps", "runner 'rps'"),
            ("args", {"workloads": []}, "workloads: "),
        ):
            with self.assertRaisesRegex(validation.ValidationError, words):
                self.validate({**CONFIG, key: value})
