"""The contract of all readers of raw outputs.

A changed output is rejected in one line, or gives the same figures.
"""

import re
import unittest

import ddt

from rally_vmperf.runs.raw_outputs import reading
from rally_vmperf.workloads import base
from tests.unit.runs.raw_outputs import test_reading
from tests.unit.workloads import golden

#: Name -> the text of an output in text, and what is given with it.
OUTPUTS = {
    name: (golden.text(name), arguments)
    for name, (_, arguments) in test_reading.GOLDEN.items()
    if name.endswith(".txt")
} | {
    "h2load": (test_reading.H2LOAD, {}),
    "time": (test_reading.TIME.partition("$ time cp")[0], {}),
}
NUMBER = re.compile(r"(?<![\w.])[0-9]+(?:\.[0-9]+)?(?![\w.])")


def read(text, arguments):
    """Return the figures by metric, and unknown arguments by workload."""
    outputs = reading.read(reading.clean(text.encode()), "", arguments)
    figures = {
        (output.label, value.metric): value.value
        for output in outputs
        for samples in output.repetitions
        for value in samples
    }
    return figures, {
        output.workload: set(output.unknown) for output in outputs
    }


@ddt.ddt
class ContractTestCase(unittest.TestCase):
    def check(self, name, change, text):
        """Return the figures of a changed text; None if it is rejected."""
        try:
            return read(text, OUTPUTS[name][1])
        except base.WorkloadError as error:
            self.assertNotIn("\n", str(error), change)
            self.assertLess(len(str(error)), 400, change)
            return None

    def test_every_reader_of_text(self):
        """JSON has no lines that can be left out."""
        tools = {
            reading.recognise(reading.clean(text.encode())).tool
            for text, _ in OUTPUTS.values()
        }
        texts = {
            reader.tool
            for reader in reading.READERS.values()
            if reader.signature and reader.tool not in ("job", "iperf3")
        }
        self.assertEqual(texts - {"wget"}, tools)

    @ddt.data(*sorted(OUTPUTS))
    def test_line_left_out(self, name):
        """It was required, or no figure depends on it."""
        whole, unknown = read(*OUTPUTS[name])
        lines = OUTPUTS[name][0].splitlines(keepends=True)
        rejected = 0
        for number, line in enumerate(lines):
            text = "".join(lines[:number] + lines[number + 1 :])
            result = self.check(name, line, text)
            if result is None:
                rejected += 1
                continue
            figures, now_unknown = result
            for workload, names in now_unknown.items():
                self.assertLessEqual(unknown[workload], names, line)
            for key, figure in figures.items():
                self.assertEqual(whole.get(key), figure, (line, key))
        self.assertGreater(rejected, 0)

    @ddt.data(*sorted(OUTPUTS))
    def test_zero(self, name):
        """Only counts can be zero; a rate or a time is rejected."""
        text, _ = OUTPUTS[name]
        for match in NUMBER.finditer(text):
            zero = re.sub("[0-9]", "0", match[0])
            changed = text[: match.start()] + zero + text[match.end() :]
            result = self.check(name, match, changed)
            for (_, metric), figure in (result or ({}, {}))[0].items():
                if metric.scale != "count":
                    self.assertGreater(figure, 0, (match, metric.name))

    @ddt.data("ping-20221126-to_peer.txt", "h2load")
    def test_counts_of_zero_stay(self, name):
        figures, _ = read(*OUTPUTS[name])
        counts = [
            figure
            for (_, metric), figure in figures.items()
            if metric.scale == "count"
        ]
        self.assertEqual([0], counts)
