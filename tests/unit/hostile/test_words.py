# SPDX-License-Identifier: Apache-2.0
"""Any text of a guest is sanitised before it is shown."""

import io
import logging
import unittest
from unittest import mock

import ddt

from rally_vmperf import sanitize
from rally_vmperf.cmd import main
from rally_vmperf.guests import console
from rally_vmperf.machines import base
from rally_vmperf.machines import fingerprint
from rally_vmperf.machines import testing
from rally_vmperf.machines.provisioning import provision
from rally_vmperf.plugins import defects
from rally_vmperf.report import text
from rally_vmperf.workloads.cpu import bzip2
from tests.unit.hostile import attacks
from tests.unit.hostile import terminal

TOOL = bzip2.Bzip2.TOOLS[0]


@ddt.ddt
class WordsTestCase(unittest.IsolatedAsyncioTestCase):
    def check(self, text, longest):
        self.assertEqual([], terminal.obeyed(text))
        self.assertLessEqual(len(text), longest)
        text.encode()

    @ddt.named_data(*attacks.WORDS.items())
    def test_one_line_is_made_of_it(self, text):
        for line, longest in (
            (sanitize.line(text), 200),
            (base.last_line(f"first\n{text}"), 500),
        ):
            self.check(line, longest)
            self.assertNotIn("\n", line)

    @ddt.named_data(*attacks.WORDS.items())
    def test_it_is_put_into_a_page_of_rallys(self, text):
        safe = sanitize.text(text)
        self.check(safe, len(text))
        self.assertNotIn("<", safe)

    @ddt.named_data(*attacks.WORDS.items())
    def test_it_is_put_into_our_page(self, text):
        self.check(sanitize.printable(text).replace("\t", ""), len(text))

    @ddt.named_data(*attacks.WORDS.items())
    def test_it_is_on_the_console(self, text):
        self.check(console.sanitise(f"{text}\n" * 100), 15 * 201)

    @ddt.named_data(*attacks.WORDS.items())
    def test_it_is_in_every_part_of_a_fingerprint(self, quoted):
        names = (
            "cpuinfo",
            "lscpu",
            "mitigations",
            "os",
            "disks",
            "network_interfaces",
        )
        lines = "".join(f"{quoted}{mark}{quoted}\n" for mark in ":=\t")
        whole = "".join(f"@@ {name}\n{lines}" for name in names)
        whole += f"@@ kernel\n{quoted}\n@@ cmdline\n{quoted}\n"
        self.check(text.flatten(fingerprint.parse(whole)), 400)
        self._check_all(fingerprint.parse(whole))

    def _check_all(self, node):
        if isinstance(node, dict):
            for key, value in node.items():
                self._check_all(key)
                self._check_all(value)
        elif isinstance(node, list):
            for child in node:
                self._check_all(child)
        elif isinstance(node, str):
            self.check(node, 450)

    @ddt.named_data(*attacks.WORDS.items())
    async def test_it_is_the_version_of_a_tool(self, text):
        output = f"tool bzip2\npath /bin/{text}\nversion {text}\n"
        output += f"tool {text}\npath /bin/true\nsha256 {text}\n"
        machine = testing.FakeMachine("g1", {"bash": output})
        tools = await provision.ensure(machine, [TOOL])
        self.assertEqual({"bzip2"}, tools.keys())
        for fact in (tools["bzip2"].version, tools["bzip2"].path):
            self.check(fact, 200)
        self.assertEqual("", tools["bzip2"].checksum)

    @ddt.named_data(*attacks.WORDS.items())
    def test_an_error_that_nobody_foresaw_quotes_it(self, text):
        with (
            self.assertRaises(defects.Defect) as caught,
            self.assertLogs("rally_vmperf", logging.ERROR) as logged,
            defects.sanitise_errors(),
        ):
            raise KeyError(text)
        self.assertIsNone(caught.exception.__cause__)
        self.assertTrue(caught.exception.__suppress_context__)
        for message in (str(caught.exception), *logged.output):
            self.assertEqual([], terminal.obeyed(message))
            self.assertNotIn("</", message)

    @ddt.named_data(*attacks.WORDS.items())
    def test_the_console_script_ends_with_it(self, text):
        shell = main.Shell()
        (handler,) = shell.LOG.handlers
        with mock.patch.object(handler, "stream", io.StringIO()) as stream:
            shell.LOG.error("g1: %s", text)
        self.assertEqual(
            [], terminal.obeyed(stream.getvalue().replace("\t", ""))
        )
