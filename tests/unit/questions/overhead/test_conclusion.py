# SPDX-License-Identifier: Apache-2.0
"""Tests of the sentence on each class of metrics."""

import unittest

import ddt

from rally_vmperf.questions.overhead import conclusion
from rally_vmperf.questions.overhead import question
from rally_vmperf.runs.raw_outputs import imported
from rally_vmperf.runs.raw_outputs import raw
from rally_vmperf.workloads.cpu import openssl

#: The rates of repetitions, which vary by 5 %.
_SPREAD = (0.95, 1.0, 1.0 / 0.95)


def conclude(**losses):
    """Return the sentences on openssl.

    :param losses: The loss of the guest in percent, by label.
    """
    sides = [
        [
            raw.RawOutput(
                workload="openssl",
                arguments={},
                repetitions=tuple(
                    raw.create_samples(
                        {openssl.RATE: factor * (100 - side * loss) * 1e6}
                    )
                    for factor in _SPREAD
                ),
                label=label,
            )
            for label, loss in losses.items()
        ]
        for side in (0, 1)
    ]
    # Without labels, a baseline has one output of each tool.
    baseline = imported.build_baseline("b", "m", sides[0][:1], {})
    repetitions, _ = imported.build_repetitions(baseline, sides[1], {})
    judge = question.OVERHEAD.parse({}).create_judge()
    for repetition in repetitions:
        judge.add(repetition)
    return conclusion.conclude(judge.judgement())


@ddt.ddt
class TestConclusion(unittest.TestCase):
    """A gain is not a negative loss."""

    @ddt.data(
        ({"a": 3}, "loses 3.0 % (cpu.openssl.a.rate), in 1 of 1 figure."),
        ({"a": -1.1}, "gains 1.1 % (cpu.openssl.a.rate), in 1 of 1 figure."),
        ({"a": -0.01}, "loses 0.0 % (cpu.openssl.a.rate), in 1 of 1 figure."),
        (
            {"a": 3, "b": -1.1},
            "loses 3.0 % (cpu.openssl.a.rate) at most and gains 1.1 % "
            "(cpu.openssl.b.rate) at most, in 2 of 2 figures.",
        ),
        (
            {"a": -1.1, "b": -2},
            "gains 2.0 % (cpu.openssl.b.rate) at most and 1.1 % at least, in "
            "2 of 2 figures.",
        ),
        (
            {"a": 3, "b": 1},
            "loses 3.0 % (cpu.openssl.a.rate) at most and 1.0 % at least, in "
            "2 of 2 figures.",
        ),
    )
    @ddt.unpack
    def test_sentence(self, losses, sentence):
        self.assertEqual([f"CPU: the guest {sentence}"], conclude(**losses))
