# SPDX-License-Identifier: Apache-2.0
"""No text makes a search or a parser slow, however it is repeated."""

import contextlib
import pathlib
import unittest
from unittest import mock

import ddt

from rally_vmperf import errors
from rally_vmperf.guests import console
from rally_vmperf.machines import job
from rally_vmperf.runs.raw_outputs import cleaning
from rally_vmperf.runs.raw_outputs import reading
from tests.unit import listing
from tests.unit.hostile import pumps
from tests.unit.workloads import golden

RAW = pathlib.Path(__file__).parents[1] / "runs" / "raw_outputs" / "data"
#: Tool -> one of its raw outputs.
RAW_OUTPUTS = {
    path.name.partition("-")[0]: path for path in sorted(RAW.glob("*.txt"))
}
PATTERNS, BUILT = pumps.list_patterns()
#: Patterns that are built at run time; parsers below search with those that
#: see outputs. The others see names and options of the operator.
EXPECTED_BUILT = {
    "rally_vmperf.execution.assignment: _LABEL",
    # Whole texts in documents, each with a pattern of one class.
    "rally_vmperf.formats: pattern",
    "rally_vmperf.guests.cleanup.ownership: pattern",
    "rally_vmperf.guests.console: pattern",
    "rally_vmperf.machines.fingerprint: pattern",
    "rally_vmperf.runs.raw_outputs.processor: "
    "f'^AVG\\\\s+Method: {method.upper()}\\\\s'",
    "rally_vmperf.runs.raw_outputs.processor: "
    "f'^[0-9]+\\\\s+Method: {methods[0].upper()}\\\\s'",
    "rally_vmperf.workloads.application.job: metric['pattern']",
}
#: Parts that are repeated between the lines of an output.
TEXT_UNITS = ("\n", ">", " " * 4000 + "\n", "0 " * 2000 + "\n")
JSON_UNITS = (" ", "\n", "9", "[", '{"a":', "{}\n", "0,", '"', "\\u0000")


def _parse(name, text):
    """Let a workload parse the output of its first command."""
    run = golden.RUNS[name]
    workload = golden.workload(name)
    arguments = workload.complete(run.arguments)
    command = next(iter(run.files))
    result = golden.outcome(command, seconds=60.0, **{run.stream: text})
    with contextlib.suppress(errors.VMPerfError, ValueError):
        workload.parse_all(arguments, {command: result})
    if not workload.OUTPUT_BOUNDS.describe_excess(result):
        for read in (workload.progress, workload.work_done):
            with contextlib.suppress(errors.VMPerfError, ValueError):
                read(arguments, result)


def _read(content):
    """Read a raw output as ``judge --raw`` does."""
    with contextlib.suppress(errors.VMPerfError):
        reading.read(cleaning.clean(content))


