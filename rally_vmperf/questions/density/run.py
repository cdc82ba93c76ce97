"""A run of curves: in each repetition more and more guests."""

import collections.abc
import dataclasses
import typing as t

from rally.common import logging

from rally_vmperf.execution import crowd
from rally_vmperf.execution import levels as numbers
from rally_vmperf.execution import measured
from rally_vmperf.execution import stopping
from rally_vmperf.measurement import finding
from rally_vmperf.plugins.scenarios import recording
from rally_vmperf.plugins.scenarios import resting
from rally_vmperf.records import build
from rally_vmperf.records import build_density

LOG = logging.getLogger(__name__)


@dataclasses.dataclass(kw_only=True)
class Run(recording.Run):
    """The curves of one Rally workload.

    :param levels: numbers of guests on each host, in the order of the task
    :param references: bare metal by number of guests, where the baseline has
        it in as many copies
    :param others: what guests do while they take no part
    :param stop: says when no more guests are to be added, if asked for
    :param dead: names of guests that answered no more; nobody waits for them
        again
    """

    levels: tuple[int, ...]
    order: build_density.Order
    together: crowd.Crowd
    references: dict[int, dict[str, t.Any]]
    others: resting.Others
    stop: stopping.Stop | None = None
    dead: set[str] = dataclasses.field(default_factory=set)

    def _measure(self, number: int, take: recording.Take) -> None:
        order = numbers.in_order(
            self.levels, self.order.kind, self.order.seed, number
        )
        why = ""
        for position, guests in enumerate(order, 1):
            if why:
                take.levels.append(
                    build_density.Level(
                        guests=guests,
                        position=position,
                        state="skipped",
                        skipped=why,
                    )
                )
                continue
            self._level(guests, position, take)
            why = self._enough(take)

    def _build(
        self, identity: build.Identity, take: recording.Take, **when: str
    ) -> dict[str, t.Any]:
        return build_density.build_density(
            identity,
            self.setting,
            sorted(take.levels, key=lambda one: self.levels.index(one.guests)),
            order=self.order,
            others=self.others.kind,
            state=take.state,
            missing=take.result.missing,
            findings=take.findings,
            **when,
        )

    def _enough(self, take: recording.Take) -> str:
        """Return why there is to be no further level, or nothing.

        Without one of its guests a level says nothing of its total.
        """
        if not self.stop or take.levels[-1].state != "complete":
            return ""
        why = self.stop.reached(
            [
                (one.guests, one.observations)
                for one in take.levels
                if one.state == "complete"
            ]
        )
        if why:
            LOG.info(f"No more guests are added: {why}")
        return why

    def _level(self, guests: int, position: int, take: recording.Take) -> None:
        """Measure with so many guests; what was measured is kept in any case.

        One that dies makes the level incomplete; those that follow go on
        without it.
        """
        team = self.together.team(guests, self.dead)
        result = measured.Measured(
            keep_raw=lambda output: take.result.keep_raw(
                {"guests": guests, **output}
            )
        )
        found: list[finding.Finding] = []
        state: build_density.State = "complete"
        noun = "guest" if guests == 1 else "guests"
        LOG.info(f"Level of {guests} {noun}: {', '.join(team.names)}")
        try:
            if team.lacking:
                self._miss(team.lacking, team.reason, result)
            elif self._form(team, result, found):
                self._round(result, found, team.names)
                self._count_dead(team.names)
        except KeyboardInterrupt:
            state = "interrupted"
            raise
        except BaseException:
            state = "incomplete"
            raise
        finally:
            if state == "complete" and result.missing:
                state = "incomplete"
            take.levels.append(
                build_density.Level(
                    guests=guests,
                    position=position,
                    state=state,
                    machines=team.names,
                    observations=tuple(result.observations),
                    runs=tuple(result.runs),
                    missing=tuple(result.missing),
                    findings=tuple(found),
                    starts=tuple(result.starts),
                    reference=self.references.get(guests),
                )
            )

    def _form(
        self,
        team: crowd.Team,
        result: measured.Measured,
        found: list[finding.Finding],
    ) -> bool:
        """Have the team awake and the others at rest; tell whether they are.

        Nobody measures otherwise: it would be another level.
        """
        formed = self.others.form(team.names, self.dead)
        found += formed.findings
        self.dead |= formed.lost
        if not formed.trouble:
            return True
        lacking = [name for name in team.names if name in formed.trouble]
        reason = "; ".join(formed.trouble.values())[:500]
        self._miss(lacking or team.names, reason, result)
        return False

    def _miss(
        self,
        lacking: collections.abc.Iterable[str],
        reason: str,
        result: measured.Measured,
    ) -> None:
        LOG.warning(f"The level cannot be formed: {reason}")
        for metric in self.setting.expected:
            for name in lacking:
                result.miss(metric, name, reason)

    def _count_dead(self, names: collections.abc.Iterable[str]) -> None:
        silent = self.session.silent(names)
        if silent - self.dead:
            LOG.warning(
                f"{', '.join(sorted(silent))} answered no more; what follows "
                "goes on without"
            )
        self.dead |= silent
