"""The reboot of guests: Nova stops them and starts them again."""

import dataclasses

from rally_vmperf.execution import protocol
from rally_vmperf.guests import idle
from rally_vmperf.runs import actions
from rally_vmperf.runs import conditions
from rally_vmperf.runs import guest_power


@dataclasses.dataclass(kw_only=True)
class GuestReboot(guest_power.PoweredGuests):
    """The reboot of guests in a new QEMU process, as the task requests it.

    Guests that have just booted are not rebooted.

    :param when: The time of the reboot in the run.
    :param idle_guests: The state of guests that do not participate.
    """

    when: protocol.Reboot
    idle_guests: idle.IdleState = "running"
    name = "reboot"
    _latest: int | None = None

    def __post_init__(self) -> None:
        self.between_workloads = self.when == "between_workloads"

    def before(self, current: conditions.Current) -> actions.ActionResult:
        """Reboot all guests, unless they have been rebooted in time."""
        latest, self._latest = self._latest, current.repetition
        if latest is None or (
            latest == current.repetition and not self.between_workloads
        ):
            return actions.ActionResult()
        names = [guest.name for guest in self.guests]
        return self._reboot(current, set(names) - set(current.lost))

    def between(self, current: conditions.Current) -> actions.ActionResult:
        """Reboot the participants."""
        return self._reboot(current, set(current.machines) - set(current.lost))

    def _reboot(
        self, current: conditions.Current, names: set[str]
    ) -> actions.ActionResult:
        """Stop guests, start those that run next, and wait for them."""
        errors: dict[str, str] = {}
        lost: set[str] = set()
        steps: list[tuple[idle.IdleState, str]] = [
            ("stopped", idle.STATUS["stopped"])
        ]
        if self.idle_guests == "paused":
            # Nova cannot stop a paused guest.
            steps.insert(0, ("paused", idle.AWAKE))
        for way, status in steps:
            requested = dict.fromkeys(sorted(names - errors.keys()), status)
            switched = self._switch(requested, way)
            errors |= {**switched.refused, **switched.lost}
            lost |= switched.lost.keys()
        if self.idle_guests == "stopped":
            names &= set(current.machines)
        running = names - errors.keys()
        switched = self._switch(dict.fromkeys(running, idle.AWAKE), "stopped")
        effect = self._wait(switched, running)
        errors |= effect.errors
        return dataclasses.replace(
            effect,
            errors={
                name: error
                for name, error in errors.items()
                if name in current.machines
            },
            lost=effect.lost | lost,
        )
