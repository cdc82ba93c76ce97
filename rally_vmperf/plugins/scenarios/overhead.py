"""Scenario: how much of the machine a guest loses."""

import typing as t

from rally.common import validation
from rally.task import atomic
from rally_openstack.task import scenario

from rally_vmperf.plugins.scenarios import defects
from rally_vmperf.plugins.scenarios import interruption
from rally_vmperf.plugins.scenarios import opening
from rally_vmperf.plugins.scenarios import recording
from rally_vmperf.plugins.scenarios import settings
from rally_vmperf.records import output


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
        asked = opening.Asked(workloads=workloads, warmup=warmup, peer=peer)
        with interruption.passed_on(self.task, owner), defects.told():
            with atomic.ActionTimer(self, "vmperf.prepare"):
                run = opening.open_run(self.context, asked, _make)
            with atomic.ActionTimer(self, "vmperf.measure"):
                record = run.repeat(self.context["iteration"])
            self.add_output(additive=output.mark())
            self.add_output(complete=output.encode(record))
            recording.tell(record)


def _make(
    context: dict[str, t.Any], common: dict[str, t.Any]
) -> recording.Run:
    setting = settings.of_overhead(common["session"], context)
    return recording.Run(**common, setting=setting)
