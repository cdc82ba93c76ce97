# SPDX-License-Identifier: Apache-2.0
"""Any output of a machine is parsed or rejected, without other effects."""

import contextlib
import json
import unittest

import hypothesis
import hypothesis.strategies as st

from rally_vmperf.workloads import base
from rally_vmperf.workloads import registry
from tests.unit import listing
from tests.unit.workloads import golden

RUNS = golden.RUNS
#: Runs of tools that print JSON, and of those that print anything else.
JSON = [
    name
    for name, run in RUNS.items()
    if golden.text(next(iter(run.files.values()))).startswith("{")
]
TABLES = sorted(set(RUNS) - set(JSON))

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.text(max_size=3), inner, max_size=2)
    ),
    max_leaves=4,
)

WORDS = st.sampled_from(
    [
        "",
        "0",
        "-1",
        "nan",
        "inf",
        "1e999",
        "AVG",
        "Method:",
        ":",
        "\0",
        "9" * 60,
    ]
) | st.text(max_size=8)


def _check_message(message):
    assert message.isprintable()
    assert len(message) < 600


def _read(name, texts):
    """Parse; every error but WorkloadError fails the test."""
    workload = golden.workload(name)
    arguments = workload.complete(RUNS[name].arguments)
    outcomes = {
        command: golden.outcome(command, **{RUNS[name].stream: text})
        for command, text in texts.items()
    }
    try:
        samples = workload.parse_all(arguments, outcomes)
    except base.WorkloadError as error:
        _check_message(str(error))
        return
    for outcome in outcomes.values():
        with contextlib.suppress(base.WorkloadError):
            workload.progress(arguments, outcome)
        with contextlib.suppress(base.WorkloadError):
            workload.work_done(arguments, outcome)
    metrics = workload.metrics(arguments)
    assert all(s.metric in metrics for s in golden.values(samples))


def _places(node):
    """Return every container of a document with each of its keys."""
    keys = ()
    if isinstance(node, dict):
        keys = tuple(node)
    elif isinstance(node, list):
        keys = range(len(node))
    for key in keys:
        yield node, key
        yield from _places(node[key])


def _first(name):
    """Return the first command of a run, and what it printed."""
    command, file = next(iter(RUNS[name].files.items()))
    return command, golden.text(file)


class UntrustedOutputTestCase(unittest.TestCase):
    def test_every_workload_has_a_recorded_run(self):
        names = {golden.workload(name).name for name in RUNS}
        listing.check(
            self,
            names,
            golden.MEASURED,
            "tests/unit/workloads/data",
            "save an output of the tool there, and <workload>.yaml with the "
            "arguments and the name of the file for each command",
        )

    @hypothesis.given(st.sampled_from(sorted(RUNS)), st.text())
    def test_any_text(self, name, text):
        _read(name, dict.fromkeys(RUNS[name].files, text))

    @hypothesis.given(st.text(), st.integers(0, 255))
    def test_any_text_as_facts(self, text, status):
        for name in registry.workload_names():
            workload = registry.get_workload(name)
            arguments = workload.complete({})
            outcomes = {
                step.name: golden.outcome(step.name, text, exit_status=status)
                for step in workload.prepare(arguments)
            }
            try:
                workload.facts(arguments, outcomes)
            except base.WorkloadError as error:
                _check_message(str(error))

    @hypothesis.given(st.sampled_from(TABLES), st.integers(0, 10**6), WORDS)
    def test_table_with_another_word(self, name, at, word):
        command, whole = _first(name)
        tokens = whole.split(" ")
        tokens[at % len(tokens)] = word
        _read(name, {command: " ".join(tokens)})

    @hypothesis.given(
        st.sampled_from(sorted(RUNS)),
        st.integers(0, 10**6),
        st.integers(0, 100),
        st.text(max_size=20),
    )
    def test_golden_with_a_splice(self, name, at, length, text):
        command, whole = _first(name)
        at %= len(whole) + 1
        _read(name, {command: whole[:at] + text + whole[at + length :]})

    @hypothesis.given(
        st.sampled_from(JSON),
        st.integers(0, 10**6),
        VALUES,
    )
    @hypothesis.example(name="iperf3-udp", at=4248, value=[None])
    def test_json_with_another_value(self, name, at, value):
        command, whole = _first(name)
        document = json.loads(golden.last(whole))
        places = list(_places(document))
        container, key = places[at % len(places)]
        container[key] = value
        _read(name, {command: json.dumps(document)})

    @hypothesis.given(
        st.sampled_from(
            ["jitter_ms", "lost_packets", "packets", "bits_per_second"]
        ),
        st.sampled_from([-1, 0, 1801, 1e9, 1e308, -1e308, 5e-324, 2**64 - 863])
        | st.floats(),
    )
    def test_datagrams_of_any_number(self, key, value):
        """Rate, jitter and loss are what can be, or there are none."""
        document = json.loads(golden.text("iperf3-3.12-udp-loss.json"))
        document["end"]["sum_received"][key] = value
        _read("iperf3-udp", {"to_peer-udp": json.dumps(document)})

    def test_deep_json(self):
        for name in JSON:
            for depth in (900, 990, 100000):
                deep = '{"jobs":' + "[" * depth + "]" * depth + "}"
                _read(name, dict.fromkeys(RUNS[name].files, deep))

    def test_endless_output(self):
        for name in RUNS:
            _read(name, dict.fromkeys(RUNS[name].files, "0:" * (1 << 20)))
