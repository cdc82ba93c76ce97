# SPDX-License-Identifier: Apache-2.0
"""Runs that Rally's process keeps open between repetitions."""

from rally_vmperf.runs import run_request

#: Rally copies its context and creates a scenario for every iteration.
OPEN_RUNS = run_request.RunCache()
