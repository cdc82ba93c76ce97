"""Reboot guests: Nova stops them and starts them again."""

import dataclasses

from rally_vmperf.execution import protocol
from rally_vmperf.guests import idle
from rally_vmperf.runs import actions
from rally_vmperf.runs import conditions
from rally_vmperf.runs import guest_power


@dataclasses.dataclass(kw_only=True)
class GuestReboot(guest_power.PoweredGuests):
    """Stops guests and starts them in a new QEMU, as the task asks for it.

    The guests that were just booted are not rebooted at once.

    :param when: between which parts of the run
    :param idle_guests: what guests do while they take no part
    """

    when: protocol.Reboot
    idle_guests: idle.IdleState = "running"
    name = "reboot"
    _latest: int | None = None

    def __post_init__(self) -> None:
        self.between_workloads = self.when == "between_workloads"

    def before(self, current: conditions.Current) -> actions.Effect:
        """Reboot all guests, unless their boot is as fresh as asked for."""
        latest, self._latest = self._latest, current.repetition
        if latest is None or (
            latest == current.repetition and not self.between_workloads
        ):
            return actions.Effect()
        names = [one.name for one in self.guests]
        return self._reboot(current, set(names) - set(current.lost))

    def between(self, current: conditions.Current) -> actions.Effect:
        """Reboot the guests that take part."""
        return self._reboot(current, set(current.machines) - set(current.lost))

    def _reboot(
        self, current: conditions.Current, names: set[str]
    ) -> actions.Effect:
        """Stop guests and start those that are to run; wait for them."""
        trouble: dict[str, str] = {}
        lost: set[str] = set()
        steps: list[tuple[idle.IdleState, str]] = [
            ("stopped", idle.STATUS["stopped"])
        ]
        if self.idle_guests == "paused":
            # Nova stops no guest that is paused.
            steps.insert(0, ("paused", idle.AWAKE))
        for way, status in steps:
            wanted = dict.fromkeys(sorted(names - trouble.keys()), status)
            switched = self._switch(wanted, way)
            trouble |= {**switched.refused, **switched.lost}
            lost |= switched.lost.keys()
        if self.idle_guests == "stopped":
            names &= set(current.machines)
        running = names - trouble.keys()
        switched = self._switch(dict.fromkeys(running, idle.AWAKE), "stopped")
        effect = self._wait(switched, running)
        trouble |= effect.trouble
        return dataclasses.replace(
            effect,
            trouble={
                k: v for k, v in trouble.items() if k in current.machines
            },
            lost=effect.lost | lost,
        )
