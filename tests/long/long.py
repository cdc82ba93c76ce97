# SPDX-License-Identifier: Apache-2.0
"""A switch that keeps long tests out of runs that have no time for them."""

import os
import unittest

LONG = unittest.skipUnless(os.environ.get("VMPERF_LONG"), "VMPERF_LONG unset")
