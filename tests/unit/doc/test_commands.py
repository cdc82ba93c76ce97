# SPDX-License-Identifier: Apache-2.0
"""Every command in the pages exists and parses."""

import contextlib
import io
import re
import shlex
import unittest

from tests.unit.doc import commands
from tests.unit.doc import pages

_GLOBAL = {"--version", "--help"}


class CommandsTestCase(unittest.TestCase):
    def test_command_lines_parse(self):
        lines = pages.command_lines("rally-vmperf")
        self.assertTrue(lines)
        for place, line in lines:
            with self.subTest(place=place, line=line):
                self._parse(shlex.split(line))

    def _parse(self, command):
        name, arguments = commands.find(command)
        self.assertIsNotNone(name, "no such command")
        if name in commands.BUILT_IN:
            return
        stream = io.StringIO()
        try:
            with contextlib.redirect_stderr(stream):
                commands.parser(name).parse_args(arguments)
        except SystemExit:
            self.fail(stream.getvalue())

    def test_commands_in_prose_exist(self):
        for page, inline in pages.inlines():
            arguments = inline.split()
            if arguments[0] != "rally-vmperf" or len(arguments) == 1:
                continue
            with self.subTest(page=page, inline=inline):
                self._exists(arguments[1:])

    def _exists(self, words_of_command):
        name, arguments = commands.find(words_of_command)
        if name is None:
            groups = {command.split()[0] for command in commands.declared()}
            self.assertIn(words_of_command[0], groups)
            self.assertEqual(
                1,
                len(words_of_command),
                "no such command; rally_vmperf.commands in setup.cfg has all",
            )
        elif name not in commands.BUILT_IN:
            options = commands.parser(name)._option_string_actions
            used = {word for word in arguments if word.startswith("--")}
            unknown = used - set(options)
            self.assertEqual(set(), unknown, f"{name} has no such option")

    def test_options_in_prose_exist(self):
        known_options = set(_GLOBAL)
        for name in commands.declared():
            known_options |= set(commands.parser(name)._option_string_actions)
        # Rally's own, and those of tools that the pages name.
        known_options |= {"--abort-on-sla-failure", "--debug", "--html-static"}
        known_options |= {"--bidir", "--full-rtt", "--rate", "--rps"}
        known_options |= {"--detailed", "--source", "--system-wide"}
        known_options |= commands.list_cloud_options()
        for page, inline in pages.inlines():
            if re.fullmatch(r"--[a-z-]+", inline):
                with self.subTest(page=page):
                    message = "correct it: no command has this option"
                    self.assertIn(inline, known_options, message)

    def test_make_targets_exist(self):
        makefile = (pages.ROOT / "Makefile").read_text()
        targets = set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))
        lines = pages.command_lines("make")
        lines += [
            (page, inline.removeprefix("make"))
            for page, inline in pages.inlines()
            if inline.startswith("make ")
        ]
        for place, line in lines:
            with self.subTest(place=place, line=line):
                make_targets = {
                    word for word in line.split() if "=" not in word
                }
                self.assertLessEqual(make_targets, targets)

    def test_every_command_accepts_a_configuration_file(self):
        for name in commands.declared():
            options = commands.parser(name)._option_string_actions
            self.assertEqual("rally.conf", options["--config-file"].help[:10])
