"""Tests of texts that quote guests."""

import unittest

import hypothesis
from hypothesis import strategies

from rally_vmperf.plugins import sanitize
from rally_vmperf.report import text


class TestHarmless(unittest.TestCase):
    """No text ends a script element or speaks to a terminal."""

    def test_script(self):
        """The end of Rally's script element is none any more."""
        self.assertEqual(
            "</script><script>alert(1)</script>".replace("<", text.LESS),
            sanitize.sanitize("</script><script>alert(1)</script>"),
        )

    @hypothesis.given(strategies.text())
    def test_any_text(self, said):
        """Nothing is left to obey, and no character is lost."""
        safe = sanitize.sanitize(said)
        self.assertEqual(len(said), len(safe))
        self.assertNotIn("<", safe)
        self.assertTrue(all(c.isprintable() or c == "\n" for c in safe))
