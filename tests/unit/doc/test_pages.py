# SPDX-License-Identifier: Apache-2.0
"""The blocks of a page are found where they are."""

import unittest
from unittest import mock

from tests.unit.doc import pages

PAGE = """\
Do this::

    one --with \\
        two
    sudo bin/one three

Not ``a thing``.

* And

  .. code-block:: yaml

     a: 1

  so ``on``.
"""


class PagesTestCase(unittest.TestCase):
    def setUp(self):
        super().setUp()
        path = mock.Mock(read_text=lambda: PAGE)
        patched = mock.patch.dict(pages.PAGES, {"p": path}, clear=True)
        patched.start()
        self.addCleanup(patched.stop)

    def test_literal_blocks_end_with_their_indentation(self):
        (block,) = pages.blocks("")
        self.assertTrue(block.text.startswith("one --with"))
        self.assertTrue(block.text.endswith("three"))

    def test_a_nested_code_block_has_its_kind(self):
        (block,) = pages.blocks("yaml")
        self.assertEqual("a: 1", block.text)

    def test_continued_command_lines_are_joined(self):
        arguments = [line.split() for _, line in pages.command_lines("one")]
        self.assertEqual([["--with", "two"], ["three"]], arguments)

    def test_inline_text_is_prose_only(self):
        self.assertEqual([("p", "a thing"), ("p", "on")], pages.inlines())
