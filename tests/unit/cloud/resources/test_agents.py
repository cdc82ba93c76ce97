from unittest import mock

from rally_vmperf.cloud.network import paths
from rally_vmperf.cloud.resources import agents
from rally_vmperf.cloud.services import services
from rally_vmperf.cloud.services import supervisor
from rally_vmperf.cloud.system import errors
from tests.unit.cloud import base

TROUBLE = "namespace qrouter-1 is gone"


class PathsTestCase(base.CloudTestCase):
    def setUp(self):
        super().setUp()
        self.keeper = supervisor.Supervisor(self.folders, self.processes)
        self.waited = []
        self.run_agents(start_time=100)
        for module, name in (
            (paths, "settled"),
            (paths, "remove"),
            (agents, "wait"),
            (self.keeper, "ensure"),
        ):
            patch = mock.patch.object(module, name, autospec=True)
            setattr(self, name, patch.start())
            self.addCleanup(patch.stop)

    def run_agents(self, **more):
        for pid, name in enumerate(agents.NAMES, start=10):
            self.proc.add(pid, argv=[name], **more)
            identity = self.processes.identify(pid)
            self.keeper.records.write(name, identity, "digest")

    def look(self, *wrong):
        """Look once at each of these, and return how long it waited."""
        self.settled.reset_mock()
        self.settled.side_effect = wrong
        wanted = [services.Service(name=n, argv=[n]) for n in agents.NAMES]
        agents.ensure_paths(
            self.folders, self.keeper, None, [], wanted, self.found
        )
        return [call.args[1] for call in self.settled.call_args_list]

    def test_new_agents_are_given_time_and_known_ones_none(self):
        self.assertEqual([agents.SETTLING], self.look([]))
        self.assertEqual([0], self.look([]))
        self.run_agents(start_time=200)
        self.assertEqual([agents.SETTLING], self.look([]))
        self.remove.assert_not_called()
        self.assertEqual([], self.findings)

    def test_laid_anew(self):
        self.look([])
        self.assertEqual([0, agents.SETTLING], self.look([TROUBLE], []))
        self.remove.assert_called_once()
        self.assertEqual(len(agents.NAMES), self.ensure.call_count)
        self.assertRegex(self.findings[0], f"^{TROUBLE}; .* recreated$")

    def test_in_vain(self):
        with self.assertRaisesRegex(errors.CloudError, f"^{TROUBLE}, also"):
            self.look([TROUBLE], [TROUBLE])

    def test_an_agent_that_ended(self):
        self.keeper.records.forget(agents.NAMES[0])
        with self.assertRaisesRegex(errors.CloudError, "agent ended; see"):
            agents.since(self.keeper, agents.NAMES[0])
