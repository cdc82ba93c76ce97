"""Tests of single modules, on any machine, whatever is on it."""

import sys

import hypothesis

from tests.unit import confinement

#: Those who borrow from these tests and need the machine as it is.
BORROWERS = {"tests.bench", "tests.browser", "tests.functional", "tests.long"}

if not BORROWERS & sys.modules.keys():
    confinement.begin()

# A busy machine is no reason to fail.
hypothesis.settings.register_profile(
    "unhurried",
    deadline=None,
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
)
hypothesis.settings.load_profile("unhurried")
