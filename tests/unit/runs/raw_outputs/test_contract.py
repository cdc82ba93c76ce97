# SPDX-License-Identifier: Apache-2.0
"""The contract of all readers of raw outputs.

A changed output is rejected in one line, or gives the same figures.
"""

import json
import math
import re
import unittest

import ddt

from rally_vmperf.runs.raw_outputs import cleaning
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
    "wget": (test_reading.WGET, {}),
    "wget-ftp": (test_reading.WGET_FTP, {}),
    "fio": ((test_reading.DATA / "fio-text-3.19.txt").read_text(), {}),
    "iperf3": ((test_reading.DATA / "iperf3-table-3.9.txt").read_text(), {}),
    "time": (test_reading.TIME.partition("$ time cp")[0], {}),
}
#: Name -> the text of an output in JSON.
DOCUMENTS = {
    name: golden.text(name)
    for name in test_reading.GOLDEN
    if name.endswith(".json")
}
NUMBER = re.compile(r"(?<![\w.])[0-9]+(?:\.[0-9]+)?(?![\w.])")


def read(text, arguments):
    """Return the figures by metric, and unknown arguments by workload."""
    outputs = reading.read(cleaning.clean(text.encode()), "", arguments)
    figures = {
        (output.label, value.metric): value.value
        for output in outputs
        for samples in output.repetitions
        for value in samples
    }
    return figures, {
        output.workload: set(output.unknown) for output in outputs
    }


class Checked(unittest.TestCase):
    def check(self, name, change, text):
        """Return the figures of a changed text; None if it is rejected."""
        try:
            return read(text, OUTPUTS.get(name, ("", {}))[1])
        except base.WorkloadError as error:
            self.assertNotIn("\n", str(error), change)
            self.assertLess(len(str(error)), 400, change)
            return None


@ddt.ddt
class ContractTestCase(Checked):
    def test_every_reader(self):
        """JSON has keys in place of lines, which DOCUMENTS tests."""
        tools = {
            reading.recognise(cleaning.clean(text.encode())).tool
            for text, _ in OUTPUTS.values()
        }
        texts = {
            reader.tool
            for reader in reading.READERS.values()
            if reader.signature and reader.tool != "job"
        }
        self.assertEqual(texts, tools)
        tools = {reading.recognise(text).tool for text in DOCUMENTS.values()}
        documents = {
            reader.tool
            for reader in reading.READERS.values()
            if reader.json_texts
        }
        self.assertEqual(documents, tools)

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
                if " rw=randread, " in line:
                    # Without its options, fio states only the direction.
                    key = next(
                        other
                        for other in whole
                        if other[1].name
                        == key[1].name.replace(".read.", ".randread.")
                    )
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


def list_paths(document, path=()):
    """Yield the path of each value in a document, of containers, too."""
    if path:
        yield path
    pairs = ()
    if isinstance(document, dict):
        pairs = document.items()
    elif isinstance(document, list):
        # The elements of a list have one form.
        pairs = enumerate(document[:1])
    for key, content in pairs:
        yield from list_paths(content, (*path, key))


def find(document, path):
    """Return the value at a path."""
    for key in path:
        document = document[key]
    return document


@ddt.ddt
class DocumentTestCase(Checked):
    """The same contract for keys of JSON in place of lines of text."""

    def changed(self, name, change):
        """Yield each path, and the result of the document with a change."""
        last = golden.last(DOCUMENTS[name])
        for path in list_paths(json.loads(last)):
            document = json.loads(last)
            if change(find(document, path[:-1]), path[-1]):
                text = json.dumps(document)
                yield path, self.check(name, path, text)

    @ddt.data(*sorted(DOCUMENTS))
    def test_key_left_out(self, name):
        def leave_out(container, key):
            del container[key]
            return True

        whole, unknown = read(golden.last(DOCUMENTS[name]), {})
        rejected = 0
        for path, result in self.changed(name, leave_out):
            if result is None:
                rejected += 1
                continue
            figures, now_unknown = result
            for workload, names in now_unknown.items():
                self.assertLessEqual(unknown[workload], names, path)
            for key, figure in figures.items():
                rights = [whole[key]] if key in whole else whole.values()
                if key not in whole:
                    # Without its options, fio states only the direction.
                    self.assertIn(path[2:3], [("job options",)], key)
                self.assertTrue(
                    any(
                        math.isclose(right, figure, rel_tol=1e-3)
                        for right in rights
                    ),
                    (path, key, figure),
                )
        self.assertGreater(rejected, 0)

    @ddt.data(*sorted(DOCUMENTS))
    def test_zero_in_a_document(self, name):
        def set_zero(container, key):
            is_number = type(container[key]) in (int, float)
            if is_number:
                container[key] = type(container[key])(0)
            return is_number

        for path, result in self.changed(name, set_zero):
            for (_, metric), figure in (result or ({}, {}))[0].items():
                if metric.scale != "count":
                    self.assertGreater(figure, 0, (path, metric.name))


