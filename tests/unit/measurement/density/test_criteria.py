import unittest

import ddt

from rally_vmperf.measurement.density import judging


@ddt.ddt
class ArgumentsTestCase(unittest.TestCase):
    @ddt.data(
        ({"at": 1}, "^at names 1 guest, which loses nothing"),
        ({"at": 0}, "^at is 0, use every or numbers"),
        ({"at": []}, "^at is \\[\\], use every or numbers"),
        ({"at": "all"}, "^at is 'all', use every or numbers"),
        ({"at": [2, True]}, "use every or numbers"),
        ({"of": "best"}, "^of is 'best', use mean or worst"),
        ({"against": "itself"}, "use one_guest or bare_metal"),
        ({"confidence": 1}, "^confidence is 1"),
        ({"on_inconclusive": "shrug"}, "use fail or pass"),
        ({"tolerate": ["haunted"]}, "^Unknown kind"),
        ({"max_percent": {"*": float("nan")}}, "^Limit"),
    )
    @ddt.unpack
    def test_degradation(self, arguments, message):
        with self.assertRaisesRegex(ValueError, message):
            judging.DegradationJudge(**{"max_percent": {}, **arguments})

    def test_one_guest_against_bare_metal(self):
        judge = judging.DegradationJudge({}, at=1, against="bare_metal")
        self.assertEqual("void", judge.judgement().status)

    @ddt.data(0, 1.01, -1)
    def test_index(self, limit):
        with self.assertRaisesRegex(ValueError, "^min_index 'x' is "):
            judging.FairnessJudge({"x": limit})
