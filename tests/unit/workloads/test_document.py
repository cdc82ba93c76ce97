# SPDX-License-Identifier: Apache-2.0
import unittest

import ddt

from rally_vmperf.workloads import base
from rally_vmperf.workloads import document


@ddt.ddt
class DocumentTestCase(unittest.TestCase):
    @ddt.data(
        '{"a": [{"b": 2.5}]}',
        'note: a {warning}\nfio: more\n{"a": [{"b": 2.5}]}\n',
        '{"a": [{"b": 2.5}]}\nfio: terminating\n',
    )
    def test_object_is_found_among_warnings(self, text):
        parsed = document.Document(text, "fio")
        self.assertEqual(2.5, parsed.number("a", 0, "b"))

    @ddt.data(
        "",
        "no JSON",
        "{",
        '{"a": NaN}',
        '{"a": Infinity}',
        '{"a": ' + "9" * 5000 + "}",
        '{"a": ' + "[" * 100000,
    )
    def test_other_texts_are_rejected(self, text):
        with self.assertRaisesRegex(
            base.WorkloadError, "^fio printed .* instead of valid JSON"
        ):
            document.Document(text, "fio")

    def test_one_after_another(self):
        text = 'note: x\n{"a": 1}\n{\n"a": 2\n}\n\nwarning\n{"a": 3}\nend\n'
        documents = document.Document.parse_all(text, "fio")
        self.assertEqual(
            [1, 2, 3], [parsed.number("a") for parsed in documents]
        )

    @ddt.data('{"a": 2}', '{"a": 1}\n{"a": 2}\n', '{}{"a": 2} \n')
    def test_the_last_of_several(self, text):
        last = document.Document.parse_last(text, "iperf3")
        self.assertEqual(2, last.number("a"))

    @ddt.data('{"a": 1}\nend\n', '{"a": 1}\nend\n{"a": 2}\n', "{}{}]")
    def test_no_text_before_the_last_and_after_it(self, text):
        with self.assertRaisesRegex(
            base.WorkloadError, "^iperf3 printed text after its result"
        ):
            document.Document.parse_last(text, "iperf3")

    @ddt.data("", "no JSON", '{"a": 1}\n{"a": ')
    def test_each_must_be_readable(self, text):
        with self.assertRaisesRegex(
            base.WorkloadError, "^fio printed .* instead of valid JSON"
        ):
            document.Document.parse_all(text, "fio")

    @ddt.data('"1"', "true", "null", "[]", "{}", "1" + "0" * 400, "1e999")
    def test_a_value_that_is_not_a_number_is_rejected(self, value):
        parsed = document.Document(f'{{"a": {value}}}', "fio")
        with self.assertRaisesRegex(base.WorkloadError, "^fio: a must be"):
            parsed.number("a")

    def test_missing_number_is_named(self):
        with self.assertRaisesRegex(
            base.WorkloadError, "jobs.0.error must .* is missing; look"
        ):
            document.Document('{"jobs": []}', "fio").number("jobs", 0, "error")

    def test_view_has_paths_of_its_part(self):
        text = '{"jobs": [{"a": 1, "b": 2, "c": {"d": "x"}, "e": [3]}]}'
        job = document.Document(text, "fio").at("jobs", 0)
        self.assertEqual([1, 2], job.numbers("a", "b"))
        self.assertEqual([3], job.at("e").numbers(0))
        self.assertEqual({"d": "x"}, job.mapping("c"))
        self.assertEqual([3], job.array("e"))
        self.assertEqual(({}, []), (job.mapping("e"), job.array("c")))
        with self.assertRaisesRegex(
            base.WorkloadError, "^fio: jobs.0.c.d must be a finite number"
        ):
            job.number("c", "d")
