# SPDX-License-Identifier: Apache-2.0
"""SLA plugins for the criteria of all questions."""

import collections.abc
import contextlib
import textwrap
import typing as t

from rally import consts
from rally.task import sla

from rally_vmperf import documents
from rally_vmperf import sanitize
from rally_vmperf.measurement.samples import units
from rally_vmperf.plugins import defects
from rally_vmperf.questions import table
from rally_vmperf.questions.common import question
from rally_vmperf.records import model

#: The maximum length of a line; Rally prints verdicts in a table.
WIDTH = 100


class Criterion(sla.SLA):
    """An SLA that reports the verdict of the judge of a criterion."""

    criterion: question.Criterion

    def __init__(self, criterion_value: documents.Arguments) -> None:
        super().__init__(criterion_value)
        self.judge = self.criterion.parse(criterion_value).create_judge()
        self.success = False
        self._defects: list[str] = []

    def add_iteration(self, iteration: t.Any) -> bool:
        """Add a repetition; return False after a final failure."""
        with self._record_defects():
            self.judge.add(model.decode_iteration(iteration))
            return not self.judge.is_failure_final()
        return True

    def merge(self, other: t.Self) -> bool:
        """Add another's repetitions; return False after a final failure."""
        self._defects += other._defects
        with self._record_defects():
            self.judge.merge(other.judge)
            return not self.judge.is_failure_final()
        return True

    def result(self) -> sla.SLAResult:
        """Return the verdict as a result of Rally."""
        with self._record_defects():
            passed = self.judge.judgement().passed
            self.success = passed and not self._defects
        return super().result()

    def details(self) -> str:
        """Return the verdict as text with lines for a terminal."""
        sentences: list[str] = []
        if not self._defects:
            with self._record_defects():
                sentences = self.judge.judgement().lines()
        if self._defects:
            times = units.number_of("time", len(self._defects))
            return sanitize.text(
                f"void: the judge failed {times}, first with "
                f"{self._defects[0]}; the journal contains the records; to "
                "judge them: rally-vmperf judge"
            )
        lines = [
            textwrap.fill(sentence, WIDTH, break_on_hyphens=False)
            for sentence in sentences
        ]
        return sanitize.text("\n".join(lines))

    @contextlib.contextmanager
    def _record_defects(self) -> collections.abc.Iterator[None]:
        """Store errors of the judge in the block, instead of raising.

        Without the consumer, Rally loses the next iterations.
        """
        try:
            yield
        except Exception as error:  # The run must continue.
            defects.log_traceback()
            self._defects.append(defects.format_error(error))


def register_sla(criterion: question.Criterion) -> type[Criterion]:
    """Register the SLA of a criterion with Rally, and return it."""
    members = {
        "__doc__": criterion.title,
        "__module__": __name__,
        "CONFIG_SCHEMA": {"$schema": consts.JSON_SCHEMA7, **criterion.schema},
        "criterion": criterion,
    }
    plugin = type(criterion.name, (Criterion,), members)
    return t.cast(type[Criterion], sla.configure(name=criterion.name)(plugin))


SLAS = {
    name: register_sla(criterion)
    for name, criterion in table.criteria().items()
}
