"""Scenario: how much of the machine a guest loses."""

from rally.common import validation
from rally_openstack.task import scenario

from rally_vmperf.plugins.scenarios import base


@validation.add("vmperf_task")
@validation.add("vmperf_reach")
@validation.add("vmperf_cloud")
@validation.add("required_platform", platform="openstack", users=True)
@scenario.configure(name="VMPerf.overhead", platform="openstack")
class Overhead(base.Measuring):
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
        self._measure(workloads, warmup, peer)
