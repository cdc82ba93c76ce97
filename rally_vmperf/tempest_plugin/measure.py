# SPDX-License-Identifier: Apache-2.0
"""Measurement runs of tests, with journal, verdicts and report."""

import dataclasses
import pathlib
import secrets
import typing as t
import uuid

from rally_vmperf import documents
from rally_vmperf import sanitize
from rally_vmperf.baseline import document
from rally_vmperf.execution import requirements
from rally_vmperf.guests import cloud
from rally_vmperf.guests import models
from rally_vmperf.guests.cleanup import killed
from rally_vmperf.guests.cleanup import ledger
from rally_vmperf.guests.cleanup import ownership
from rally_vmperf.judging import judged_run
from rally_vmperf.judging import verdict_table
from rally_vmperf.questions import source_judge
from rally_vmperf.questions.common import question
from rally_vmperf.questions.common import task
from rally_vmperf.records import journal
from rally_vmperf.records import sources
from rally_vmperf.report import page
from rally_vmperf.runs import guest_arrival
from rally_vmperf.runs import run_request
from rally_vmperf.runs import runs


@dataclasses.dataclass(frozen=True, kw_only=True)
class ReportedRun:
    """A judged run with its journal and its report.

    :param run: The run with its verdicts.
    :param journal: The path of the journal.
    :param report: The path of the HTML report.
    """

    run: judged_run.JudgedRun
    journal: pathlib.Path
    report: pathlib.Path

    @property
    def passed(self) -> bool:
        """Whether all verdicts are passed."""
        return self.run.passed

    def sentence(self) -> str:
        """Return the failed verdicts and the report's path as text."""
        failures = " ".join(
            " ".join(judgement.lines())
            for judgement in self.run.judgements.values()
            if not judgement.passed
        )
        verdict = failures or f"{self.run.headline}."
        return sanitize.printable(f"{verdict} Report: {self.report}")

    def table(self) -> str:
        """Return verdicts and paths of journal and report as text."""
        lines = verdict_table.lines(self.run)
        lines += [f"journal: {self.journal}", f"report: {self.report}"]
        return "\n".join(map(sanitize.printable, lines)) + "\n"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Measurement:
    """The common context of all runs of a test class.

    :param run_guests: The guests of the class; records contain their
        identifier as the task.
    :param booted: The booted guests.
    :param baseline: The bare-metal baseline, or None.
    :param journal_dir: The directory of the journals.
    :param report_dir: The directory of the reports.
    :param warn: The function that logs warnings.
    """

    run_guests: guest_arrival.RunGuests
    booted: models.BootedGuests
    baseline: document.Baseline | None
    journal_dir: pathlib.Path
    report_dir: pathlib.Path
    warn: runs.Progress

    def run(
        self,
        workload: task.AnyTask,
        task_question: question.AnyQuestion,
    ) -> ReportedRun:
        """Measure all repetitions, judge them, and return the run.

        :param workload: The task.
        :param task_question: The question of the task.
        :raises KeyboardInterrupt: If the user interrupts the run; the journal
            contains the measurements.
        :raises ToolMissing: If a tool is missing in a guest and must not be
            installed.
        """
        owner = str(uuid.uuid4())
        run_journal = journal.Journal(self.journal_dir, owner)
        open_runs = run_request.RunCache()
        try:
            run = task_question.create_run(
                workload,
                run_request.RunEnvironment(
                    run_cache=open_runs,
                    task=self.run_guests.id,
                    owner=owner,
                    booted=self.booted,
                    options=workload.guests,
                    baseline=self.baseline,
                    journal=run_journal,
                    connect=self.run_guests.connect,
                    connect_admin=self.run_guests.connect_admin,
                    progress=self.run_guests.progress,
                    warn=self.warn,
                ),
            )
            open_runs.get_run(owner, lambda: run)
            records = []
            for number in range(1, workload.times + 1):
                records.append(run.repeat(number))
                if records[-1].repetition.state == "interrupted":
                    raise KeyboardInterrupt
                if run.failure:
                    self._check_image(run.failure)
                    break
        finally:
            open_runs.close(owner)
        judgement = source_judge.judge_source(
            sources.Source(
                question=task_question.name,
                scenario=task_question.scenario,
                records=records,
                criteria=workload.criteria,
                folder=self.journal_dir,
            )
        )
        return ReportedRun(
            run=judgement,
            journal=run_journal.path,
            report=self._write_report(owner, judgement),
        )

    def _check_image(self, failure: Exception) -> None:
        """Raise the failure if a tool is missing in a guest."""
        names = {member.name for member in self.booted.guests}
        if (
            isinstance(failure, requirements.ToolMissing)
            and failure.machine in names
        ):
            raise failure

    def _write_report(
        self, owner: str, run: judged_run.JudgedRun
    ) -> pathlib.Path:
        """Write the HTML report of a run, and return its path."""
        self.report_dir.mkdir(parents=True, exist_ok=True)
        path = self.report_dir / f"{owner}.html"
        path.write_text(
            page.standalone([source_judge.create_report(run)]),
            encoding="utf-8",
        )
        return path


def convert_credential(
    conf: t.Any, keystone_credentials: t.Any
) -> cloud.Credential:
    """Return credentials of Tempest as a credential (dict) of Rally.

    :param conf: The configuration of Tempest.
    :param keystone_credentials: The ``KeystoneV3Credentials``.
    """
    user = keystone_credentials
    identity = conf.identity
    return {
        "auth_url": identity.uri_v3,
        "username": user.username,
        "password": user.password,
        "user_domain_name": user.user_domain_name,
        "tenant_name": user.project_name,
        "project_domain_name": user.project_domain_name,
        "region_name": conf.compute.region or identity.region,
        "endpoint_type": conf.compute.endpoint_type.removesuffix("URL"),
        "https_insecure": identity.disable_ssl_certificate_validation,
        "https_cacert": identity.ca_certificates_file,
    }


def create_run_guests(
    options: documents.Arguments,
    user: cloud.Credential,
    admin: cloud.Credential | None,
    journal_dir: pathlib.Path,
    progress: runs.Progress,
) -> guest_arrival.RunGuests:
    """Return the guests of a test class, before they are booted.

    :param options: The options of vmperf_guests.
    :param user: The credential of the owner of the guests.
    :param admin: The credential of an administrator, or None.
    :param journal_dir: The directory of the journals and the ledger.
    """
    identifier = str(uuid.uuid4())
    prefix = f"c_rally_{ownership.shorten_owner(identifier)}"
    return guest_arrival.RunGuests(
        id=identifier,
        task=identifier,
        options=options,
        user=user,
        admin=admin,
        run_ledger=ledger.Ledger(journal_dir),
        new_name=lambda: f"{prefix}_{secrets.token_hex(4)}",
        progress=progress,
        remedy=killed.format_cleanup_command((), identifier),
    )
