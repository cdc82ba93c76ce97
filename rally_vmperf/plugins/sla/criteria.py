"""SLAs: one for each criterion of the table of questions."""

import textwrap
import typing as t

from rally import consts
from rally.common import logging
from rally.task import sla

from rally_vmperf.plugins import sanitize
from rally_vmperf.questions import table
from rally_vmperf.questions.common import question
from rally_vmperf.records import output

LOG = logging.getLogger(__name__)

#: Characters of a line of the verdict; Rally puts a table around it.
WIDTH = 100


class Criterion(sla.SLA):
    """Asks the judge of a criterion, and tells its verdict."""

    criterion: question.Criterion

    def __init__(self, criterion_value: dict[str, t.Any]) -> None:
        super().__init__(criterion_value)
        self.judge = self.criterion.judge(**criterion_value)
        self.success = False

    def add_iteration(self, iteration: t.Any) -> bool:
        """Take one repetition; False only if a limit is broken for good."""
        self.judge.add(output.decode(iteration))
        return not self.judge.failed_beyond_return()

    def merge(self, other: t.Self) -> bool:
        """Take the repetitions of another instance."""
        self.judge.merge(other.judge)
        return not self.judge.failed_beyond_return()

    def result(self) -> sla.SLAResult:
        """Return the verdict, as Rally wants it, and tell who is waiting."""
        self.success = self.judge.judgement().passed
        LOG.info(f"Verdict: {self.details()}")
        return super().result()

    def details(self) -> str:
        """Return the verdict in words, in lines that fit a terminal."""
        lines = [
            textwrap.fill(sentence, WIDTH, break_on_hyphens=False)
            for sentence in self.judge.judgement().sentences()
        ]
        return sanitize.sanitize("\n".join(lines))


def configure(criterion: question.Criterion) -> type[Criterion]:
    """Return the SLA of a criterion, which Rally knows from now on."""
    members = {
        "__doc__": criterion.title,
        "__module__": __name__,
        "CONFIG_SCHEMA": {"$schema": consts.JSON_SCHEMA7, **criterion.schema},
        "criterion": criterion,
    }
    made = type(criterion.name, (Criterion,), members)
    return t.cast(type[Criterion], sla.configure(name=criterion.name)(made))


SLAS = {name: configure(one) for name, one in table.criteria().items()}
