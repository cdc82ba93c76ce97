"""Tests that the README's picture is the page of today."""

import re
import unittest

from PIL import Image

from tests.unit.doc import pages
from tests.unit.doc import picture


class PictureTestCase(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.shown = picture.shown(picture.page())

    def test_picture_shows_what_the_page_shows(self):
        with Image.open(picture.PICTURE) as image:
            drawn = image.text[picture.KEY]
        self.assertEqual(
            drawn,
            self.shown,
            "the picture is out of date: run make picture",
        )

    def test_it_shows_a_run_that_decides(self):
        """Each metric has passed or failed."""
        headline, *figures = self.shown.splitlines()
        self.assertIn("Failed: 2 of 13 metrics", headline)
        self.assertLessEqual(set(picture.METRICS), set(figures))
        page = picture.page()
        verdicts = re.findall('<span class="badge ([a-z]+)">', page)
        self.assertEqual({"passed", "failed", "warning"}, set(verdicts))

    def test_readme_shows_it(self):
        """Its caption says where the data are from."""
        path = picture.PICTURE.relative_to(pages.ROOT)
        readme = pages.text("README.rst")
        self.assertIn(f".. image:: {path}\n", readme)
        caption = readme.partition(".. image::")[2].partition("Try it")[0]
        self.assertIn("constructed data", caption)
