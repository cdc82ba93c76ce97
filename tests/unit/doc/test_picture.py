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
            picture.shown(shown.create()),
            f"{shown.path} is out of date: run make picture",
        )

    def test_it_shows_a_run_that_decides(self):
        """Each metric has passed or failed."""
        page = picture.create_overhead()
        headline, *figures = picture.shown(page).splitlines()
        self.assertIn("Failed: 2 of 13 metrics", headline)
        self.assertLessEqual(set(picture.METRICS), set(figures))
        verdicts = re.findall('<span class="badge ([a-z]+)">', page)
        self.assertEqual({"passed", "failed", "warning"}, set(verdicts))

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
        self.assertIn("constructed data", caption)
