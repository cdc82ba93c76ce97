"""The reboot of guests: Nova stops them and starts them again."""

import dataclasses

from rally_vmperf.execution import protocols
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

    when: protocols.Reboot
    idle_guests: idle.IdleState = "running"
    name = "reboot"
    _latest: int | None = None

    def __post_init__(self) -> None:
        self.between_workloads = self.when == "between_workloads"

    def before(
        self, current: conditions.CurrentCondition
    ) -> actions.ActionResult:
        """Reboot all guests if the task requests it; return errors."""
        latest, self._latest = self._latest, current.repetition
        if latest is None or (
            latest == current.repetition and not self.between_workloads
        ):
            return actions.ActionResult()
        names = [guest.name for guest in self.guests]
        return self._reboot(current, set(names) - set(current.lost))

    def between(
        self, current: conditions.CurrentCondition
    ) -> actions.ActionResult:
        """Reboot the participants between workloads; return errors."""
        return self._reboot(current, set(current.machines) - set(current.lost))

    def _reboot(
        self, current: conditions.CurrentCondition, names: set[str]
    ) -> actions.ActionResult:
        """Stop guests, start the next ones, wait; return errors and losses."""
        errors: dict[str, str] = {}
        lost: set[str] = set()
        steps: list[tuple[idle.IdleState, str]] = [
            ("stopped", idle.STATUS["stopped"])
        ]
        if self.idle_guests == "paused":
            # Nova cannot stop a paused guest.
            steps.insert(0, ("paused", idle.AWAKE))
        for idle_state, status in steps:
            requested = dict.fromkeys(sorted(names - errors.keys()), status)
            status_change = self._switch(requested, idle_state)
            errors |= {**status_change.refused, **status_change.lost}
            lost |= status_change.lost.keys()
        if self.idle_guests == "stopped":
            names &= set(current.machines)
        running = names - errors.keys()
        status_change = self._switch(
            dict.fromkeys(running, idle.AWAKE), "stopped"
        )
        result = self._wait(status_change, running)
        errors |= result.errors
        return dataclasses.replace(
            result,
            errors={
                name: error
                for name, error in errors.items()
                if name in current.machines
            },
            lost=result.lost | lost,
        )
