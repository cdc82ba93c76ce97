# SPDX-License-Identifier: Apache-2.0
"""Tests of single modules, on any machine, whatever is on it."""

import os
import sys

import hypothesis

from tests.unit import captured_stderr
from tests.unit import confinement

#: Those who borrow from these tests and need the machine as it is.
BORROWERS = {"tests.bench", "tests.browser", "tests.functional", "tests.long"}

if not BORROWERS & sys.modules.keys():
    confinement.begin()
    captured_stderr.begin()

# A busy machine is no reason to fail, nor is an example that nobody has seen:
# those are looked for on purpose, with VMPERF_EXPLORE=1.
hypothesis.settings.register_profile(
    "unhurried",
    deadline=None,
    derandomize="VMPERF_EXPLORE" not in os.environ,
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
)
hypothesis.settings.load_profile("unhurried")
