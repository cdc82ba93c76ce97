"""Tests of what happens while workloads run."""

import threading
import unittest

from rally_vmperf.runs import actions
from rally_vmperf.runs import conditions

CURRENT = conditions.Current(
    condition=conditions.Condition(), machines=("g1",)
)


class Doing(actions.Action):
    """Calls a function."""

    name = "doing"

    def __init__(self, call, moment=None):
        self.call, self.moment = call, moment

    def during(self, current):
        """Return its thread as a finding."""
        self.call()
        return actions.Effect(findings=(threading.current_thread(),))


class MiddleTestCase(unittest.TestCase):
    def test_it_is_under_way_once_workloads_have_ended(self):
        begun, let = threading.Event(), threading.Event()

        def ask():
            begun.set()
            let.wait(10)

        middle = actions.Middle(Doing(ask), CURRENT)
        self.assertFalse(begun.is_set())
        middle.workloads_ended()
        self.assertTrue(begun.wait(10))
        let.set()
        (thread,) = middle.effect().findings
        self.assertIsNot(threading.current_thread(), thread)
        self.assertTrue(thread.daemon)

    def test_it_is_done_once_and_at_the_latest_when_wanted(self):
        done = []
        middle = actions.Middle(Doing(lambda: done.append(1)), CURRENT)
        middle.effect()
        middle.workloads_ended()
        middle.effect()
        self.assertEqual([1], done)

    def test_a_moment_while_they_run(self):
        begun = threading.Event()
        middle = actions.Middle(Doing(begun.set, moment=0.01), CURRENT)
        self.assertTrue(begun.wait(10))
        middle.workloads_ended()
        self.assertEqual(1, len(middle.effect().findings))
        self.assertEqual({}, middle.effect().trouble)

    def test_a_moment_that_did_not_come(self):
        done = []
        action = Doing(lambda: done.append(1), moment=1000)
        middle = actions.Middle(action, CURRENT)
        middle.workloads_ended()
        self.assertIn(
            "1000 s after the condition began",
            middle.effect().trouble["doing"],
        )
        self.assertEqual([], done)

    def test_one_that_is_cancelled(self):
        done = []
        action = Doing(lambda: done.append(1), moment=0.05)
        middle = actions.Middle(action, CURRENT)
        middle.cancel()
        middle._timer.join(10)
        self.assertEqual([], done)

    def test_what_it_raises_is_raised(self):
        for error in (ZeroDivisionError("ours"), KeyboardInterrupt()):
            with self.subTest(error=error):

                def fail(error=error):
                    raise error

                with self.assertRaises(type(error)):
                    actions.Middle(Doing(fail), CURRENT).effect()
