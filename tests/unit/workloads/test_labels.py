import unittest

import ddt

from rally_vmperf.measurement import sample
from rally_vmperf.workloads import base
from rally_vmperf.workloads import labels

METRIC = sample.Metric(
    name="disk.randread.iops", unit="ops/s", better="higher"
)


@ddt.ddt
class LabelsTestCase(unittest.TestCase):
    @ddt.data(
        ("disk.randread.iops", "db", "disk.db.randread.iops"),
        ("memory.memcpy", "large", "memory.large.memcpy"),
        ("cpu.compress_time", "a-1_b", "cpu.a-1_b.compress_time"),
        ("cpu.compress_time", "", "cpu.compress_time"),
    )
    @ddt.unpack
    def test_label_follows_the_first_component(self, name, label, labelled):
        self.assertEqual(labelled, labels.relabel_name(name, label))

    @ddt.data("Db", "1st", "a.b", "a b", "-a", "*", "a\n", "a" * 33)
    def test_other_labels_are_refused(self, label):
        with self.assertRaisesRegex(base.WorkloadError, "is not allowed; use"):
            labels.relabel_name("disk.randread.iops", label)

    def test_all_else_of_the_metric_stays(self):
        self.assertEqual(
            sample.Metric(
                name="disk.db.randread.iops", unit="ops/s", better="higher"
            ),
            labels.relabel(METRIC, "db"),
        )

    def test_value_of_a_sample_stays(self):
        labelled = labels.relabel_sample(
            sample.Sample(metric=METRIC, value=5), "db"
        )
        self.assertEqual(5, labelled.value)
        self.assertEqual("disk.db.randread.iops", labelled.metric.name)
