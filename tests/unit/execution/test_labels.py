# SPDX-License-Identifier: Apache-2.0
import unittest

import ddt

from rally_vmperf.execution import assignment
from rally_vmperf.measurement.samples import sample
from rally_vmperf.workloads import base

METRIC = sample.Metric(
    name="disk.fio.randread.iops", unit="ops/s", better="higher"
)


@ddt.ddt
class LabelsTestCase(unittest.TestCase):
    @ddt.data(
        ("disk.fio.randread.iops", "db", "disk.fio.db.randread.iops"),
        (
            "memory.mbw.memcpy.bandwidth",
            "large",
            "memory.mbw.large.memcpy.bandwidth",
        ),
        ("cpu.bzip2.compress_time", "a-1_b", "cpu.bzip2.a-1_b.compress_time"),
        ("cpu.bzip2.compress_time", "", "cpu.bzip2.compress_time"),
    )
    @ddt.unpack
    def test_label_follows_the_tool(self, name, label, labelled):
        self.assertEqual(labelled, assignment.relabel(name, label))

    @ddt.data(
        ("", "disk.fio.load-30.randread.iops"),
        ("db", "disk.fio.db-load-30.randread.iops"),
        ("a" * 32, f"disk.fio.{'a' * 32}-load-30.randread.iops"),
    )
    @ddt.unpack
    def test_load_follows_a_label_of_any_length(self, label, labelled):
        offered = assignment.Load(label="load-30", title="30 % load")
        assigned = assignment.Assignment(
            None, {}, "-".join(filter(None, (label, "load-30"))), load=offered
        )
        self.assertEqual(labelled, assigned.relabel(METRIC).name)

    @ddt.data("Db", "1st", "a.b", "a b", "-a", "*", "a\n", "a" * 33)
    def test_other_labels_are_refused(self, label):
        with self.assertRaisesRegex(
            base.WorkloadError, "must be a lower-case letter"
        ):
            assignment.relabel("disk.fio.randread.iops", label)

    def test_all_else_of_the_metric_stays(self):
        self.assertEqual(
            sample.Metric(
                name="disk.fio.db.randread.iops", unit="ops/s", better="higher"
            ),
            assignment.Assignment(None, {}, "db").relabel(METRIC),
        )