SYSBENCH_OTHER = """\
sysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)

Running the test with following options:
Number of threads: 1

General statistics:
    total time:                          10.0011s
    total number of events:              3170

Threads fairness:
    events (avg/stddev):           3170.0000/0.00
    execution time (avg/stddev):   9.9950/0.00
"""
OPENSSL_RSA = """\
Doing 2048 bits private rsa's for 10s: 15000 2048 bits private RSA's in 9.98s
version: 3.0.19
                  sign    verify    sign/s verify/s
rsa 2048 bits 0.000665s 0.000020s   1503.0  50213.7
"""
SOCKPERF_THROUGHPUT = """\
sockperf: == version #3.7-no.git ==
sockperf: [Total Run] RunTime=1.000 sec; SentMessages=500000; \
ReceivedMessages=0
sockperf: Summary: Message Rate is 499000 [msg/sec]
sockperf: Summary: BandWidth is 6.66 MBps (53.3 Mbps)
"""


@ddt.ddt
class OtherTestCase(Checked):
    """Other tests of the same tools are no figures of the known ones."""

    @ddt.data(
        (SYSBENCH_OTHER, "sysbench: only the tests cpu and memory are read"),
        (
            OPENSSL_RSA,
            "openssl: rsa 2048 bits has operations of keys, and only bytes "
            "per second are read; give an output of a cipher or digest",
        ),
        (SOCKPERF_THROUGHPUT, "sockperf: only ping-pong is read"),
        (
            json.dumps({"fio version": "3", "jobs": [{"trim": {"iops": 1}}]}),
            "fio: did not do any I/O",
        ),
        (
            json.dumps({"profiles": {"DB12": {"score": 1}}, "hepscore": 1}),
            "hepscore: the JSON has no score",
        ),
    )
    @ddt.unpack
    def test_another_test(self, text, message):
        with self.assertRaisesRegex(base.WorkloadError, f"^{message}"):
            read(text, {})

    def test_memory_against_cpu(self):
        """The tests of sysbench have no metric in common."""
        cpu, memory = (
            read(golden.text(name), {})
            for name in (
                "sysbench-1.0.20-cpu.txt",
                "sysbench_memory-1.0.20-read.txt",
            )
        )
        self.assertEqual(["sysbench"], [*cpu[1]])
        self.assertEqual(["sysbench_memory"], [*memory[1]])
        self.assertFalse(cpu[0].keys() & memory[0].keys())

    def test_algorithms_of_openssl(self):
        """A row that is left out does not change the others."""
        header = "type             16 bytes     64 bytes\n"
        rows = (
            "md5              41824.51k   124110.46k\n",
            "sha256           64023.12k   154110.46k\n",
        )
        start = "The 'numbers' are in 1000s of bytes per second processed.\n"
        whole, _ = read(f"{start}{header}{''.join(rows)}", {})
        self.assertEqual(4, len(whole))
        for row in rows:
            figures, _ = read(f"{start}{header}{row}", {})
            self.assertEqual(2, len(figures))
            self.assertLessEqual(figures.items(), whole.items())

    def test_unixbench_without_its_index(self):
        """The rates are the same, and there is no index."""
        text = golden.text("unixbench-6.0.0.txt")
        text = text.replace(" (Partial Only)", "")
        whole, _ = read(text, {})
        without = re.sub("(?m)^System Benchmarks Index Score.*\n", "", text)
        figures, _ = read(without, {})
        lost = {metric.name for _, metric in whole.keys() - figures.keys()}
        self.assertEqual({"application.unixbench.index"}, lost)
        self.assertLess(figures.items(), whole.items())
