# SPDX-License-Identifier: Apache-2.0
"""Base classes of the tests."""

import collections.abc
import contextlib
import pathlib
import typing as t

from oslo_log import log as logging
from tempest import config
from tempest import test
from tempest.common import credentials_factory
from testtools import content

from rally_vmperf import documents
from rally_vmperf import termination
from rally_vmperf.execution import ports
from rally_vmperf.execution import requirements
from rally_vmperf.guests import models
from rally_vmperf.questions import table
from rally_vmperf.runs import guest_arrival
from rally_vmperf.tempest_plugin import measure
from rally_vmperf.tempest_plugin import tasks

CONF = config.CONF
LOG = logging.getLogger(__name__)


class GuestTest(test.BaseTestCase):
    """A test class whose guests are booted once and always deleted.

    The decorator ``serial`` prevents Tempest from running other test classes
    concurrently, because their guests would disturb the measurements.
    """

    credentials: t.ClassVar[list[str]] = ["primary"]
    run_guests: guest_arrival.RunGuests

    @classmethod
    def skip_checks(cls) -> None:
        """Skip the class if a service that guests require is not available."""
        if CONF.vmperf.host:
            # Nova allows only administrators to select a host.
            cls.credentials = ["admin"]
        super().skip_checks()
        for service in ("nova", "glance", "neutron"):
            if not getattr(CONF.service_available, service):
                raise cls.skipException(f"{service} is not available")

    @classmethod
    def setup_credentials(cls) -> None:
        """Create credentials with a network that has a router."""
        cls.set_network_resources(
            network=True, subnet=True, router=True, dhcp=True
        )
        with cls.remove_on_interrupt():
            super().setup_credentials()

    @classmethod
    @contextlib.contextmanager
    def remove_on_interrupt(cls) -> collections.abc.Iterator[None]:
        """Delete all resources of the class if the user interrupts the block.

        Tempest deletes them after an ``Exception`` only.
        """
        termination.as_interrupt()
        try:
            yield
        except KeyboardInterrupt:
            cls.tearDownClass()
            raise

    @classmethod
    def boot(
        cls,
        options: documents.Arguments,
        ports_open: range = range(0),
        *,
        one_host: bool = False,
    ) -> models.BootedGuests:
        """Boot and return guests, which are deleted after the class.

        :param options: The options of vmperf_guests.
        :param ports_open: The ports on which guests listen for other guests.
        :param one_host: Whether the guests share a host, unless the options
            specify a placement.
        """
        credentials_type = cls.credentials[0]
        manager = getattr(cls, f"os_{credentials_type}")
        network = cls.get_tenant_network(credentials_type)
        cls.run_guests = measure.create_run_guests(
            options,
            measure.convert_credential(CONF, manager.credentials),
            _get_admin_credential(),
            get_journal_dir(),
            LOG.info,
        )
        cls.run_guests.write_entry()
        with cls.remove_on_interrupt():
            try:
                booted, arrival, _ = cls.run_guests.boot(
                    network.get("id"), ports_open, one_host=one_host
                )
                arrival.close()
            except BaseException:
                cls.run_guests.remove(interrupted=True)
                raise
        cls.addClassResourceCleanup(cls.run_guests.remove)
        return booted


class MeasurementTest(GuestTest):
    """A test class that measures one question in its guests."""

    question = ""
    configured: tasks.ConfiguredQuestion
    measurement: measure.Measurement

    @classmethod
    def skip_checks(cls) -> None:
        """Skip the class without limits for its question, or volumes."""
        super().skip_checks()
        if CONF.vmperf.volume_size_gib and not CONF.service_available.cinder:
            raise cls.skipException("volume_size_gib: cinder is not available")
        cls.configured = tasks.ConfiguredQuestion(
            CONF, table.questions()[cls.question]
        )
        skip_reason = cls.configured.skip_reason()
        if skip_reason:
            raise cls.skipException(skip_reason)

    @classmethod
    def resource_setup(cls) -> None:
        """Check the configuration, and boot the guests."""
        super().resource_setup()
        cls.configured.check_limits()
        task = cls.build_full_task()
        guest_arrival.check_others(
            task.peer, task.control, task.assignments, LOG.info
        )
        booted = cls.boot(
            task.guests,
            ports.guest_ports(task.assignments, task.count),
            one_host=table.questions()[cls.question].needs_one_host(task),
        )
        directory = get_journal_dir()
        cls.measurement = measure.Measurement(
            run_guests=cls.run_guests,
            booted=booted,
            baseline=cls.configured.baseline,
            journal_dir=directory,
            report_dir=pathlib.Path(CONF.vmperf.report_dir or directory),
            warn=LOG.warning,
        )

    @classmethod
    def build_full_task(cls) -> t.Any:
        """Return the task of all workloads, which defines the guests."""
        raise NotImplementedError

    def check_task(self, task: t.Any) -> None:
        """Run a task, attach its verdicts, and fail unless all are passed."""
        try:
            with self.remove_on_interrupt():
                run = self.measurement.run(task, self.configured.question)
        except requirements.ToolMissing as missing:
            self.fail(str(missing))
        self.addDetail("vmperf-verdict", content.text_content(run.table()))
        LOG.info(run.sentence())
        if not run.passed:
            self.fail(run.sentence())


def get_journal_dir() -> pathlib.Path:
    """Return the directory of the journals and the ledger."""
    return pathlib.Path(CONF.vmperf.journal_dir)


def _get_admin_credential() -> t.Any:
    """Return the credential of the administrator, or None."""
    if not CONF.auth.admin_username:
        return None
    return measure.convert_credential(
        CONF, credentials_factory.get_configured_admin_credentials()
    )
