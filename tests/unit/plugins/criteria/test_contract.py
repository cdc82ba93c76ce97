# SPDX-License-Identifier: Apache-2.0
"""Tests that the contract covers all SLAs."""

import importlib
import pathlib
import unittest

from rally_vmperf.plugins import criteria
from tests.unit import listing
from tests.unit.plugins.criteria import contract


class TestContract(unittest.TestCase):
    """The promises are those of each SLA."""

    def test_each_sla(self):
        """The test of each SLA inherits the contract."""
        for path in pathlib.Path(__file__).parent.glob("test_*.py"):
            importlib.import_module(f"{__package__}.{path.stem}")
        listing.check(
            self,
            {test.NAME for test in contract.SLAContract.__subclasses__()},
            criteria.SLAS,
            "tests/unit/plugins/criteria",
            "write test_<name>.py with a subclass of contract.SLAContract",
        )
