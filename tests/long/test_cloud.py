"""The embedded cloud mends what is commonly broken."""

from tests.functional import breakage as d
from tests.functional import recovering
from tests.long import long


@long.LONG
class TestRecovery(recovering.Case):
    """``cloud up`` after damage."""

    def test_services_and_the_peer(self):
        """What has ended is started, what is gone is recreated, and said."""
        d.end("glance", "nova-scheduler")
        d.run("ip", "netns", "delete", "vmperf-peer")
        d.remove("clouds.yaml")
        shown = d.run(*d.COMMAND, "status", *d.ROOT)
        for trouble in ("has ended", "namespace vmperf-peer is gone"):
            self.assertIn(trouble, shown)
        self.repaired(
            "glance has ended; restarted",
            "nova-scheduler has ended; restarted",
            "namespace vmperf-peer is gone; put right",
            "clouds.yaml is gone or empty; rewritten",
        )
        self.nothing_more()
