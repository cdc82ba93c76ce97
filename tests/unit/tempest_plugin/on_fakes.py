# SPDX-License-Identifier: Apache-2.0
"""Run our tests of Tempest's without a cloud, and print what came of them.

It is a program, as Tempest keeps its configuration in globals.
"""

import contextlib
import functools
import json
import pathlib
import sys
import unittest
from unittest import mock

from oslo_config import cfg
from tempest import config
from tempest import test

from rally_vmperf.baseline import store
from rally_vmperf.execution import requirements
from rally_vmperf.execution.stations import arrival
from rally_vmperf.guests import models
from rally_vmperf.guests import request
from rally_vmperf.guests.booting import placement
from rally_vmperf.tempest_plugin import measure
from rally_vmperf.tempest_plugin.tests import test_density
from rally_vmperf.tempest_plugin.tests import test_overhead
from rally_vmperf.tempest_plugin.tests import test_placement
from tests.unit.guests import made
from tests.unit.runs import whole
from tests.unit.tempest_plugin import configured

#: What the plugin and Tempest read alike; it is whole once it was looked at.
CONF = cfg.CONF
_ = config.CONF.vmperf
LIMITS = {
    "vmperf_overhead": {"max_percent": {"cpu.*": 5}},
    "vmperf_degradation": {"max_percent": {"cpu.*": 5}},
}
WORKLOADS = [
    {"name": "sysbench", "arguments": {"time": 2}},
    {"name": "iperf3"},
]


class Guests:
    """Guests of no cloud.

    :param calls: The names of the calls so far.
    :param host: The host of all guests.
    :param interrupted: True if Ctrl-C is pressed while they boot.
    """

    id = "t"

    def __init__(self, calls, host, interrupted):
        self.calls = calls
        self._host = host
        self._interrupted = interrupted

    def connect(self):
        """Return no connection."""

    def connect_admin(self):
        """Return no connection."""

    def write_entry(self):
        """Write nothing."""

    def of(self, options, *_):
        """Return these guests, with the requested options."""
        self._options = options
        return self

    def boot(self, network, ports_open, *, one_host):
        """Return the requested number of guests."""
        options = self._options
        self.calls.append("boot")
        if self._interrupted:
            raise KeyboardInterrupt
        booted = tuple(
            made.guest(f"g{number}", host=self._host, host_id=self._host)
            for number in range(1, options["count"] + 1)
        )
        hosts = {options["host"]} if options.get("host") else set()
        placement_findings = placement.find_placement_findings(
            booted, request.parse_config(options, network), hosts
        )
        booted_guests = models.BootedGuests(
            guests=booted, client_key="", findings=tuple(placement_findings)
        )
        return booted_guests, mock.Mock(spec=arrival.ConnectedGuests), None

    def remove(self, *, interrupted=False):
        """Record the call."""
        self.calls.append("remove")


def outcome(
    kind, name, *, runs_on="h1", interrupted=False, run=None, **options
):
    """Return the outcome of a test, with the names of its calls.

    :param runs_on: The host of all guests.
    :param run: The side effect of the measurement.
    :param options: The options in [vmperf].
    """
    calls = []
    booting = Guests(calls, runs_on, interrupted)
    with contextlib.ExitStack() as stack:
        for key, value in options.items():
            CONF.set_override(key, value, "vmperf")
            stack.callback(CONF.clear_override, key, "vmperf")
        for owner, attribute, answer in (
            (measure, "create_run_guests", {"side_effect": booting.of}),
            (measure, "convert_credential", {}),
            (measure.Measurement, "run", {"side_effect": run}),
            (test.BaseTestCase, "get_client_manager", {}),
            (test.BaseTestCase, "get_tenant_network", {"return_value": {}}),
            (
                test.BaseTestCase,
                "clear_credentials",
                {"side_effect": lambda *_: calls.append("credentials")},
            ),
        ):
            patch = mock.patch.object(
                owner, attribute, autospec=True, **answer
            )
            stack.enter_context(patch)
        result = unittest.TestResult()
        try:
            unittest.TestSuite([kind(name)]).run(result)
        except KeyboardInterrupt:
            calls.append("interrupted")
    failures = [text for _, text in result.failures + result.errors]
    skipped = [text for _, text in result.skipped]
    return {"calls": calls, "failed": failures, "skipped": skipped}


def main(folder):
    """Print all outcomes by their names.

    :param folder: The directory for the baseline, journals and option files.
    """
    store.Store(pathlib.Path(folder)).save(
        whole.baseline(pathlib.Path(folder))
    )
    for name in ("baseline_dir", "journal_dir"):
        CONF.set_override(name, folder, "vmperf")
    limits = configured.write(folder, "limits.yaml", LIMITS)
    workloads = configured.write(folder, "workloads.yaml", WORKLOADS)
    overhead = functools.partial(
        outcome, test_overhead.TestOverhead, limits_file=limits
    )
    density = functools.partial(
        outcome,
        test_density.TestDensity,
        "test_density",
        workloads_file=workloads,
        limits_file=limits,
    )
    placed = functools.partial(
        outcome, test_placement.TestPlacement, "test_placement"
    )
    without_tool = requirements.ToolMissing("g1", "g1 has no fio: install it")
    values = configured.write(
        folder, "values.yaml", {"vmperf_overhead": {"min": {"cpu.*": 5}}}
    )
    outcomes = {
        "limits on values": overhead(
            "test_cpu",
            limits_file=values,
            workloads_file=workloads,
            run=without_tool,
        ),
        "no baseline": overhead("test_cpu"),
        "no peer": overhead(
            "test_network", baseline="metal", workloads_file=workloads
        ),
        "no answer": overhead(
            "test_cpu",
            limits_file=values,
            workloads_file=workloads,
            peer={"address": "127.0.0.1", "port": "1"},
        ),
        "no limits": density(limits_file=None),
        "no volumes": density(volume_size_gib=2),
        "no workloads": density(workloads_file=None),
        "no tool": density(run=without_tool),
        "interrupted while it measures": density(run=KeyboardInterrupt),
        "interrupted while it boots": density(interrupted=True),
        "on the host": placed(host="h1"),
        "elsewhere": placed(runs_on="h2", host="h1"),
    }
    print(json.dumps(outcomes))


if __name__ == "__main__":
    main(*sys.argv[1:])
