import unittest

from rally_vmperf.machines import base
from rally_vmperf.machines import job_result
from rally_vmperf.measurement import command_result

GOOD = {
    "exit": "3",
    "started": "1000.5",
    "ended": "1010.5",
    "before": "1000.5",
    "after": "1010.5",
    "up": "50.00",
    "up_ended": "60.00",
    "user": "1.250",
    "system": "0.125",
}


def _read(**changes):
    facts = {**GOOD, **changes}
    header = " ".join(f"{key}={value}" for key, value in facts.items())
    return job_result.parse_result("g1", "fio", header)


class AccountTestCase(unittest.TestCase):
    def test_a_good_one(self):
        self.assertEqual(
            command_result.CommandResult(
                name="fio",
                exit_status=3,
                seconds=10,
                started=1000.5,
                ended=1010.5,
                user=1.25,
                system=0.125,
                stdout="",
                stderr="",
            ),
            _read(),
        )

    def test_invalid_accounts(self):
        for key in GOOD:
            for value in ("nan", "inf", "-inf", "x", "", "1e999"):
                with (
                    self.subTest(key=key, value=value),
                    self.assertRaisesRegex(
                        base.MachineError,
                        "g1: command fio left .* instead of its result",
                    ),
                ):
                    _read(**{key: value})

    def test_negative_durations(self):
        for changes in (
            {"up_ended": "49"},
            {"ended": "1000.45", "up_ended": "50.00"},
            {"exit": "-1"},
            {"user": "-0.1"},
            {"system": "-1"},
            {"exit": "256"},
        ):
            with (
                self.subTest(changes),
                self.assertRaisesRegex(base.MachineError, "instead of"),
            ):
                _read(**changes)

    def test_a_clock_that_was_stepped(self):
        for ended, by in (
            (4610.5, r"\+3600\.00"),
            (1010.6, r"\+0\.10"),
            (1010.4, r"-0\.10"),
            (900.5, r"-110\.00"),
        ):
            with (
                self.subTest(ended),
                self.assertRaisesRegex(
                    base.MachineError,
                    f"clock of g1 was stepped by {by} s while fio ran; "
                    "repeat the run, or stop its time synchronisation",
                ),
            ):
                _read(ended=ended, after=ended)

    def test_two_digits_of_uptime_are_not_a_step(self):
        self.assertEqual(1010.51, _read(ended=1010.51, after=1010.51).ended)

    def test_a_cpu_lost_between_two_clocks_is_not_a_step(self):
        _read(up_ended="63.00", after="1013.6")
        _read(up="47.00", before="997.4")
