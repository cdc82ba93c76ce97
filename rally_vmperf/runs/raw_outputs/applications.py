# SPDX-License-Identifier: Apache-2.0
"""Outputs of UnixBench, HEPscore, commands under ``time`` and jobs."""

import itertools
import re
import typing as t

from rally_vmperf import documents
from rally_vmperf import sanitize
from rally_vmperf.measurement.samples import sample
from rally_vmperf.runs.raw_outputs import raw
from rally_vmperf.workloads import base
from rally_vmperf.workloads import options
from rally_vmperf.workloads import registry
from rally_vmperf.workloads.application import job
from rally_vmperf.workloads.application import unixbench
from rally_vmperf.workloads.cpu import bzip2
from rally_vmperf.workloads.disk import cp

_COPIES = re.compile(
    r"^[0-9]+ CPUs? in system; running ([0-9]{1,9}) parallel cop", re.M
)
_HEADLESS = re.compile(
    r"((?:^|\n)(?!Benchmark Run: )[^\n]*\n|\A)"
    r"([0-9]+ CPUs? in system; running )"
)
_INDEX = re.compile(r"^System Benchmarks Index Score\s+([0-9.]{1,12})$", re.M)
#: The largest number of copies that UnixBench 5.1.3 runs.
_MAX_COPIES = 16


def read_unixbench(text: str, given: raw.Given) -> list[raw.RawOutput]:
    """Return the rates of each number of copies in a report."""
    # Posts often begin after the line with the date.
    text = _HEADLESS.sub(r"\1Benchmark Run: unknown\n\2", text.expandtabs())
    numbers = [int(number) for number in _COPIES.findall(text)]
    if "copies" in given:
        numbers = [one for one in numbers if str(one) == given["copies"]]
    if not numbers:
        raise raw.error("unixbench", "the report has no run of its tests")
    table = registry.get_workload("unixbench").TOOL_OPTIONS
    stated = table.read(table.read_text(text))
    results = []
    for copies in numbers:
        try:
            rates, unknown = unixbench.parse_rates(text, copies)
        except base.WorkloadError as problem:
            if copies > _MAX_COPIES and "has 0 scores" in str(problem):
                raise raw.error(
                    "unixbench",
                    f"the run with {copies} copies has no tests: UnixBench "
                    f"5.1.3 runs at most {_MAX_COPIES} copies; give "
                    "unixbench:copies=1=FILE, or use a newer version",
                ) from None
            raise
        results.append(
            raw.RawOutput(
                workload="unixbench",
                arguments={
                    **stated,
                    "tests": list(rates),
                    "copies": copies,
                },
                repetitions=((*rates.values(), *_read_index(text, copies)),),
                label=f"copies-{copies}" if copies > 1 else "",
                notes=tuple(
                    f"{sanitize.line(title, 60)} is omitted: UnixBench does "
                    "not run it by default"
                    for title in unknown
                ),
            )
        )
    return results


def _read_index(text: str, copies: int) -> raw.Samples:
    """Return the index of all tests; () if it is that of some of them."""
    _, _, run = text.partition(f"running {copies} parallel cop")
    score = _INDEX.search(run.partition("Benchmark Run: ")[0])
    metric = sample.Metric("application.unixbench.index", "1", "higher")
    return raw.create_samples({metric: float(score[1])}) if score else ()


