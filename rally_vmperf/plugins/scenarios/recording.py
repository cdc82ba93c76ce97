"""A run of repetitions, each recorded before Rally sees it."""

import collections.abc
import dataclasses
import typing as t

from rally import exceptions
from rally.common import logging

from rally_vmperf.execution import aside
from rally_vmperf.execution import measured
from rally_vmperf.execution import session as sessions
from rally_vmperf.measurement import finding
from rally_vmperf.measurement import repetition
from rally_vmperf.plugins import harmless
from rally_vmperf.records import build
from rally_vmperf.records import build_density
from rally_vmperf.records import journal as journals

LOG = logging.getLogger(__name__)


class Incomplete(exceptions.RallyException):
    """A repetition lacks some of its measurements."""

    msg_fmt = "%(message)s"
    error_code = 932


class Unready(exceptions.RallyException):
    """Guests or peer could not be made ready to measure."""

    msg_fmt = "%(message)s"
    error_code = 933


@dataclasses.dataclass(kw_only=True)
class Take:
    """What one repetition left.

    :param result: of an overhead, all of it; of a curve, what belongs to no
        level
    :param findings: of the repetition as a whole
    :param levels: of a curve, in the order in which they ran
    """

    result: measured.Measured = dataclasses.field(
        default_factory=measured.Measured
    )
    findings: list[finding.Finding] = dataclasses.field(default_factory=list)
    levels: list[build_density.Level] = dataclasses.field(default_factory=list)
    state: repetition.State = "complete"

    def settle(self) -> None:
        """Call it incomplete when something is missing."""
        whole = all(
            one.state in ("complete", "skipped") for one in self.levels
        )
        if self.state == "complete" and (self.result.missing or not whole):
            self.state = "incomplete"


@dataclasses.dataclass(kw_only=True)
class Run:
    """The repetitions of one Rally workload.

    :param times: all repetitions that the runner makes, warm-up included
    :param watch: asks the cloud whether guests are where they were: those
        that are named, or with None all of them
    """

    task: str
    workload: str
    times: int
    warmup: int
    session: sessions.Session
    setting: build.Setting
    journal: journals.Journal
    watch: t.Callable[
        [collections.abc.Collection[str] | None], list[finding.Finding]
    ]

    def repeat(self, number: int) -> dict[str, t.Any]:
        """Measure once and return the record, which is on disk by then.

        A disk that is full costs no samples: Rally gets the record as well.
        """
        started_at = build.now()
        outputs = self.journal.raw_outputs(number, _no_raw_outputs)
        take = Take(result=measured.Measured(keep_raw=outputs.add))
        kind = " (warm-up, not counted)" if number <= self.warmup else ""
        LOG.info(f"Repetition {number} of {self.times}{kind}")
        defect: BaseException | None = None
        try:
            self._measure(number, take)
        except KeyboardInterrupt:
            take.state = "interrupted"
            take.result.miss(
                "repetition", "controller", "interrupted by its user"
            )
        except BaseException as error:
            # What was measured until then is worth as much as any other.
            defect = error
            reason = f"{type(error).__name__}: {error}"
            take.result.miss("repetition", "controller", reason[:500])
        take.settle()
        record = self._build(
            build.Identity(
                task=self.task,
                workload=self.workload,
                repetition=number,
                planned=max(0, self.times - self.warmup),
                counted=number > self.warmup,
            ),
            take,
            started_at=started_at,
            raw=outputs.close(),
        )
        self._append(record)
        if defect is not None:
            raise defect
        return record

    def _measure(self, number: int, take: Take) -> None:
        """Measure; what was measured goes into ``take`` as it comes."""
        self._round(take.result, take.findings)

    def _round(
        self,
        result: measured.Measured,
        found: list[finding.Finding],
        names: collections.abc.Collection[str] | None = None,
    ) -> None:
        """Run every workload once, and see what befell the guests.

        :param found: gets what was seen on the guests, and what Nova says
        :param names: of the guests that take part; all by default
        """
        asking = aside.Aside(lambda: self.watch(names))
        found += self.session.repeat(result, names, on_measured=asking.begin)
        found += asking.answer()

    def _build(
        self, identity: build.Identity, take: Take, **when: str
    ) -> dict[str, t.Any]:
        """Return the record of what was measured."""
        return build.build(
            identity,
            self.setting,
            state=take.state,
            observations=take.result.observations,
            runs=take.result.runs,
            missing=take.result.missing,
            findings=take.findings,
            starts=take.result.starts,
            **when,
        )

    def _append(self, record: dict[str, t.Any]) -> None:
        try:
            self.journal.append(record)
        except journals.JournalError as error:
            number = record["repetition"]
            LOG.error(
                f"{error}; only Rally's database has repetition {number}"
            )


def _no_raw_outputs(why: str) -> None:
    LOG.warning(f"{why}; the samples are kept all the same")


def tell(record: dict[str, t.Any]) -> None:
    """Raise what a repetition must tell Rally.

    :raises KeyboardInterrupt: for one that was interrupted
    :raises Incomplete: for one that lacks something, with the first of it
    """
    state: repetition.State = record["state"]
    if state == "interrupted":
        raise KeyboardInterrupt
    if state == "incomplete":
        first = record["missing"][0]
        raise Incomplete(
            harmless.harmless(
                f"repetition {record['repetition']} is incomplete: "
                f"{len(record['missing'])} measurements are missing, "
                f"first {first['what']} of {first['source']}: "
                f"{first['reason']}"
            )
        )
