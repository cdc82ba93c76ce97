# SPDX-License-Identifier: Apache-2.0
"""Tests of the language of the pages by hand."""

import unittest
from unittest import mock

import ddt

from tests.unit import test_names
from tests.unit.doc import prose

#: The maximum mean number of words in the sentences of a page.
WORDS = 25


@ddt.ddt
class ProseTestCase(unittest.TestCase):
    @ddt.data(*prose.BY_HAND)
    def test_page(self, name):
        """Its sentences are short."""
        path = prose.BY_HAND[name]
        words_of_page = prose.count_words(prose.read_sentences(path))
        message = f"{path}: divide long sentences"
        self.assertLessEqual(words_of_page, WORDS, message)

    @ddt.data(
        (test_names.HEADLESS, 0.5),
        (test_names.UNUSUAL, 2),
    )
    @ddt.unpack
    def test_language(self, pattern, limit):
        """Few sentences have no head, or an unusual phrase."""
        sentences = [
            sentence
            for path in prose.BY_HAND.values()
            for sentence in prose.read_sentences(path)
        ]
        matches = [text for text in sentences if pattern.search(text)]
        share = test_names.percent(len(matches), len(sentences))
        message = (
            "write some of these sentences with a subject, in usual words "
            f"(HEADLESS, UNUSUAL in {test_names.PLACE}): {matches}"
        )
        self.assertLessEqual(share, limit, message)


PAGE = """\
Title
=====

Who reads it, knows :doc:`why <other>`. A list has
*things*::

    What a block is.

* Of an element, one line.

.. note::
   What a directive is.

``term``
    A definition is here.

===== =====
What  is it
===== =====
"""


class SentencesTestCase(unittest.TestCase):
    def test_sentences(self):
        path = mock.Mock(read_text=lambda: PAGE)
        self.assertEqual(
            [
                "Who reads it, knows whylink.",
                "A list has *things*::",
                "Of an element, one line.",
                "A definition is here.",
            ],
            prose.read_sentences(path),
        )
