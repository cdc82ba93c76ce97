"""Scenario: how guests degrade as more of them share a host."""

import functools
import typing as t

from rally.common import validation
from rally.task import atomic
from rally_openstack.task import scenario

from rally_vmperf.execution import crowd
from rally_vmperf.execution import levels as numbers
from rally_vmperf.execution import stopping
from rally_vmperf.plugins.scenarios import climbing
from rally_vmperf.plugins.scenarios import defects
from rally_vmperf.plugins.scenarios import interruption
from rally_vmperf.plugins.scenarios import opening
from rally_vmperf.plugins.scenarios import recording
from rally_vmperf.plugins.scenarios import resting
from rally_vmperf.plugins.scenarios import settings
from rally_vmperf.records import build_density
from rally_vmperf.records import output


@validation.add("vmperf_task")
@validation.add("vmperf_reach")
@validation.add("vmperf_cloud")
@validation.add("required_platform", platform="openstack", users=True)
@scenario.configure(name="VMPerf.density", platform="openstack")
class Density(scenario.OpenStackScenario):
    """More and more guests on a host: one iteration is one whole curve."""

    def run(
        self,
        workloads: list,
        levels: list | dict,
        order: t.Literal["listed", "shuffled"] = "listed",
        seed: int = 0,
        others: t.Literal["idle", "paused", "stopped"] = "idle",
        warmup: int = 0,
        peer: dict | None = None,
        stop: dict | None = None,
    ) -> None:
        """Measure how guests degrade, workload by workload.

        :param workloads: list of {name, arguments, label}; they run one after
            another, each on all guests of a level at once
        :param levels: numbers of guests on each host: a list, or {from, to},
            or {doubling_to}; all guests are booted once, a level uses some
        :param order: in which levels run: as listed, or shuffled anew in each
            repetition
        :param seed: what the shuffling begins with
        :param others: what guests do while they take no part in a level:
            nothing, or they are paused or stopped by Nova; a stopped one
            costs a boot when it is needed
        :param warmup: how many of the first curves are run and recorded, but
            not counted
        :param peer: other end of network workloads: {address, port, user,
            key_file, known_hosts, name, jump}
        :param stop: when to add no more guests: {max_percent: {metric or
            glob: percent}, total_falls: true}; needs ascending levels
        """
        owner = self.context["owner_id"]
        asked = opening.Asked(workloads=workloads, warmup=warmup, peer=peer)
        make = functools.partial(
            _make,
            levels=numbers.expand(levels),
            order=build_density.Order(kind=order, seed=seed),
            others=others,
            stop=stopping.Stop(**stop) if stop else None,
        )
        with interruption.passed_on(self.task, owner), defects.told():
            with atomic.ActionTimer(self, "vmperf.prepare"):
                run = opening.open_run(self.context, asked, make)
            with atomic.ActionTimer(self, "vmperf.measure"):
                record = run.repeat(self.context["iteration"])
            self.add_output(additive=output.density_mark())
            self.add_output(complete=output.encode(record))
            recording.tell(record)


def _make(
    context: dict[str, t.Any],
    common: dict[str, t.Any],
    *,
    levels: tuple[int, ...],
    order: build_density.Order,
    others: build_density.Others,
    stop: stopping.Stop | None,
) -> climbing.Run:
    guests = context["vmperf_guests"]["guests"]
    together, crowding = crowd.of_guests(guests, max(levels))
    setting, references = settings.of_density(
        common["session"], context, levels, crowding
    )
    return climbing.Run(
        **common,
        setting=setting,
        levels=levels,
        order=order,
        together=together,
        references=references,
        others=resting.of_context(others, context, common["session"]),
        stop=stop,
    )
