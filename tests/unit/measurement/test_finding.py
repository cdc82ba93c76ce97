# SPDX-License-Identifier: Apache-2.0
import typing as t
import unittest

from rally_vmperf.measurement import finding


class FindingTestCase(unittest.TestCase):
    def test_severity_is_the_kind_s(self):
        voiding = finding.Finding(kind="wrong_host", subject="a", detail="b")
        self.assertEqual("void", voiding.severity)

    def test_unknown_kind(self):
        with self.assertRaisesRegex(ValueError, "'haunted', use one of: "):
            finding.Finding(kind="haunted", subject="a", detail="b")

    def test_every_kind_says_everything(self):
        for name, kind in finding.KINDS.items():
            with self.subTest(kind=name):
                self.assertRegex(name, r"^[a-z]+(_[a-z]+)*$")
                self.assertIn(kind.severity, t.get_args(finding.Severity))
                self.assertFalse(kind.title.endswith("."))
                self.assertTrue(kind.raised_by)
                for sentence in (kind.why, kind.remedy):
                    self.assertTrue(sentence.endswith("."), sentence)
