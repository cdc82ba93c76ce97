"""SLAs: one for each criterion of the table of questions."""

import collections.abc
import contextlib
import textwrap
import typing as t

from rally import consts
from rally.task import sla

from rally_vmperf import sanitize
from rally_vmperf.measurement import summary
from rally_vmperf.measurement.samples import units
from rally_vmperf.plugins import defects
from rally_vmperf.questions import table
from rally_vmperf.questions.common import question
from rally_vmperf.records import output

#: Characters of a line of the verdict; Rally puts a table around it.
WIDTH = 100


class Criterion(sla.SLA):
    """Asks the judge of a criterion, and tells its verdict."""

    criterion: question.Criterion

    def __init__(self, criterion_value: dict[str, t.Any]) -> None:
        super().__init__(criterion_value)
        self.judge = self.criterion.judge(**criterion_value)
        self.success = False
        self._defects: list[str] = []

    def add_iteration(self, iteration: t.Any) -> bool:
        """Take one repetition; False only if a limit is broken for good."""
        with self._counting_defects():
            self.judge.add(output.decode(iteration))
            return not self.judge.failed_beyond_return()
        return True

    def merge(self, other: t.Self) -> bool:
        """Take the repetitions of another instance."""
        self._defects += other._defects
        with self._counting_defects():
            self.judge.merge(other.judge)
            return not self.judge.failed_beyond_return()
        return True

    def result(self) -> sla.SLAResult:
        """Return the verdict in Rally's form."""
        with self._counting_defects():
            passed = self.judge.judgement().passed
            self.success = passed and not self._defects
        return super().result()

    def details(self) -> str:
        """Return the verdict in words, in lines that fit a terminal."""
        sentences: list[str] = []
        if not self._defects:
            with self._counting_defects():
                sentences = self.judge.judgement().sentences()
        if self._defects:
            times = units.number_of("time", len(self._defects))
            return sanitize.text(
                f"void: the judge failed {times}, first with "
                f"{self._defects[0]}; the records are in the journal, judge "
                "them with: rally-vmperf judge"
            )
        lines = [
            textwrap.fill(sentence, WIDTH, break_on_hyphens=False)
            for sentence in [*sentences, summary.RULES]
        ]
        return sanitize.text("\n".join(lines))

    @contextlib.contextmanager
    def _counting_defects(self) -> collections.abc.Iterator[None]:
        """Note what the judge raises, as it would end Rally's consumer.

        The iterations that follow would be lost with it.
        """
        try:
            yield
        except Exception as error:  # Whatever it is, the run goes on.
            defects.log()
            self._defects.append(defects.one_line(error))


def configure(criterion: question.Criterion) -> type[Criterion]:
    """Register the SLA of a criterion with Rally, and return it."""
    members = {
        "__doc__": criterion.title,
        "__module__": __name__,
        "CONFIG_SCHEMA": {"$schema": consts.JSON_SCHEMA7, **criterion.schema},
        "criterion": criterion,
    }
    made = type(criterion.name, (Criterion,), members)
    return t.cast(type[Criterion], sla.configure(name=criterion.name)(made))


SLAS = {name: configure(one) for name, one in table.criteria().items()}
