# SPDX-License-Identifier: Apache-2.0
"""Guests that are to be where they were asked for."""

import json

from tests.functional import laboratory

TASK = laboratory.TASKS / "placed.yaml"
AGGREGATE = "vmperf-functional"
ALIKE = {"baseline": "pair-of-tiny", "guests": 2}


class PlacementCase(laboratory.Case):
    """A task that says where guests are to run."""

    def setUp(self):
        """Have bare metal for one tiny guest and for two."""
        super().setUp()
        for name, guests in (("one-tiny", 1), (ALIKE["baseline"], 2)):
            arguments = {
                "baseline": name,
                "guests": guests,
                "options": {},
                "peer": laboratory.peer(),
            }
            self.laboratory.record_baseline(
                name,
                "--task",
                str(TASK),
                "--task-args",
                json.dumps(arguments),
            )
