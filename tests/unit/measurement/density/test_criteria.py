import unittest

import ddt

from rally_vmperf import documents
from rally_vmperf.questions.density import question as density


@ddt.ddt
class ArgumentsTestCase(unittest.TestCase):
    """The schema alone checks the options of a criterion."""

    @ddt.data(
        {"levels": 0},
        {"levels": []},
        {"levels": "every"},
        {"levels": [2, True]},
        {"statistic": "best"},
        {"compare_to": "itself"},
        {"confidence": 1},
        {"on_inconclusive": "shrug"},
        {"tolerate": ["haunted"]},
    )
    def test_degradation(self, options):
        schema = density.DEGRADATION.schema
        options = {"max_percent": {"*": 5}, **options}
        (key,) = options.keys() - {"max_percent"}
        error = documents.first_error(schema, options)
        self.assertEqual(key, error.absolute_path[0])

    def test_one_guest_against_bare_metal(self):
        judge = density.DEGRADATION.parse(
            {"levels": 1, "compare_to": "bare_metal"}
        ).create_judge()
        self.assertEqual("void", judge.judgement().status)

    @ddt.data(0, 1.01, -1)
    def test_index(self, limit):
        error = documents.first_error(
            density.FAIRNESS.schema, {"min_index": {"x": limit}}
        )
        self.assertEqual(["min_index", "x"], [*error.absolute_path])