_REAL = (
    r"real\s+(?:(?P<minutes>[0-9]{1,6})m(?=[0-9]{1,2}[.,][0-9]{3}s$)"
    r"|(?=[0-9]{1,8}[.,][0-9]{2}$))(?P<seconds>[0-9.,]{1,12})s?$"
)
#: The time alone, as in a file to which it was redirected.
_TIME = re.compile(f"^{_REAL}", re.M)
_TIMED = re.compile(
    r"^(?>(?P<head>.*?)\b(?P<tool>bzip2|bunzip2|cp)(?=[ \n]))"
    r"(?P<options> .*)?\n"
    r"(?:(?!real|user|sys|.*[$#%] ).*\n){0,5}?\n?" + _REAL,
    re.M,
)
#: What time, a shell or the command prints if it failed.
_TIME_FAILURE = re.compile(
    r"^(?:Command (?:exited with non-zero status|(?:terminated|stopped) by "
    r"signal) [0-9]{1,3}"
    r"|(?:\S{0,80}/)?(?:bzip2|bunzip2|cp): (?!warning:).*"
    r"|(?:-?(?:ba|da|z|k)?sh|\S{0,80}/(?:time|(?:ba|da|z|k)?sh)): .*"
    r"|.{0,120}?\b(?:[Cc]ommand not found|No such file or directory)\b.*"
    r"|Command '\S{1,80}' not found.*"
    r"|Killed|Terminated|Aborted.*|Segmentation fault.*|\^C)$",
    re.M,
)
#: The formats of zsh, csh and GNU time.
_OTHER_TIME = re.compile(
    r"^.{0,200}?[0-9.]{1,12}s user [0-9.]{1,12}s system .{0,20} total$"
    r"|^[0-9.]{1,12}(?:u|user) [0-9.]{1,12}(?:s|system) [0-9:.]{4,12}"
    r"|^[ \t]{0,20}Elapsed \(wall clock\) time ",
    re.M,
)
#: The time in seconds that a program takes to start and to fail.
_SHORTEST = 0.01
#: Command -> workload, metric.
_TIMES = {
    "compress": ("bzip2", bzip2.TIMES["compress"]),
    "decompress": ("bzip2", bzip2.TIMES["decompress"]),
    "copy": ("cp", cp.TIME),
}


def read_time(text: str, given: raw.Given) -> list[raw.RawOutput]:
    """Return the wall time of bzip2 or cp that ``time`` printed."""
    raw.check_given("time", given, "command", _TIMES)
    results = []
    if "command" in given:
        times = list(_TIME.finditer(text))
        if len(times) != 1:
            raise raw.error("time", f"has {len(times)} times instead of one")
        _check_success(text)
        return [_create_time(given["command"], times[0], {})]
    for match in _TIMED.finditer(text):
        _check_success(match[0])
        results.append(_read_timed(match))
    if not results and _OTHER_TIME.search(text):
        raise raw.error(
            "time",
            "this is the format of another shell or of GNU time; use time of "
            "bash, or /usr/bin/time -p",
        )
    if not results:
        raise raw.error(
            "time",
            "no command of bzip2 or cp precedes 'real'; give "
            "time:command=compress=FILE, or decompress or copy",
        )
    return results


def _check_success(text: str) -> None:
    """Reject the text of a command that failed, whose time says nothing."""
    if failure := _TIME_FAILURE.search(text):
        raise raw.error(
            "time",
            f"the command failed: {sanitize.line(failure[0], 120)!r}; give "
            "successful commands only",
        )


#: The beginning of several commands that ``time`` measures together, and the
#: command behind the first one that writes the data to the disk.
_GROUP = re.compile(r"[({'\"]")
_FLUSH = re.compile(r"(?:;|&&) *sync\b")


def _read_timed(match: re.Match[str]) -> raw.RawOutput:
    """Return the wall time of a command line."""
    command_line = match["options"] or ""
    argv = re.split("[;&|]", command_line)[0].strip(" )}'\"").split()
    is_flushed = bool(
        _GROUP.search(match["head"].partition("time ")[2])
        and _FLUSH.search(command_line)
    )
    launchers = options.find_launchers(match["head"])
    argv += [f"--{name}" for name in launchers]
    if is_flushed and match["tool"] != "cp":
        argv.append("--sync")
    workload = "cp" if match["tool"] == "cp" else "bzip2"
    table = registry.get_workload(workload).TOOL_OPTIONS
    stated, operands = table.read_argv(argv)
    arguments = table.read(stated, is_complete=True)
    # The files have other names on each machine.
    operands = [*itertools.takewhile(lambda part: part[0] != ">", operands)]
    if operands and not stated.keys() & {"t"}:
        arguments["place"] = options.classify_path(operands[-1])
    arguments["operands"] = len(operands)
    if workload == "cp":
        arguments["flush"] = is_flushed
    command = "copy" if workload == "cp" else "compress"
    if command == "compress" and (
        match["tool"] == "bunzip2" or "d" in stated or "decompress" in stated
    ):
        command = "decompress"
        del arguments["level"]
    return _create_time(command, match, arguments)


