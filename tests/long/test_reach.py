"""Other ways to guests on a private network."""

from tests.functional import test_reach
from tests.long import long


@long.LONG
class TestNamespace(test_reach.ReachCase):
    """Out of a network namespace of this machine."""

    def test_out_of_a_namespace(self):
        """The router's namespace has a way to the guest."""
        self.check(
            {"namespace": self.namespace}, f" in namespace {self.namespace}"
        )