def _insertions(text, units):
    """Yield functions of a length, which return a text with a pump inside.

    Each line of another form is repeated, and each unit is before it.
    """
    forms = set()
    lines = text.splitlines(keepends=True)
    for number, line in enumerate(lines):
        form = line.translate(dict.fromkeys(map(ord, "0123456789"), "0"))
        if form in forms:
            continue
        forms.add(form)
        before, after = "".join(lines[:number]), "".join(lines[number:])
        for unit in (line, *units) if len(line) < 4000 else units:
            yield (
                lambda length, unit=unit, before=before, after=after: (
                    before
                    + (unit * (length // len(unit) + 1))[:length]
                    + after
                )
            )


@ddt.ddt
class GrowthTestCase(unittest.TestCase):
    """The growth of a function whose time is known."""

    @ddt.data(
        (1e-5, 1, 4.0),
        (1e-9, 2, 16.0),
        (1e-13, 3, 64.0),
        # Times below are noise, even if they grow with the square.
        (1e-8, 1, 1.0),
        (1e-12, 2, 1.0),
    )
    @ddt.unpack
    def test_growth(self, seconds, power, ratio):
        with mock.patch.object(
            pumps,
            "_measure",
            autospec=True,
            side_effect=lambda function, text: seconds * len(text) ** power,
        ):
            result = pumps.growth(len, lambda length: "x" * length)
        self.assertAlmostEqual(ratio, result)

    def test_noise_of_the_first_measurement(self):
        """Other processes that disturb one measurement are no growth."""
        times = iter((0.1, 5.0, 0.4, 0.1, 9.0, 0.1, 0.4, 0.1))
        with mock.patch.object(
            pumps,
            "_measure",
            autospec=True,
            side_effect=lambda *_: next(times),
        ):
            result = pumps.growth(len, lambda length: "x" * length)
        self.assertAlmostEqual(4.0, result)


class PatternTestCase(unittest.TestCase):
    def test_every_pattern_is_found(self):
        listing.check(
            self,
            EXPECTED_BUILT,
            BUILT,
            "EXPECTED_BUILT in tests/unit/hostile/test_pumps.py",
            "use a constant pattern, whose time is tested; add it to the "
            "list if it must be built at run time, and a guest has no part "
            "in the pattern",
        )
        self.assertGreater(len(PATTERNS), 150)

    def test_time_of_every_pattern_grows_with_the_length(self):
        for usage in PATTERNS:
            for before, unit in pumps.list_pumps(usage.pattern):
                with self.subTest(usage.place, before=before, unit=unit):
                    ratio = pumps.growth(
                        usage.search,
                        lambda length, before=before, unit=unit: pumps.pump(
                            before, unit, length
                        ),
                    )
                    message = (
                        f"{usage.place}: the time grows with the square of "
                        "the length; limit repetitions, as in {1,80}, and "
                        "let neighbouring parts share no character"
                    )
                    self.assertLessEqual(ratio, pumps.RATIO, message)


@ddt.ddt
class ParserTestCase(unittest.TestCase):
    def _check(self, function, builds):
        for number, build in enumerate(builds):
            ratio = pumps.growth(function, build)
            text = build(40)
            self.assertLessEqual(ratio, pumps.RATIO, (number, text[:2000]))

    @ddt.data(*sorted(golden.RUNS))
    def test_workload(self, name):
        text = golden.text(next(iter(golden.RUNS[name].files.values())))
        units = TEXT_UNITS
        if golden.workload(name).OUTPUT_BOUNDS.format == "json":
            text, units = text[:1500], JSON_UNITS
        self._check(
            lambda pumped: _parse(name, pumped), _insertions(text, units)
        )

    @ddt.data(*RAW_OUTPUTS)
    def test_raw_output(self, tool):
        text = RAW_OUTPUTS[tool].read_bytes().decode("utf-8", "replace")
        self._check(
            lambda pumped: _read(pumped.encode()),
            _insertions(text[:1500], TEXT_UNITS),
        )

    @ddt.data("", '{"fio version": "fio-3.33", "jobs": [', '{"end": {')
    def test_raw_document(self, beginning):
        for unit in JSON_UNITS:
            self._check(
                lambda pumped: _read(pumped.encode()),
                [
                    lambda length, unit=unit: pumps.pump(
                        beginning, unit, length
                    )
                ],
            )

    @ddt.data(
        console.find_hints,
        console.has_booted,
        console.read_keys,
        console.sanitise,
        job.parse_fields,
    )
    def test_other_text(self, function):
        for unit in (
            *("\n", " ", "a", "a=", "\x1b[", "\x1b]", "Failed to start "),
            *("cloud-init[1]: ", "Cloud-init v. ", "ssh-rsa AAAA"),
            *("-----BEGIN SSH HOST KEY KEYS-----", "ssh-ed25519 "),
            "-----END SSH HOST KEY KEYS-----",
        ):
            self._check(
                function,
                [lambda length, unit=unit: pumps.pump("", unit, length)],
            )


class BoundsTestCase(unittest.TestCase):
    """Bounds are checked before patterns, for guests and for raw outputs."""

    def test_spaces_of_a_guest(self):
        """A guest's report with 80,000 spaces stopped all guests for 16 s."""
        text = golden.text("unixbench-6.0.0.txt")
        result = golden.outcome("unixbench", f"{text}0{' ' * 80_000}")
        workload = golden.workload("unixbench")
        with self.assertRaisesRegex(
            errors.VMPerfError,
            "^command unixbench printed more than 4096 characters in line "
            r"[0-9]+$",
        ):
            workload.parse_all(workload.complete({}), {"unixbench": result})

    def test_line_of_a_raw_output(self):
        for content in (b" " * 5000, b"> " * 2049, b"x" * 4097):
            text = cleaning.clean(b"dd\n" + content)
            with self.assertRaisesRegex(
                errors.VMPerfError, "^line 2 has more than 4096 characters"
            ):
                reading.read(text)

    def test_progress_in_one_line(self):
        """A line that overwrote itself is not a long one."""
        text = b"1 byte copied, 1 s, 1 B/s\r" * 1000 + b"\n"
        self.assertEqual("1 byte copied, 1 s, 1 B/s\n", cleaning.clean(text))

    def test_levels_of_quotation(self):
        self.assertEqual("x\n", cleaning.clean(b"> > > > x\n"))
        with self.assertRaisesRegex(
            errors.VMPerfError, "^the output is quoted more than 4 times"
        ):
            cleaning.clean(b">>>>> x\n")

    def test_json_in_one_line(self):
        text = golden.text("hepscore-layout.json")
        self.assertGreater(max(map(len, text.split("\n"))), 4096)
        (output,) = reading.read(cleaning.clean(text.encode()))
        self.assertEqual("hepscore", output.workload)

    def test_depth_and_number_of_values(self):
        deep = '{"a":' * 70 + "1" + "}" * 70
        with self.assertRaisesRegex(errors.VMPerfError, "fio printed"):
            workload = golden.workload("fio")
            result = golden.outcome("randread", deep)
            workload.parse_all(workload.complete({}), {"randread": result})
        with self.assertRaisesRegex(errors.VMPerfError, "too many levels"):
            reading.read(deep, "fio")
        many = '{"a": [' + "1," * 500_001 + "1]}"
        result = golden.outcome("randread", many)
        with self.assertRaisesRegex(
            errors.VMPerfError, "printed more than 500000 values"
        ):
            workload.parse_all(workload.complete({}), {"randread": result})
        with self.assertRaisesRegex(
            errors.VMPerfError, "fio: the JSON has more than 500000 values"
        ):
            reading.read(many, "fio")
