"""What the tests of all questions have in common."""

import collections.abc
import contextlib
import pathlib
import typing as t

from oslo_log import log as logging
from tempest import config
from tempest import test
from tempest.common import credentials_factory
from testtools import content

from rally_vmperf import termination
from rally_vmperf.execution import ports
from rally_vmperf.execution import requirements
from rally_vmperf.guests import guest
from rally_vmperf.questions import table
from rally_vmperf.tempest_plugin import guests
from rally_vmperf.tempest_plugin import measure
from rally_vmperf.tempest_plugin import tasks

CONF = config.CONF
LOG = logging.getLogger(__name__)


class Booting(test.BaseTestCase):
    """Boots the guests of a class once, and removes them in any case.

    Tempest runs classes that are marked as serial alone: two measurements at
    once, or anybody else's guests, would disturb each other.
    """

    credentials: t.ClassVar[list[str]] = ["primary"]
    owner: guests.Guests

    @classmethod
    def skip_checks(cls) -> None:
        """Skip if the cloud lacks a service that guests need."""
        if CONF.vmperf.host:
            # Nova lets nobody else choose.
            cls.credentials = ["admin"]
        super().skip_checks()
        for service in ("nova", "glance", "neutron"):
            if not getattr(CONF.service_available, service):
                raise cls.skipException(f"{service} is not available")

    @classmethod
    def setup_credentials(cls) -> None:
        """Have Tempest make a network that a router leads to."""
        cls.set_network_resources(
            network=True, subnet=True, router=True, dhcp=True
        )
        with cls.cleaned_after_interrupt():
            super().setup_credentials()

    @classmethod
    @contextlib.contextmanager
    def cleaned_after_interrupt(cls) -> collections.abc.Iterator[None]:
        """Remove all that the class has made if its user interrupts it.

        Tempest does so after exceptions only, and whoever runs the tests
        goes on to the next class, or ends.
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
        options: dict[str, t.Any],
        ports_open: range = range(0),
        *,
        one_host: bool = False,
    ) -> guest.Booted:
        """Return guests, which the end of the class removes.

        :param options: of vmperf_guests
        :param ports_open: those at which guests listen for one another
        :param one_host: they are to share one, where nothing else is asked
        """
        kind = cls.credentials[0]
        manager = getattr(cls, f"os_{kind}")
        network = cls.get_tenant_network(kind)
        cls.owner = guests.Guests(
            guests.credential(CONF, manager.credentials),
            _admin(),
            journal_dir(),
            LOG.info,
        )
        with cls.cleaned_after_interrupt():
            booted = cls.owner.boot(
                options, network.get("id"), ports_open, one_host=one_host
            )
        cls.addClassResourceCleanup(cls.owner.remove)
        return booted


class Measuring(Booting):
    """Asks a question of the guests of a class."""

    question = ""
    configured: tasks.Configured
    measurement: measure.Measurement

    @classmethod
    def skip_checks(cls) -> None:
        """Skip what is not configured, naming the option."""
        super().skip_checks()
        cls.configured = tasks.Configured(
            CONF, table.questions()[cls.question]
        )
        lacking = cls.configured.lacking()
        if lacking:
            raise cls.skipException(lacking)

    @classmethod
    def resource_setup(cls) -> None:
        """Check all that is configured, then boot."""
        super().resource_setup()
        cls.configured.check_limits()
        asked = cls.whole()
        booted = cls.boot(
            asked.guest_options,
            ports.of_guests(asked.assignments, asked.count),
            one_host=table.questions()[cls.question].one_host(asked),
        )
        folder = journal_dir()
        cls.measurement = measure.Measurement(
            identifier=cls.owner.id,
            booted=booted,
            connect=cls.owner.connect,
            baseline=cls.configured.baseline,
            journal_dir=folder,
            report_dir=pathlib.Path(CONF.vmperf.report_dir or folder),
            progress=LOG.info,
            warn=LOG.warning,
        )

    @classmethod
    def whole(cls) -> t.Any:
        """Return the task of all workloads, whose guests are booted."""
        raise NotImplementedError

    def hold(self, asked: t.Any) -> None:
        """Measure, attach the outcome, and fail unless it is passed."""
        try:
            with self.cleaned_after_interrupt():
                outcome = self.measurement.run(asked, self.configured.question)
        except requirements.ToolMissing as missing:
            self.skipTest(str(missing))
        self.addDetail("vmperf-verdict", content.text_content(outcome.table()))
        LOG.info(outcome.sentence())
        if not outcome.passed:
            self.fail(outcome.sentence())


def journal_dir() -> pathlib.Path:
    """Return the folder of journals and of the ledger."""
    return pathlib.Path(CONF.vmperf.journal_dir)


def _admin() -> t.Any:
    """Return the administrator's credential, if there is one."""
    if not CONF.auth.admin_username:
        return None
    found = credentials_factory.get_configured_admin_credentials()
    return guests.credential(CONF, found)
