"""Tests of questions that are asked while others go on."""

import threading
import unittest

from rally_vmperf.execution import aside


class AsideTestCase(unittest.TestCase):
    def test_it_is_under_way_once_begun(self):
        begun, let = threading.Event(), threading.Event()

        def ask():
            begun.set()
            let.wait(10)
            return [threading.current_thread()]

        asking = aside.Aside(ask)
        asking.begin()
        self.assertTrue(begun.wait(10))
        let.set()
        (thread,) = asking.answer()
        self.assertIsNot(threading.current_thread(), thread)
        self.assertTrue(thread.daemon)

    def test_it_is_asked_once_and_at_the_latest_by_the_answer(self):
        asked = []
        asking = aside.Aside(lambda: asked.append(1))
        self.assertEqual([], asked)
        asking.answer()
        asking.begin()
        asking.answer()
        self.assertEqual([1], asked)

    def test_what_it_raises_is_raised(self):
        for error in (ZeroDivisionError("ours"), KeyboardInterrupt()):
            with self.subTest(error=error):

                def ask(error=error):
                    raise error

                with self.assertRaises(type(error)):
                    aside.Aside(ask).answer()
