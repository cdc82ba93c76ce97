# SPDX-License-Identifier: Apache-2.0
"""The contexts: guests and a baseline."""

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
from rally_vmperf import json_schema
from rally_vmperf import live_line
from rally_vmperf import opts
from rally_vmperf import sanitize
from rally_vmperf import termination
from rally_vmperf.baseline import store
from rally_vmperf.guests import credentials
from rally_vmperf.guests import errors
from rally_vmperf.guests import schema
from rally_vmperf.guests.cleanup import ledger
from rally_vmperf.plugins import defects
from rally_vmperf.plugins import open_runs

if t.TYPE_CHECKING:
    from rally_vmperf.questions.common import task as tasks
    from rally_vmperf.records import model
    from rally_vmperf.runs import guest_arrival

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
    the run fails or is interrupted. An empty option is not given; a text in
    place of name or id is the name.
    """

    CONFIG_SCHEMA: t.ClassVar[documents.Schema] = {
        "$schema": consts.JSON_SCHEMA7,
        **schema.CONFIG,
    }
    DEFAULT_CONFIG: t.ClassVar[documents.Arguments] = schema.DEFAULTS

    @defects.sanitise_errors()
    def setup(self) -> None:
        """Boot the guests, and wait until all of them answer SSH."""
        self._find_host_cpus()
        run_guests = self._create_run_guests()
        self._warn_about_killed_runs(run_guests)
        self._check_others()
        run_guests.write_entry()
        try:
            self._boot_guests(run_guests)
        except BaseException as error:
            self._clean_up_after_failure(error)
            raise

    @defects.sanitise_errors()
    def cleanup(self) -> None:
        """Delete the guests and all resources that were created for them."""
        live_line.close()
        # Guests that boot during the run may be interrupted, too.
        has_booted = open_runs.OPEN_RUNS.has_booted(self.get_owner_id())
        unwritten = open_runs.OPEN_RUNS.close(self.get_owner_id())
        self._remove_guests(interrupted=has_booted)
        self._log_verdicts(unwritten)

    def _find_host_cpus(self) -> None:
        """Store the CPUs of hosts, if the number of guests needs them."""
        from rally_vmperf.guests.planning import compute_hosts

        workload = self._read_workload()
        if workload is not None and workload.arguments.needs_host_cpus:
            self.context["vmperf_host_cpus"] = compute_hosts.find_cpu_count(
                self.context, workload.guests
            )

    def _create_run_guests(self) -> "guest_arrival.RunGuests":
        """Return the guests of this run, which may not be booted yet."""
        from rally_vmperf.guests.cleanup import killed
        from rally_vmperf.runs import guest_arrival

        task = self.task["uuid"]
        options = self._create_options(json.loads(json.dumps(self.config)))
        return guest_arrival.RunGuests(
            id=self.get_owner_id(),
            task=task,
            options=options,
            user=credentials.get_guest_credential(self.context, options),
            admin=credentials.get_admin_credential(self.context),
            run_ledger=ledger.Ledger(CONF.vmperf.journal_dir),
            new_name=self.generate_random_name,
            progress=_log_info,
            remedy=killed.format_cleanup_command(
                opts.config_files(CONF), task
            ),
        )

    def _boot_guests(self, run_guests: "guest_arrival.RunGuests") -> None:
        """Boot the guests, wait for SSH; store guests and connections."""
        ports_open, flags = self._get_scenario_requirements()
        booted, arrival, group_boots = run_guests.boot(
            credentials.get_tenant_network(self.context), ports_open, **flags
        )
        open_runs.OPEN_RUNS.keep_connections(run_guests.id, arrival)
        open_runs.OPEN_RUNS.keep_group_boots(run_guests.id, group_boots)
        self.context["vmperf_guests"] = {
            "booted": booted,
            "config": run_guests.options,
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
        run_guests = self._create_run_guests()
        try:
            run_guests.remove(interrupted=interrupted)
        except KeyboardInterrupt:
            LOG.error(
                "Clean-up was interrupted: servers, volumes, floating IPs, "
                "ports, groups, key pairs, flavors and images named "
                f"{run_guests.owner.prefix}* may remain; "
                f"delete them with: {run_guests.remedy}"
            )
            raise

    def _log_verdicts(self, unwritten: "list[model.Record]") -> None:
        """Log the verdicts of the run, which Rally does not print.

        :param unwritten: The records that the SLAs judge and that are not in
            the journal, because the disk was full.
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
        if not run_journal.path.exists() and not unwritten:
            return
        try:
            source = sources.read_journal(run_journal, unwritten)
            run = source_judge.judge_source(source, stored["sla"])
        except (journal.JournalError, sources.SourceError) as error:
            LOG.warning(str(error))
            return
        _log_info("\n".join(("Verdicts", *verdict_table.lines(run))))

    def _warn_about_killed_runs(
        self, run_guests: "guest_arrival.RunGuests"
    ) -> None:
        """Log a warning for each killed run that left resources."""
        from rally_vmperf.guests.cleanup import killed

        try:
            for line in killed.report_killed_runs(
                run_guests.run_ledger,
                run_guests.admin or run_guests.user,
                admin=bool(run_guests.admin),
                config_files=opts.config_files(CONF),
            ):
                LOG.warning(sanitize.text(line))
        except errors.GuestError as error:
            LOG.warning(str(error))

    def _create_options(
        self, options: documents.Arguments
    ) -> documents.Arguments:
        """Return the options of the guests that a scenario measures.

        :param options: The options of the task.
        """
        from rally_vmperf.questions import table

        options = {**schema.DEFAULTS, **schema.normalize(options)}
        workload = self._read_workload()
        if workload is None or workload.arguments.needs_host_cpus:
            return options
        options.setdefault("count", workload.count)
        workload = dataclasses.replace(
            workload, contexts={"vmperf_guests": options}
        )
        question = table.scenarios()[workload.scenario]
        return question.create_guest_options(workload)

    def _get_scenario_requirements(self) -> tuple[range, dict[str, t.Any]]:
        """Return open ports, and the flags of the request for guests.

        :returns: The ports on which guests listen for other guests, and the
            flags by name.
        """
        from rally_vmperf.execution import ports
        from rally_vmperf.questions import table

        workload = self._read_workload()
        if workload is None:
            return range(0), {}
        guest_ports = ports.guest_ports(workload.assignments, workload.count)
        question = table.scenarios()[workload.scenario]
        return guest_ports, question.list_flags(workload)

    def _check_others(self) -> None:
        """Check the other machines that the scenario uses, as it does later.

        :raises MachineError: If such a machine cannot be used.
        """
        from rally_vmperf.runs import guest_arrival

        workload = self._read_workload()
        if workload is not None:
            guest_arrival.check_others(
                workload.peer,
                workload.control,
                workload.assignments,
                _log_info,
            )

    def _read_workload(self) -> "tasks.AnyTask | None":
        """Return the workload in Rally's database as a task; None for others.

        It needs the CPUs of hosts until they are stored.
        """
        from rally_vmperf.questions import table

        stored = db.workload_get(self.get_owner_id())
        question = table.scenarios().get(stored["name"])
        if question is None:
            return None
        workload = question.create_task(stored)
        number = self.context.get("vmperf_host_cpus")
        if number is None:
            return workload
        return question.complete_task(workload, lambda: number)


