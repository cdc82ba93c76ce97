"""Context that boots guests."""

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

from rally_vmperf import opts
from rally_vmperf import sanitize
from rally_vmperf.guests import credentials
from rally_vmperf.guests import errors
from rally_vmperf.guests import guest
from rally_vmperf.guests import request
from rally_vmperf.guests import schema
from rally_vmperf.guests.cleanup import ledger
from rally_vmperf.guests.cleanup import ownership
from rally_vmperf.plugins import defects
from rally_vmperf.plugins import opened

CONF = cfg.CONF
LOG = logging.getLogger(__name__)

# Rally imports every plugin for a mere list of them.  What needs the SDK, a
# quarter of a second of imports, is therefore imported where it is used.


@validation.add("required_platform", platform="openstack", users=True)
@context.configure(name="vmperf_guests", order=510)
class Guests(context.OpenStackContext):
    """Guests that run the workloads, booted and reached before any does.

    They belong to the first user's project, and are removed in the end,
    also when the run fails or is interrupted.
    """

    CONFIG_SCHEMA: t.ClassVar[dict[str, t.Any]] = {
        "type": "object",
        "$schema": consts.JSON_SCHEMA7,
        "properties": schema.PROPERTIES,
        "additionalProperties": False,
        **schema.ONE_FORM,
    }
    DEFAULT_CONFIG: t.ClassVar[dict[str, t.Any]] = schema.DEFAULTS

    @defects.told()
    def setup(self) -> None:
        """Boot the guests and wait until all answer SSH."""
        from rally_vmperf.guests import cloud

        entries = ledger.Ledger(CONF.vmperf.journal_dir)
        self._report_killed(entries)
        credential = self._credential()
        connection = cloud.connect(credential)
        entries.write(
            ledger.Entry.of_this_process(
                self.get_owner_id(),
                self.task["uuid"],
                self._owner().prefix,
                credential,
            )
        )
        try:
            self._boot(connection)
        except BaseException as error:
            self._give_up(error)
            raise

    @defects.told()
    def cleanup(self) -> None:
        """Remove all that was made for the guests."""
        opened.OPENED.close(self.get_owner_id())
        self._remove()
        self._tell_verdicts()

    def _boot(self, connection: t.Any) -> None:
        from rally_vmperf.guests import cloud
        from rally_vmperf.guests.booting import boot
        from rally_vmperf.runs import guest_arrival

        config = json.loads(json.dumps(self.config))
        admin = credentials.of_admin(self.context)
        ports_open, one_host = _of_scenario(self.get_owner_id())
        asked = request.of_config(
            config,
            credentials.tenant_network(self.context),
            one_host=one_host,
        )
        booted = boot.boot(
            connection,
            asked,
            self.generate_random_name,
            _info,
            admin=cloud.connect(admin) if admin else None,
            ports_open=ports_open,
        )
        booted, arriving = guest_arrival.wait(
            connection, booted, self.config["ssh_timeout"], _info
        )
        opened.OPENED.keep(self.get_owner_id(), arriving)
        # Rally keeps what is plain, and hands it on to the scenario.
        self.context["vmperf_guests"] = {
            "guests": [guest.to_plain(one) for one in booted.guests],
            "absent": list(booted.absent),
            "client_key": booted.client_key,
            "findings": [dataclasses.asdict(one) for one in booted.findings],
            "caps": [dataclasses.asdict(one) for one in booted.caps],
            "config": config,
        }

    def _give_up(self, error: BaseException) -> None:
        """Clean up after a failure, as Rally will not in every case."""
        try:
            opened.OPENED.close(self.get_owner_id())
            self._remove(interrupted=True)
            if not isinstance(error, Exception):
                self._clean_earlier_contexts()
                if isinstance(self.task, objects.Task):
                    # Rally would have it as running forever.
                    self.task.update_status(consts.TaskStatus.ABORTED)
        except errors.GuestError as trouble:
            LOG.error(str(trouble))

    def _clean_earlier_contexts(self) -> None:
        """Clean what was set up before, as Rally does not on Ctrl-C."""
        earlier = {
            name: config
            for name, config in self.context["config"].items()
            if rally_context.Context.get(name, allow_hidden=True).get_order()
            < self.get_order()
        }
        rally_context.ContextManager(
            {**self.context, "config": earlier}
        ).cleanup()

    def _remove(self, *, interrupted: bool = False) -> None:
        from rally_vmperf.guests import cloud
        from rally_vmperf.guests.cleanup import killed
        from rally_vmperf.guests.cleanup import removal

        command = killed.remedy(opts.config_files(CONF), self.task["uuid"])
        try:
            removal.remove(
                cloud.connect(self._credential()),
                self._owner(),
                _info,
                interrupted=interrupted,
                disks=any(
                    "boot_volume" in one
                    for one in (self.config, *self.config.get("groups", ()))
                ),
                remedy=command,
            )
        except KeyboardInterrupt:
            LOG.error(
                "Clean-up was interrupted: servers, volumes, floating IPs, "
                f"ports, groups and key pairs named {self._owner().prefix}* "
                f"may be left; remove them with: {command}"
            )
            raise
        ledger.Ledger(CONF.vmperf.journal_dir).drop(self.get_owner_id())

    def _tell_verdicts(self) -> None:
        """Log the verdicts of the run, for which Rally itself has no place.

        All repetitions are journalled by now; an SLA sees no other results.
        """
        from rally_vmperf.questions import judging
        from rally_vmperf.questions import table
        from rally_vmperf.records import journal
        from rally_vmperf.report import sources
        from rally_vmperf.report import verdict_table

        owner = self.get_owner_id()
        stored = db.workload_get(owner)
        written = journal.Journal(CONF.vmperf.journal_dir, owner)
        if stored["name"] not in table.scenarios():
            return
        if not written.path.exists():
            return
        try:
            (source,) = sources.read(str(written.path), table.scenarios())
            run = judging.run(source, stored["sla"])
        except sources.SourceError as error:
            LOG.warning(str(error))
            return
        _info("\n".join(("Verdicts", *verdict_table.lines(run))))

    def _owner(self) -> ownership.Owner:
        return ownership.of_names(
            self.get_owner_id(), self.generate_random_name
        )

    def _credential(self) -> credentials.Credential:
        return credentials.of_guests(self.context, self.config)

    def _report_killed(self, entries: ledger.Ledger) -> None:
        from rally_vmperf.guests.cleanup import killed

        admin = credentials.of_admin(self.context)
        credential = admin or self._credential()
        try:
            for line in killed.report(
                entries,
                credential,
                admin=bool(admin),
                config_files=opts.config_files(CONF),
            ):
                LOG.warning(line)
        except errors.GuestError as error:
            LOG.warning(str(error))


def _of_scenario(owner: str) -> tuple[range, bool]:
    """Return the ports at which guests listen for one another.

    :param owner: identifier of Rally's workload, any scenario's
    :return: the ports, and whether the guests are to share a host
    """
    from rally_vmperf.execution import ports
    from rally_vmperf.questions import table
    from rally_vmperf.questions.common import task

    stored = db.workload_get(owner)
    question = table.scenarios().get(stored["name"])
    if question is None:
        return range(0), False
    asked = task.of_rally(stored, stored["name"])
    used = ports.of_guests(asked.assignments, asked.count)
    return used, question.one_host(asked)


def _info(line: str) -> None:
    """Log a line, which may hold names from the cloud."""
    LOG.info(sanitize.text(line))
