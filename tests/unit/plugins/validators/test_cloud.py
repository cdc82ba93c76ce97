# SPDX-License-Identifier: Apache-2.0
"""Tests of what is refused after asking the cloud, before anything boots."""

import tempfile
import unittest
from unittest import mock

import ddt
from rally.common import validation

from rally_vmperf.baseline import document
from rally_vmperf.baseline import store
from rally_vmperf.plugins import scenarios
from rally_vmperf.plugins import validators
from rally_vmperf.workloads import registry
from tests.unit import made
from tests.unit.guests import testing

CONTEXT = {"users": [{"credential": {"username": "member"}}]}


def config(contexts=(), **options):
    """Return a task with these options of guests."""
    guests = {
        "image": {"name": "debian"},
        "flavor": {"name": "small"},
        "network": {"name": "private"},
        **options,
    }
    return {
        "args": {"workloads": [{"name": "sysbench"}]},
        "runner_type": "serial",
        "runner": {"times": 5},
        "sla": {},
        "contexts": {
            "vmperf_baseline": {"name": "metal"},
            "vmperf_guests@openstack": guests,
            **{context: {} for context in contexts},
        },
    }


@ddt.ddt
class CloudTest(unittest.TestCase):
    def setUp(self):
        self.cloud = testing.FakeCloud()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        arguments = registry.get_workload("sysbench").complete({})
        store.Store(folder.name).save(
            made.baseline(
                entries=tuple(
                    made.entry(
                        arguments=arguments,
                        shape=document.Shape(2, 1024, copies),
                    )
                    for copies in (1, 2)
                )
            )
        )
        conf = mock.Mock(vmperf=mock.Mock(baseline_dir=folder.name))
        for target, new in (
            ("rally_vmperf.plugins.validators.CONF", conf),
            (
                "rally_vmperf.guests.cloud.connect",
                lambda credential: self.cloud,
            ),
        ):
            patch = mock.patch(target, new)
            patch.start()
            self.addCleanup(patch.stop)

    def validate(self, task, scenario="VMPerf.overhead", **context):
        validators.Cloud().validate(
            {**CONTEXT, **context},
            task,
            scenarios.SCENARIOS[scenario],
            None,
        )

    def validate_levels(self, **levels):
        """Check a task with a ratio of the CPUs of a host, as its admin."""
        task = config(host="h1")
        del task["contexts"]["vmperf_baseline"]
        task["args"]["levels"] = {"ratio": [0.5, 1], "vcpus": 2, **levels}
        admin = {"credential": {"username": "admin"}}
        self.validate(task, "VMPerf.density", admin=admin)

    def test_cpus_of_the_host(self):
        """They are read, and the whole task is checked with them."""
        self.cloud.compute.hypervisors = [
            {"hypervisor_hostname": "h1", "vcpus": 8}
        ]
        with self.assertLogs(validators.LOG.logger, "INFO"):
            self.validate_levels()
        for vcpus, message in (
            (4, "levels: vcpus=4: the flavor has 2 vCPUs"),
            (32, "levels: ratio=0.5: is 0 guests of 32 vCPUs on 8 CPUs"),
        ):
            with self.assertRaisesRegex(validation.ValidationError, message):
                self.validate_levels(vcpus=vcpus)
        self.cloud.compute.hypervisors = None
        with self.assertRaisesRegex(
            validation.ValidationError, "levels: host_cpus is missing"
        ):
            self.validate_levels()

    def test_vcpus_of_the_flavor(self):
        """Levels have their number, where CPUs are stated, too."""
        with self.assertRaisesRegex(
            validation.ValidationError,
            "levels: vcpus=1: the flavor has 2 vCPUs",
        ):
            self.validate_levels(host_cpus=4, vcpus=1)

    @ddt.data(
        {},
        {"host": "h1"},
        {"count": 2, "server_group": "affinity", "host": "h1"},
        {"availability_zone": "nova", "boot_volume": {"size_gib": 8}},
        {
            "network": None,
            "networks": [{"name": "private"}, {"name": "public"}],
            "traffic_network": {"id": "n2"},
        },
    )
    def test_good(self, options):
        self.validate(config(**options))
        made_of = [call for call in self.cloud.calls if "create" in call]
        self.assertEqual([], made_of)

    @ddt.unpack
    @ddt.data(
        ({"aggregate": "x"}, "aggregate 'x' does not exist"),
        ({"ssh_network": {"name": "x"}}, "ssh_network: 'x'.*guests: private"),
        (
            {"traffic_network": {"name": "x"}},
            "traffic_network: 'x'.*guests: private",
        ),
        (
            {"boot_volume": {"size_gib": 8, "type": "x"}},
            "boot_volume: type 'x' does not exist; the project sees ssd",
        ),
        (
            {"volumes": [{"size_gib": 8, "type": "x"}]},
            "volumes: type 'x' does not exist; the project sees ssd",
        ),
        ({"count": 3}, "metal"),
        ({"empty_host": True}, "empty_host: only an administrator sees"),
    )
    def test_refused(self, options, pattern):
        with self.assertRaisesRegex(validation.ValidationError, pattern):
            self.validate(config(**options))

    def test_files_that_do_not_fit(self):
        """The disk of the flavor has 4 GiB, and the image is in it."""
        task = config()
        arguments = {"size_mib": 3 << 10}
        task["args"]["workloads"] = [{"name": "fio", "arguments": arguments}]
        task["contexts"].pop("vmperf_baseline")
        self.validate(task)
        (image,) = self.cloud.image.all_images
        image.size = 1 << 30
        with self.assertRaisesRegex(
            validation.ValidationError,
            "workload fio needs 3.0 GiB of disk: must be <= 2.9 GiB, which the"
            " file system and image 'debian' leave of the 4 GiB of flavor "
            "'small'; ",
        ):
            self.validate(task)
        image.disk_format = "raw"
        self.validate(task)

    def test_no_block_storage(self):
        self.cloud.services.clear()
        pattern = "boot_volume: the cloud has no block-storage service"
        with self.assertRaisesRegex(validation.ValidationError, pattern):
            self.validate(config(boot_volume={"size_gib": 8}))

    @ddt.unpack
    @ddt.data(
        ({"availability_zone": "x"}, "availability_zone 'x'"),
        ({"boot_volume": {"size_gib": 2}}, "size_gib=2"),
    )
    def test_what_needs_no_network_is_checked_before_there_is_one(
        self, options, pattern
    ):
        task = config(contexts=["network@openstack"], **options)
        task["contexts"]["vmperf_guests@openstack"].pop("network")
        with self.assertRaisesRegex(validation.ValidationError, pattern):
            self.validate(task)