def _log_info(line: str) -> None:
    """Log a line that may contain names from the cloud."""
    LOG.info(sanitize.text(line))


_NAME = rf"^{store.NAME.pattern}$(?!\n)"


@rally_context.configure(name="vmperf_baseline", order=50)
class Baseline(rally_context.Context):
    """Bare-metal baseline with which guests are compared.

    A text in place of the mapping is the name; none or an empty value means
    guests without bare metal. This context is set up before all others, so
    that a missing or damaged baseline is detected before guests are booted.
    """

    CONFIG_SCHEMA: t.ClassVar[documents.Schema] = {
        "$schema": consts.JSON_SCHEMA7,
        **json_schema.optional(
            json_schema.closed_mapping(
                {
                    "name": json_schema.text(
                        "Name of the registered baseline.", pattern=_NAME
                    ),
                    "class": json_schema.text(
                        "Class of machines, instead of a name: the baseline "
                        "of this class that was recorded last is used.",
                        pattern=_NAME,
                    ),
                },
                minProperties=1,
                maxProperties=1,
                type=["object", "string"],
                pattern=_NAME,
            )
        ),
    }

    @defects.sanitise_errors()
    def setup(self) -> None:
        """Load the baseline into Rally's context.

        The first context also installs the signal handlers, so that a run
        that receives SIGTERM or SIGHUP is cleaned up.
        """
        termination.as_interrupt()
        reference = store.parse_reference(self.config)
        if reference is not None:
            baseline = store.Store(CONF.vmperf.baseline_dir).find(reference)
            self.context["vmperf_baseline"] = {"document": baseline}

    def cleanup(self) -> None:
        """Do nothing; the baseline remains registered."""
