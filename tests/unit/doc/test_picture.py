# SPDX-License-Identifier: Apache-2.0
"""Tests that the pictures of pages show the pages of today."""

import re
import unittest

import ddt
from PIL import Image

from tests.unit.doc import pages
from tests.unit.doc import picture


@ddt.ddt
class PictureTestCase(unittest.TestCase):
    @ddt.data(*picture.PICTURES)
    def test_picture_shows_what_the_page_shows(self, shown):
        with Image.open(shown.path) as image:
            drawn = image.text[picture.KEY]
        self.assertEqual(
            drawn,
            shown.show(shown.create()),
            f"{shown.path} is out of date: run make picture",
        )

    def test_it_shows_a_run_that_decides(self):
        """Each metric has passed or failed."""
        page = picture.create_overhead()
        headline, *figures = picture.show_figures(page).splitlines()
        self.assertIn("Failed: 2 of 13 metrics", headline)
        self.assertLessEqual(
            {metric.name for metric in picture.METRICS}, set(figures)
        )
        verdicts = re.findall('<span class="badge ([a-z]+)">', page)
        self.assertEqual({"passed", "failed", "warning"}, set(verdicts))

    def test_it_shows_the_lines_of_each_migration(self):
        """A line has many points, and each repetition a chart."""
        content = picture.show_time_lines(picture.create_event())
        for number in range(1, 5):
            self.assertIn(f"Repetition {number}\n", content)
        longest = max(content.splitlines(), key=len)
        self.assertLess(50, longest.count("L"))

    @ddt.data(*picture.PICTURES)
    def test_page_shows_it(self, shown):
        """Its caption says where the data are from."""
        parent = pages.ROOT
        if shown.page.startswith("doc/source/"):
            parent = pages.SOURCE
        page = pages.text(shown.page)
        _, directive, after = page.partition(
            f":: {shown.path.relative_to(parent)}\n"
        )
        self.assertTrue(directive)
        caption, _, _ = after.partition("::")
        self.assertIn(shown.data, caption)
