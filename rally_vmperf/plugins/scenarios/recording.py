"""A run of repetitions, each recorded before Rally sees it."""

import dataclasses
import typing as t

from rally import exceptions
from rally.common import logging

from rally_vmperf.execution import measured
from rally_vmperf.execution import session as sessions
from rally_vmperf.measurement import finding
from rally_vmperf.measurement import repetition
from rally_vmperf.records import build
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
class Run:
    """The repetitions of one Rally workload.

    :param times: all repetitions that the runner makes, warm-up included
    :param watch: asks the cloud whether guests are where they were
    """

    task: str
    workload: str
    times: int
    warmup: int
    session: sessions.Session
    setting: build.Setting
    journal: journals.Journal
    watch: t.Callable[[], list[finding.Finding]]

    def repeat(self, number: int) -> dict[str, t.Any]:
        """Measure once and return the record, which is on disk by then.

        A disk that is full costs no samples: Rally gets the record as well.
        """
        started_at = build.now()
        result = measured.Measured()
        seen: list[finding.Finding] = []
        state: repetition.State = "complete"
        kind = " (warm-up, not counted)" if number <= self.warmup else ""
        LOG.info(f"Repetition {number} of {self.times}{kind}")
        defect: BaseException | None = None
        try:
            seen += self.session.repeat(result)
            seen += self.watch()
        except KeyboardInterrupt:
            state = "interrupted"
            result.miss("repetition", "controller", "interrupted by its user")
        except BaseException as error:
            # What was measured until then is worth as much as any other.
            defect = error
            reason = f"{type(error).__name__}: {error}"
            result.miss("repetition", "controller", reason[:500])
        if state == "complete" and result.missing:
            state = "incomplete"
        record = build.build(
            build.Identity(
                task=self.task,
                workload=self.workload,
                repetition=number,
                planned=max(0, self.times - self.warmup),
                counted=number > self.warmup,
            ),
            self.setting,
            state=state,
            started_at=started_at,
            observations=result.observations,
            runs=result.runs,
            missing=result.missing,
            findings=seen,
            raw=self._keep_raw(number, result),
            starts=result.starts,
        )
        self._append(record)
        if defect is not None:
            raise defect
        return record

    def _keep_raw(self, number: int, result: measured.Measured) -> str:
        try:
            return self.journal.keep_raw(number, {"outputs": result.raw})
        except journals.JournalError as error:
            LOG.warning(f"{error}; the samples are kept all the same")
            return ""

    def _append(self, record: dict[str, t.Any]) -> None:
        try:
            self.journal.append(record)
        except journals.JournalError as error:
            number = record["repetition"]
            LOG.error(
                f"{error}; only Rally's database has repetition {number}"
            )
