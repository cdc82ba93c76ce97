# SPDX-License-Identifier: Apache-2.0
"""The modules of rules import no slow libraries."""

import subprocess
import sys
import unittest

import ddt


@ddt.ddt
class ImportTestCase(unittest.TestCase):
    @ddt.data("density", "overhead")
    def test_stays_cheap(self, name):
        """Listing plugins must not wait for scientific libraries."""
        program = (
            f"import sys, rally_vmperf.judging.{name};"
            "print({'numpy', 'scipy', 'rally'} & set(sys.modules))"
        )
        done = subprocess.run(
            [sys.executable, "-c", program],
            capture_output=True,
            text=True,
            check=True,
        )
        self.assertEqual("set()", done.stdout.strip())
