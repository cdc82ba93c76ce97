"""Real guests that are paused or stopped while others measure."""

import ddt

from rally_vmperf.measurement import finding
from rally_vmperf.records import codec
from tests import patience
from tests.functional import laboratory
from tests.functional import test_density
from tests.long import long


@long.LONG
@ddt.ddt
class TestOthers(test_density.DensityCase):
    """The second guest rests in the first level, and wakes for the next."""

    @ddt.data(("paused", "PAUSED", "unpause"), ("stopped", "SHUTOFF", "start"))
    @ddt.unpack
    def test_others(self, others, status, wake):
        """Both levels are whole, and the boot between them is no finding."""
        lab = self.laboratory
        lab.use("member")
        known = lab.journals()
        with lab.started(
            test_density.TASK,
            levels=[1, 2],
            count=2,
            times=1,
            others=others,
            workloads=[{"name": "sysbench", "arguments": {"time": 1}}],
        ) as process:
            laboratory.wait_for(
                f"one guest {status} in the level of one guest",
                lambda: status in self._statuses(),
            )
            code = process.wait(patience.seconds(400))
            text = process.log.read_text()
        self.assertEqual(0, code, text[-4000:])
        self.assertIn(f"{wake} g2", text)
        (path,) = lab.journals() - known
        (record,) = lab.records(path)
        self.assertEqual(
            ("complete", others),
            (record["state"], record["options"]["others"]),
        )
        for level in codec.decode(record).conditions:
            self.assertEqual("complete", level.state)
            self.assertEqual(
                set(level.machines),
                {one.source for one in level.observations},
            )
        self.assertEqual([], self._void(record))

    def _statuses(self):
        servers = self.laboratory.admin.compute.servers(all_projects=True)
        return [server.status for server in servers]

    def _void(self, record):
        """Return what makes the record void, but for short runs."""
        found = [
            *record["findings"],
            *(
                one
                for level in record["conditions"]
                for one in level["findings"]
            ),
        ]
        return [
            one
            for one in found
            if finding.KINDS[one["kind"]].severity == "void"
            and one["kind"] not in test_density.TOLERATED
        ]
