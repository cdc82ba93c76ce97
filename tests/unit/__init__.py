"""Tests of single modules, on any machine, whatever is on it."""

import sys

from tests.unit import confinement

#: Those who borrow from these tests and need the machine as it is.
BORROWERS = {"tests.bench", "tests.browser", "tests.functional", "tests.long"}

if not BORROWERS & sys.modules.keys():
    confinement.begin()
