"""Scenario: how much of the machine a guest loses."""

import typing as t

from rally.common import logging
from rally.common import validation
from rally.task import atomic
from rally_openstack.task import scenario

from rally_vmperf.measurement import repetition
from rally_vmperf.plugins import harmless
from rally_vmperf.plugins.scenarios import defects
from rally_vmperf.plugins.scenarios import interruption
from rally_vmperf.plugins.scenarios import opening
from rally_vmperf.plugins.scenarios import recording
from rally_vmperf.records import output

LOG = logging.getLogger(__name__)


@validation.add("vmperf_task")
@validation.add("vmperf_reach")
@validation.add("vmperf_cloud")
@validation.add("required_platform", platform="openstack", users=True)
@scenario.configure(name="VMPerf.overhead", platform="openstack")
class Overhead(scenario.OpenStackScenario):
    """Guests against bare metal: one iteration is one repetition."""

    def run(
        self,
        workloads: list,
        warmup: int = 0,
        peer: dict | None = None,
    ) -> None:
        """Compare guests with a bare-metal baseline, workload by workload.

        :param workloads: list of {name, arguments, label}; they run one after
            another in the same guests
        :param warmup: how many of the first repetitions are run and recorded,
            but not counted
        :param peer: other end of network workloads: {address, port, user,
            key_file, known_hosts, name, jump}; it is reached by SSH, at this
            port, and needs the same tools
        """
        owner = self.context["owner_id"]
        with interruption.passed_on(self.task, owner), defects.told():
            with atomic.ActionTimer(self, "vmperf.prepare"):
                run = opening.open_run(self.context, workloads, warmup, peer)
            with atomic.ActionTimer(self, "vmperf.measure"):
                record = run.repeat(self.context["iteration"])
            self.add_output(additive=output.mark())
            self.add_output(complete=output.encode(record))
            self._tell(record)

    def _tell(self, record: dict[str, t.Any]) -> None:
        """Raise what the repetition must tell Rally."""
        state: repetition.State = record["state"]
        if state == "interrupted":
            raise KeyboardInterrupt
        if state == "incomplete":
            first = record["missing"][0]
            raise recording.Incomplete(
                harmless.harmless(
                    f"repetition {record['repetition']} is incomplete: "
                    f"{len(record['missing'])} measurements are missing, "
                    f"first {first['what']} of {first['source']}: "
                    f"{first['reason']}"
                )
            )
