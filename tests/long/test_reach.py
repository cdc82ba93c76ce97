# SPDX-License-Identifier: Apache-2.0
"""Guests on a private network, out of a network namespace."""

from tests import patience
from tests.functional import breakage
from tests.functional import jump_host
from tests.functional import laboratory
from tests.long import long

SHORT = laboratory.TASKS / "short.yaml"


@long.LONG
class TestNamespace(laboratory.Case):
    """Out of a network namespace, which the host is given."""

    def test_out_of_a_namespace(self):
        """The router's namespace has a way to the guest."""
        lab = self.laboratory
        lab.record_baseline(
            "short", "--task", str(SHORT), "--flavor", "vmperf.tiny"
        )
        lab.use("member")
        namespace = self.enterContext(
            breakage.attached(jump_host.namespace(lab.admin))
        )
        before = lab.journals()
        with lab.started(
            SHORT, network="private", guest_options={"namespace": namespace}
        ) as process:
            process.wait(patience.seconds(300))
        output = process.log.read_text()
        self.assertEqual(0, process.returncode, output[-3000:])
        self.assertIn(f" in namespace {namespace} after", output)
        (path,) = lab.journals() - before
        records = lab.records(path)
        self.assertEqual(
            ["complete"] * 3, [record.repetition.state for record in records]
        )
        lab.check_reached(records[0])
