import threading
import unittest

from rally_vmperf.cloud.system import errors
from rally_vmperf.cloud.system import graph


def nothing():
    """Do nothing."""


class GraphTestCase(unittest.TestCase):
    def test_order(self):
        tasks = {
            "api": graph.Task(["database", "identity"], nothing),
            "identity": graph.Task(["database"], nothing),
            "database": graph.Task([], nothing),
        }
        self.assertEqual(["database", "identity", "api"], graph.order(tasks))

    def test_an_unknown_need(self):
        with self.assertRaisesRegex(errors.CloudError, "'a' needs 'b'"):
            graph.order({"a": graph.Task(["b"], nothing)})

    def test_a_circle(self):
        tasks = {
            "a": graph.Task(["b"], nothing),
            "b": graph.Task(["a"], nothing),
        }
        with self.assertRaisesRegex(errors.CloudError, "circle: .*a.*b"):
            graph.order(tasks)

    def test_each_is_done_once_after_its_needs(self):
        done = []
        tasks = {
            name: graph.Task(needs, lambda name=name: done.append(name))
            for name, needs in (("c", "ab"), ("a", ""), ("b", "a"))
        }
        reported = []
        graph.run(tasks, reported.append)
        self.assertEqual(["a", "b", "c"], done)
        self.assertEqual(done, reported)

    def test_side_by_side(self):
        both = threading.Barrier(2, timeout=10)
        tasks = {name: graph.Task([], both.wait) for name in "ab"}
        graph.run(tasks, lambda name: None)

    def test_a_failure_ends_it(self):
        done = []

        def fail():
            raise errors.CloudError("no disk")

        tasks = {
            "a": graph.Task([], fail),
            "b": graph.Task(["a"], lambda: done.append("b")),
        }
        with self.assertRaisesRegex(errors.CloudError, "no disk"):
            graph.run(tasks, done.append)
        self.assertEqual([], done)
