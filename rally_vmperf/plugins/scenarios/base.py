"""What scenarios of all questions do: one iteration is one repetition."""

import typing as t

from rally import exceptions
from rally.common import cfg
from rally.common import db
from rally.common import logging
from rally.task import atomic
from rally_openstack.task import scenario

from rally_vmperf.guests import credentials
from rally_vmperf.guests import guest
from rally_vmperf.measurement import finding
from rally_vmperf.plugins import harmless
from rally_vmperf.plugins import opened as kept
from rally_vmperf.plugins.scenarios import defects
from rally_vmperf.plugins.scenarios import interruption
from rally_vmperf.questions import table
from rally_vmperf.records import journal
from rally_vmperf.records import output
from rally_vmperf.runs import opened
from rally_vmperf.runs import run as runs

CONF = cfg.CONF
LOG = logging.getLogger(__name__)

Json = dict[str, t.Any]


class Incomplete(exceptions.RallyException):
    """A repetition lacks some of its measurements, and nobody judges it."""

    msg_fmt = "%(message)s"
    error_code = 932


class Measuring(scenario.OpenStackScenario):
    """Repeats the run of the question that it asks."""

    def _measure(
        self,
        workloads: list[Json],
        warmup: int,
        peer: Json | None,
        **own: t.Any,
    ) -> None:
        """Measure once, and give the record to Rally.

        :param own: arguments that only this question has
        """
        question = table.scenarios()[self.get_name()]
        owner = self.context["owner_id"]
        stored = db.workload_get(owner)

        def first() -> runs.Run:
            plain = self.context["vmperf_guests"]
            booted = guest.Booted(
                guests=tuple(map(guest.from_plain, plain["guests"])),
                client_key=plain["client_key"],
                findings=tuple(
                    finding.Finding(**one) for one in plain["findings"]
                ),
            )
            return question.run(
                opened.Asked(
                    opened=kept.OPENED,
                    question=question.name,
                    task=self.context["task"]["uuid"],
                    owner=owner,
                    times=stored["runner"].get("times", 1),
                    warmup=warmup,
                    workloads=workloads,
                    peer=peer,
                    booted=booted,
                    options=plain["config"],
                    baseline=self.context.get("vmperf_baseline", {}).get(
                        "document"
                    ),
                    journal=journal.Journal(CONF.vmperf.journal_dir, owner),
                    connect=self._connect,
                    progress=LOG.info,
                    warn=_warn,
                ),
                own,
            )

        with interruption.passed_on(self.task, owner), defects.told():
            with atomic.ActionTimer(self, "vmperf.prepare"):
                run = kept.OPENED.run(owner, first)
                run.prepare()
            with atomic.ActionTimer(self, "vmperf.measure"):
                record = run.repeat(self.context["iteration"])
            self.add_output(additive=output.mark(question.title))
            self.add_output(complete=output.encode(record))
            tell(record, stored["sla"])

    def _connect(self) -> t.Any:
        """Return a connection to the cloud as the owner of the guests."""
        # Rally imports all plugins for a mere list, which needs no cloud.
        from rally_vmperf.guests import cloud

        booted = self.context["vmperf_guests"]
        return cloud.connect(
            credentials.of_guests(self.context, booted["config"])
        )


def tell(record: Json, criteria: t.Container[str]) -> None:
    """Raise what Rally must know of a repetition.

    What is missing is in the record, where criteria of ours see it.  Without
    any of them the iteration has to fail, or nothing measured would pass.

    :param criteria: names of the SLAs of the workload
    :raises KeyboardInterrupt: for one that was interrupted
    :raises Incomplete: for one that lacks something, with the first of it
    """
    if record["state"] == "interrupted":
        raise KeyboardInterrupt
    if record["state"] == "complete":
        return
    parts = [*record["conditions"], record]
    missing = [gap for part in parts for gap in part["missing"]]
    first = missing[0]
    words = harmless.harmless(
        f"repetition {record['repetition']} is incomplete: {len(missing)} "
        f"measurements are missing, first {first['what']} of "
        f"{first['source']}: {first['reason']}"
    )
    if not any(name in criteria for name in table.criteria()):
        raise Incomplete(words)
    LOG.warning(words)


def _warn(line: str) -> None:
    LOG.warning(harmless.harmless(line))
