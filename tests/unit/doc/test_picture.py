"""Tests that the README's picture is the page of today."""

import unittest

from PIL import Image

from tests.unit.doc import pages
from tests.unit.doc import picture


class PictureTestCase(unittest.TestCase):
    def test_picture_shows_what_the_page_shows(self):
        with Image.open(picture.PICTURE) as image:
            drawn = image.text[picture.KEY]
        self.assertEqual(
            drawn,
            picture.shown(picture.page()),
            "the picture is out of date: run make picture",
        )

    def test_figures_of_the_study(self):
        """The caption's figures are those of the page."""
        words = picture.shown(picture.page()).splitlines()
        metrics = [word for word in words[1:] if not word.endswith("%")]
        percents = [word for word in words[1:] if word.endswith(" %")]
        figures = dict(zip(metrics, percents, strict=True))
        self.assertEqual("17.5 %", figures["memory.mbw.memcpy.bandwidth"])
        self.assertEqual("2.1 %", figures["application.unixbench.fsdisk.rate"])

    def test_readme_shows_it(self):
        path = picture.PICTURE.relative_to(pages.ROOT)
        self.assertIn(f".. image:: {path}\n", pages.text("README.rst"))
