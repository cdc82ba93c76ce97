"""Context that boots guests."""

import dataclasses
import datetime
import json
import typing as t

from rally import consts
from rally.common import cfg
from rally.common import logging
from rally.common import objects
from rally.common import validation
from rally.task import context as rally_context
from rally_openstack.task import context

from rally_vmperf.guests import credentials
from rally_vmperf.guests import errors
from rally_vmperf.guests import guest
from rally_vmperf.guests import ledger
from rally_vmperf.guests import ownership
from rally_vmperf.guests import request
from rally_vmperf.guests import schema
from rally_vmperf.plugins import opened
from rally_vmperf.plugins import sanitize

CONF = cfg.CONF
LOG = logging.getLogger(__name__)

# Rally imports every plugin for a mere list of them.  What needs the SDK, a
# quarter of a second of imports, is therefore imported where it is used.

#: Seconds in which a request that was interrupted takes effect, or never.
_SETTLE = 3


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

    def setup(self) -> None:
        """Boot the guests and wait until all answer SSH."""
        from rally_vmperf.guests import cloud

        journal = ledger.Ledger(CONF.vmperf.journal_dir)
        self._report_killed(journal)
        credential = self._credential()
        connection = cloud.connect(credential)
        journal.write(self._entry(credential))
        try:
            self._boot(connection)
        except BaseException as error:
            self._give_up(error)
            raise

    def cleanup(self) -> None:
        """Remove all that was made for the guests."""
        opened.OPENED.close(self.get_owner_id())
        self._remove(settle=0)

    def _boot(self, connection: t.Any) -> None:
        from rally_vmperf.guests import boot
        from rally_vmperf.guests import cloud
        from rally_vmperf.runs import guest_arrival

        config = json.loads(json.dumps(self.config))
        admin = credentials.of_admin(self.context)
        booted = boot.boot(
            connection,
            request.of_config(
                config, credentials.tenant_network(self.context)
            ),
            self.generate_random_name,
            LOG.info,
            admin=cloud.connect(admin) if admin else None,
        )
        try:
            booted, arriving = guest_arrival.wait(
                connection, booted, self.config["ssh_timeout"], LOG.info
            )
        except errors.GuestError as error:
            # Rally shows it, and it may quote a guest's console.
            raise errors.GuestError(sanitize.sanitize(str(error))) from None
        opened.OPENED.keep(self.get_owner_id(), arriving)
        # Rally keeps what is plain, and hands it on to the scenario.
        self.context["vmperf_guests"] = {
            "guests": [guest.to_plain(one) for one in booted.guests],
            "client_key": booted.client_key,
            "findings": [dataclasses.asdict(one) for one in booted.findings],
            "config": config,
        }

    def _give_up(self, error: BaseException) -> None:
        """Clean up after a failure, as Rally will not in every case."""
        try:
            opened.OPENED.close(self.get_owner_id())
            self._remove(settle=_SETTLE)
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

    def _remove(self, settle: float) -> None:
        from rally_vmperf.guests import cloud
        from rally_vmperf.guests import killed
        from rally_vmperf.guests import removal

        command = killed.remedy(_config_files(), self.task["uuid"])
        try:
            removal.remove(
                cloud.connect(self._credential()),
                self._owner(),
                LOG.info,
                settle=settle,
                disks=any(
                    "boot_volume" in one
                    for one in (self.config, *self.config.get("groups", ()))
                ),
            )
        except KeyboardInterrupt:
            LOG.error(
                "Clean-up was interrupted: servers, volumes, addresses, "
                f"ports, groups and key pairs named {self._owner().prefix}* "
                f"may be left; remove them with: {command}"
            )
            raise
        except errors.GuestError as error:
            raise errors.GuestError(
                f"{error}; remove it with: {command}"
            ) from error
        ledger.Ledger(CONF.vmperf.journal_dir).drop(self.get_owner_id())

    def _owner(self) -> ownership.Owner:
        return ownership.of_names(
            self.get_owner_id(), self.generate_random_name
        )

    def _credential(self) -> credentials.Credential:
        return credentials.of_guests(self.context, self.config)

    def _entry(self, credential: credentials.Credential) -> ledger.Entry:
        now = datetime.datetime.now(datetime.UTC)
        return ledger.Entry(
            owner=self.get_owner_id(),
            task=self.task["uuid"],
            prefix=self._owner().prefix,
            auth_url=credential["auth_url"],
            project=credential.get("tenant_name") or "",
            started_at=now.isoformat(timespec="seconds"),
            process=ledger.this_process(),
        )

    def _report_killed(self, journal: ledger.Ledger) -> None:
        from rally_vmperf.guests import killed

        admin = credentials.of_admin(self.context)
        credential = admin or self._credential()
        try:
            for line in killed.report(
                journal,
                credential,
                admin=bool(admin),
                config_files=_config_files(),
            ):
                LOG.warning(line)
        except errors.GuestError as error:
            LOG.warning(str(error))


def _config_files() -> list[str]:
    # The option is there once Rally has read its configuration.
    return list(CONF.config_file or ()) if "config_file" in CONF else []