def _create_time(
    command: str, match: re.Match[str], arguments: dict[str, t.Any]
) -> raw.RawOutput:
    """Return the wall time of a command."""
    workload, metric = _TIMES[command]
    seconds = 60 * int(match["minutes"] or 0) + float(
        match["seconds"].replace(",", ".")
    )
    if 0 < seconds < _SHORTEST:
        raise raw.error(
            "time",
            f"{match[0].splitlines()[-1]!r} is the time in which a program "
            "starts or fails; give a command with more data",
        )
    return raw.create_output(workload, arguments, {metric: seconds})


#: The beginning of the name of a profile -> workload.
_SCORES = {"heps": "hepscore", "hs06": "hepspec06"}


def read_hepscore(text: str, given: raw.Given) -> list[raw.RawOutput]:
    """Return the score of HEPscore or HEP-SPEC06 in the suite's JSON."""
    report = raw.load_object("hepscore", text)
    if "wl-scores" in report:
        # HEPscore without the suite.
        report = {"hepscore": report}
    profiles = [
        (key, profile)
        for key, profile in report.get("profiles", report).items()
        if isinstance(profile, dict)
        and "score" in profile
        and key[:4] in _SCORES
    ]
    results = []
    for key, profile in profiles:
        if profile.get("status", "success") not in ("success", 0):
            raise raw.error(key, "did not succeed")
        workload = _SCORES[key[:4]]
        others = [name for name, _ in profiles if name[:4] == key[:4]]
        bits = re.fullmatch("hs06_([0-9]{2})", key)
        metric = raw.find_metric(workload, f"application.{workload}.score")
        results.append(
            raw.create_output(
                workload,
                _read_settings(workload, profile)
                | ({"bits": int(bits[1])} if bits else {}),
                {metric: raw.number(profile["score"])},
                f"{bits[1]}-bit" if bits and len(others) > 1 else "",
            )
        )
    if not results:
        raise raw.error("hepscore", "the JSON has no score")
    return results


def _read_settings(workload: str, profile: documents.Json) -> dict[str, t.Any]:
    """Return the settings of a score, which its profile states."""
    table = registry.get_workload(workload).TOOL_OPTIONS
    settings: dict[str, str] = {}
    for option in table.options:
        (path,) = option.names
        value: t.Any = profile
        for key in path.split("."):
            value = value.get(key) if isinstance(value, dict) else None
        if isinstance(value, str | int | float):
            settings[path] = str(value)
    return table.read(settings)


_JOB_GIVEN = {
    "path": "path of the value in the JSON, such as jobs.0.rate",
    "pattern": "regular expression with one group, which is the value",
    "name": "name of the metric after application.job.; default: value",
    "unit": "unit; default: s",
    "better": "higher or lower; default: lower",
}


def read_job(text: str, given: raw.Given) -> list[raw.RawOutput]:
    """Return the value of a program of the user, found by path or pattern."""
    rule = {"name": "value", "unit": "s", "better": "lower", **given}
    registry.get_workload("job").complete({"metrics": [rule]})
    figures = {job.create_metric(rule): job.parse_value(rule, text)}
    return [raw.create_output("job", {"metrics": [rule]}, figures)]


READERS = (
    raw.RawReader(
        tool="unixbench",
        signature=re.compile(
            r"parallel cop(?:y|ies) of tests|BYTE UNIX Benchmarks", re.M
        ),
        read=read_unixbench,
        given={"copies": "number of copies; default: all in the report"},
    ),
    raw.RawReader(
        tool="hepscore",
        json_texts=('"hepscore"', '"hs06', '"wl-scores"'),
        searches_lines=False,
        read=read_hepscore,
    ),
    raw.RawReader(
        tool="time",
        signature=re.compile(
            rf"^real\s+(?:[0-9]+m)?[0-9.,]+s?$|{_OTHER_TIME.pattern}", re.M
        ),
        read=read_time,
        given={"command": "compress, decompress or copy"},
    ),
    raw.RawReader(
        tool="job",
        # Only its name tells.
        searches_lines=False,
        read=read_job,
        given=_JOB_GIVEN,
    ),
)
