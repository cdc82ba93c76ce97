"""A context that boots guests."""

import dataclasses
import json
import typing as t

from rally import consts
from rally.common import cfg
from rally.common import db
from rally.common import logging
from rally.common import objects
from rally.common import validation
from rally.task import context as rally_context
from rally_openstack.task import context

from rally_vmperf import documents
from rally_vmperf import opts
from rally_vmperf import sanitize
from rally_vmperf.guests import credentials
from rally_vmperf.guests import errors
from rally_vmperf.guests import models
from rally_vmperf.guests import request
from rally_vmperf.guests import schema
from rally_vmperf.guests.cleanup import ledger
from rally_vmperf.guests.cleanup import ownership
from rally_vmperf.plugins import defects
from rally_vmperf.plugins import open_runs

CONF = cfg.CONF
LOG = logging.getLogger(__name__)

# Rally imports all plugins even to list them.  Modules that require the SDK,
# whose import takes a quarter of a second, are imported in functions.


@validation.add("required_platform", platform="openstack", users=True)
@context.configure(name="vmperf_guests", order=510)
class Guests(context.OpenStackContext):
    """Guests that run the workloads.

    The guests belong to the project of the first user, and answer SSH before
    the first workload starts. They are deleted at the end of the run, even if
    the run fails or is interrupted.
    """

    CONFIG_SCHEMA: t.ClassVar[documents.Schema] = {
        "type": "object",
        "$schema": consts.JSON_SCHEMA7,
        "properties": schema.PROPERTIES,
        "additionalProperties": False,
        **schema.ONE_FORM,
    }
    DEFAULT_CONFIG: t.ClassVar[documents.Arguments] = schema.DEFAULTS

    @defects.sanitise_errors()
    def setup(self) -> None:
        """Boot the guests, and wait until all of them answer SSH."""
        from rally_vmperf.guests import cloud

        run_ledger = ledger.Ledger(CONF.vmperf.journal_dir)
        self._warn_about_killed_runs(run_ledger)
        credential = self._get_credential()
        connection = cloud.connect(credential)
        run_ledger.write(
            ledger.Entry.of_this_process(
                self.get_owner_id(),
                self.task["uuid"],
                self._get_owner().prefix,
                credential,
            )
        )
        try:
            self._boot_guests(connection)
        except BaseException as error:
            self._clean_up_after_failure(error)
            raise

    @defects.sanitise_errors()
    def cleanup(self) -> None:
        """Delete the guests and all resources that were created for them."""
        open_runs.OPEN_RUNS.close(self.get_owner_id())
        self._remove_guests()
        self._log_verdicts()

    def _boot_guests(self, connection: t.Any) -> None:
        """Boot the guests, wait for SSH; store guests and connections."""
        from rally_vmperf.guests import cloud
        from rally_vmperf.guests.booting import boot
        from rally_vmperf.runs import guest_arrival

        config = json.loads(json.dumps(self.config))
        admin = credentials.get_admin_credential(self.context)
        ports_open, one_host = _get_scenario_requirements(self.get_owner_id())
        guest_request = request.parse_config(
            config,
            credentials.get_tenant_network(self.context),
            one_host=one_host,
        )
        booted = boot.boot(
            connection,
            guest_request,
            self.generate_random_name,
            _log_info,
            admin=cloud.connect(admin) if admin else None,
            ports_open=ports_open,
        )
        booted, arrival = guest_arrival.wait_for_guests(
            connection, booted, self.config["ssh_timeout"], _log_info
        )
        open_runs.OPEN_RUNS.keep_connections(self.get_owner_id(), arrival)
        # Rally passes plain data to the scenario.
        self.context["vmperf_guests"] = {
            "guests": list(map(models.to_plain, booted.guests)),
            "absent": list(booted.absent),
            "client_key": booted.client_key,
            "findings": list(map(dataclasses.asdict, booted.findings)),
            "caps": list(map(dataclasses.asdict, booted.caps)),
            "config": config,
        }

    def _clean_up_after_failure(self, error: BaseException) -> None:
        """Clean up after a failure, because Rally does not in all cases."""
        try:
            open_runs.OPEN_RUNS.close(self.get_owner_id())
            self._remove_guests(interrupted=True)
            if not isinstance(error, Exception):
                self._clean_earlier_contexts()
                if isinstance(self.task, objects.Task):
                    # Otherwise, the status of the task remains "running".
                    self.task.update_status(consts.TaskStatus.ABORTED)
        except errors.GuestError as cleanup_error:
            LOG.error(str(cleanup_error))

    def _clean_earlier_contexts(self) -> None:
        """Clean up the earlier contexts, which Rally does not on Ctrl-C."""
        earlier = {
            name: config
            for name, config in self.context["config"].items()
            if rally_context.Context.get(name, allow_hidden=True).get_order()
            < self.get_order()
        }
        rally_context.ContextManager(
            {**self.context, "config": earlier}
        ).cleanup()

    def _remove_guests(self, *, interrupted: bool = False) -> None:
        """Delete the guests and their resources; log what remains."""
        from rally_vmperf.guests import cloud
        from rally_vmperf.guests.cleanup import killed
        from rally_vmperf.guests.cleanup import removal

        command = killed.format_cleanup_command(
            opts.config_files(CONF), self.task["uuid"]
        )
        try:
            removal.remove_resources(
                cloud.connect(self._get_credential()),
                self._get_owner(),
                _log_info,
                interrupted=interrupted,
                disks=any(
                    "boot_volume" in options
                    for options in (
                        self.config,
                        *self.config.get("groups", ()),
                    )
                ),
                remedy=command,
            )
        except KeyboardInterrupt:
            LOG.error(
                "Clean-up was interrupted: servers, volumes, floating IPs, "
                "ports, groups and key pairs named "
                f"{self._get_owner().prefix}* may remain; "
                f"delete them with: {command}"
            )
            raise
        ledger.Ledger(CONF.vmperf.journal_dir).drop(self.get_owner_id())

    def _log_verdicts(self) -> None:
        """Log the verdicts of the run, which Rally does not print.

        The journal contains all repetitions that the SLAs judge.
        """
        from rally_vmperf.judging import verdict_table
        from rally_vmperf.questions import source_judge
        from rally_vmperf.questions import table
        from rally_vmperf.records import journal
        from rally_vmperf.records import sources

        owner = self.get_owner_id()
        stored = db.workload_get(owner)
        run_journal = journal.Journal(CONF.vmperf.journal_dir, owner)
        if stored["name"] not in table.scenarios():
            return
        if not run_journal.path.exists():
            return
        try:
            path = str(run_journal.path)
            (source,) = sources.read(path, table.scenarios())
            run = source_judge.judge_source(source, stored["sla"])
        except sources.SourceError as error:
            LOG.warning(str(error))
            return
        _log_info("\n".join(("Verdicts", *verdict_table.lines(run))))

    def _get_owner(self) -> ownership.Owner:
        """Return the owner of the resources that this context creates."""
        return ownership.of_names(
            self.get_owner_id(), self.generate_random_name
        )

    def _get_credential(self) -> credentials.Credential:
        """Return the credential that creates the guests."""
        return credentials.get_guest_credential(self.context, self.config)

    def _warn_about_killed_runs(self, run_ledger: ledger.Ledger) -> None:
        """Log a warning for each killed run that left resources."""
        from rally_vmperf.guests.cleanup import killed

        admin = credentials.get_admin_credential(self.context)
        credential = admin or self._get_credential()
        try:
            for line in killed.report_killed_runs(
                run_ledger,
                credential,
                admin=bool(admin),
                config_files=opts.config_files(CONF),
            ):
                LOG.warning(line)
        except errors.GuestError as error:
            LOG.warning(str(error))


def _get_scenario_requirements(owner: str) -> tuple[range, bool]:
    """Return open ports, and whether the guests share one host.

    :param owner: The identifier of a Rally workload with any scenario.
    :returns: The ports on which guests listen for other guests, and whether
        the guests must share a host.
    """
    from rally_vmperf.execution import ports
    from rally_vmperf.questions import table
    from rally_vmperf.questions.common import task

    stored = db.workload_get(owner)
    question = table.scenarios().get(stored["name"])
    if question is None:
        return range(0), False
    workload = task.create_from_rally(stored, stored["name"])
    guest_ports = ports.guest_ports(workload.assignments, workload.count)
    return guest_ports, question.one_host(workload)


def _log_info(line: str) -> None:
    """Log a line that may contain names from the cloud."""
    LOG.info(sanitize.text(line))
