"""Tests of the date that everything in an image bears."""

import os
from unittest import mock

import ddt

from rally_vmperf.cloud.image import release_date
from rally_vmperf.cloud.system import errors
from tests.unit.cloud import base

INDEX = """\
-----BEGIN PGP SIGNED MESSAGE-----
Hash: SHA256

Origin: Debian
Suite: oldstable
Date: Sat, 11 Jul 2026 10:16:37 UTC
Acquire-By-Hash: yes
"""
WHERE = "http://mirror.example/dists/bookworm/InRelease"


@ddt.ddt
class ParseTestCase(base.CloudTestCase):
    def test_date_of_the_release(self):
        self.assertEqual(1783764997, release_date.parse(INDEX, WHERE))

    @ddt.data("", "<html>", "Date: soon\n", "Suite: Date: x\n")
    def test_no_date(self, index):
        with self.assertRaisesRegex(
            errors.CloudError, f"^{WHERE} has no date .*SOURCE_DATE_EPOCH="
        ):
            release_date.parse(index, WHERE)


@ddt.ddt
class FindTestCase(base.CloudTestCase):
    def find(self, given):
        with mock.patch.dict(os.environ, SOURCE_DATE_EPOCH=given):
            return release_date.find(
                "bookworm", "", self.folder, self.folder / "log"
            )

    def test_the_callers_date_needs_no_mirror(self):
        self.assertEqual(1700000000, self.find("1700000000"))

    @ddt.data("", "today", "-1", "1.5", "1e9", "99999999999", "٣")
    def test_a_date_that_is_none(self, given):
        with self.assertRaisesRegex(
            errors.CloudError, "^SOURCE_DATE_EPOCH is '.*give seconds"
        ):
            self.find(given)
