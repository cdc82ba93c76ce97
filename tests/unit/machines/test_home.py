import os
import unittest
from unittest import mock

from rally_vmperf.machines import base
from rally_vmperf.machines import home
from rally_vmperf.machines import local
from rally_vmperf.machines import testing


class HomeTestCase(unittest.IsolatedAsyncioTestCase):
    async def test_a_machine_is_asked(self):
        with mock.patch.dict(os.environ, {"HOME": "/srv/a b"}):
            self.assertEqual("/srv/a b", await home.folder(local.Local("h")))

    async def test_what_is_no_home(self):
        for text in ("", "relative", "/a\nb", "/\x1b[2J"):
            machine = testing.FakeMachine("h", {"sh": text})
            with (
                self.subTest(text),
                self.assertRaisesRegex(base.MachineError, "h: home directory"),
            ):
                await home.folder(machine)

    async def test_a_home_without_end(self):
        with (
            mock.patch.dict(os.environ, {"HOME": "/" + "x" * 5000}),
            self.assertRaises(base.OutputTooLong),
        ):
            await home.folder(local.Local("h"))
