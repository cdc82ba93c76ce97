"""A scenario that measures what a live migration costs."""

import typing as t

from rally.common import validation
from rally_openstack.task import scenario

from rally_vmperf.plugins.scenarios import base


@validation.add("vmperf_task")
@validation.add("vmperf_reach")
@validation.add("vmperf_cloud")
@validation.add(
    "required_platform", platform="openstack", admin=True, users=True
)
@scenario.configure(name="VMPerf.migration", platform="openstack")
class Migration(base.MeasurementScenario):
    """Cost of a live migration; an iteration has three phases."""

    def run(
        self,
        workloads: list,
        host: str | None = None,
        block_migration: t.Literal["auto"] | bool = "auto",
        phase_seconds: float = 60,
        deadline: float = 300,
        warmup: int = 0,
        peer: dict | None = None,
        control: dict | None = None,
        cooldown: float = 0,
        drop_caches: bool = False,
        reboot: t.Literal[
            "never", "between_workloads", "between_repetitions"
        ] = "never",
        shape: t.Literal["guest", "whole"] = "guest",
    ) -> None:
        """Measure one repetition: before, during and after a live migration.

        :param workloads: The workloads, a list of one {name, arguments,
            label}. It must report its rate over time (fio, iperf3, h2load) in
            one command, and run for phase_seconds or longer. All guests run
            it; the first one is migrated, and in the next repetition back.
        :param host: The compute host to which the guest is migrated. Default:
            Nova chooses.
        :param block_migration: Whether Nova copies local disks: true, false,
            or auto, with which Nova decides.
        :param phase_seconds: The duration of a phase in seconds. The migration
            is requested in the middle of the second phase.
        :param deadline: The time in seconds after which the migration is
            aborted.
        :param warmup: The number of initial repetitions that are recorded but
            not counted.
        :param peer: The other end of network workloads, which also pings the
            guest: {address, port, user, key_file, known_hosts, name, jump}.
        :param control: The control machine, which runs a small load during
            each condition and shows whether the infrastructure changed:
            the keys of peer. It must not be the peer or a hypervisor.
        :param cooldown: The idle time in seconds before each command.
        :param drop_caches: Whether the page cache, dentries and inodes of the
            guests are dropped before each command, which requires root in the
            guests. A workload can override it.
        :param reboot: The time at which Nova stops and starts the guests:
            never, or between repetitions.
        :param shape: Not used, because the guests are not compared with bare
            metal.
        """
        self._measure()
