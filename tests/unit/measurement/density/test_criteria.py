import unittest

import ddt

from rally_vmperf.questions.density import question as density


@ddt.ddt
class ArgumentsTestCase(unittest.TestCase):
    @ddt.data(
        ({"levels": 1}, "^levels=1: one guest loses nothing"),
        ({"levels": 0}, "^levels=0: must be all, or integers"),
        ({"levels": []}, r"^levels=\[\]: must be all, or integers"),
        ({"levels": "every"}, "^levels='every': must be all"),
        ({"levels": [2, True]}, "must be all, or integers"),
        ({"statistic": "best"}, "^statistic='best': must be mean or worst"),
        ({"compare_to": "itself"}, "must be solo_guest or bare_metal"),
        ({"confidence": 1}, "confidence=1: must be"),
        ({"on_inconclusive": "shrug"}, "must be fail or pass"),
        ({"tolerate": ["haunted"]}, "^Unknown kind"),
    )
    @ddt.unpack
    def test_degradation(self, arguments, message):
        with self.assertRaisesRegex(ValueError, message):
            density.DEGRADATION.parse(arguments).create_judge()

    def test_one_guest_against_bare_metal(self):
        judge = density.DEGRADATION.parse(
            {"levels": 1, "compare_to": "bare_metal"}
        ).create_judge()
        self.assertEqual("void", judge.judgement().status)

    @ddt.data(0, 1.01, -1)
    def test_index(self, limit):
        with self.assertRaisesRegex(
            ValueError, "^min_index 'x'=.*: must be > 0 and <= 1$"
        ):
            density.FAIRNESS.parse({"min_index": {"x": limit}}).create_judge()
