from tests.unit.cloud import base
from tests.unit.cloud import fakes


class ProcessTableTestCase(base.CloudTestCase):
    def test_a_process_is_itself(self):
        self.proc.add(7, argv=["nova-api"], start_time=5)
        identity = self.processes.identify(7)
        self.assertEqual((7, 5), (identity.pid, identity.start_time))
        self.assertTrue(self.processes.alive(identity))

    def test_a_number_used_again_is_another_process(self):
        self.proc.add(7, argv=["nova-api"], start_time=5)
        identity = self.processes.identify(7)
        self.proc.add(7, argv=["vi"], start_time=6)
        self.assertFalse(self.processes.alive(identity))

    def test_the_same_ticks_after_a_reboot_are_another_process(self):
        self.proc.add(7, argv=["nova-api"], start_time=5)
        identity = self.processes.identify(7)
        self.proc.reboot(fakes.BOOT_ID[::-1])
        self.assertFalse(self.processes.alive(identity))

    def test_a_zombie_is_dead(self):
        self.proc.add(7, argv=[], state="Z")
        self.assertIsNone(self.processes.identify(7))

    def test_nobody(self):
        self.assertIsNone(self.processes.identify(7))
        self.assertIsNone(self.processes.session(7))
        self.assertEqual([], self.processes.command_line(7))

    def test_details(self):
        self.proc.add(
            9, argv=["a", "b c"], session=7, environment={"X": "1=2"}
        )
        self.assertEqual([9], self.processes.pids())
        self.assertEqual(7, self.processes.session(9))
        self.assertEqual(["a", "b c"], self.processes.command_line(9))
        self.assertEqual("1=2", self.processes.environment(9)["X"])
