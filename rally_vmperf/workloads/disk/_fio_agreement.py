# SPDX-License-Identifier: Apache-2.0
"""Checks of fio's JSON against its command line."""

import collections.abc

from rally_vmperf import sanitize
from rally_vmperf.workloads import document
from rally_vmperf.workloads import outputs

#: Options of the command line that fio does not repeat in its output.
_NOT_REPEATED = ("eta", "output-format", "section", "status-interval")


def check(
    pattern: str, text: str, argv: collections.abc.Sequence[str]
) -> None:
    """Reject an output of fio that contradicts its command line.

    :param pattern: The access pattern, with the direction after a dot if it
        reads and writes.
    :param text: The output of fio.
    :param argv: The command line with the options of a job file, all of which
        fio repeats; the last value of an option counts.
    :raises base.WorkloadError: For the first disagreement.
    """
    output = outputs.Reader(f"fio: {pattern}")
    reports = document.Document.parse_all(text, "fio")
    if text[reports[-1].end :].strip():
        raise output.error("printed text after its last report")
    options, flags = _parse_options(argv)
    for report in reports:
        if len(report.array("jobs")) != 1:
            raise output.error("did not report exactly one job")
        job = report.at("jobs", 0)
        if job.find("jobname") != pattern.partition(".")[0]:
            raise output.error("reported a job with another name")
        reported = {
            **report.mapping("global options"),
            **job.mapping("job options"),
        }
        _compare_options(output, options, flags, reported)


def _parse_options(
    argv: collections.abc.Iterable[str],
) -> tuple[dict[str, str], set[str]]:
    """Return the options with a value as a dict, and the names of flags."""
    arguments = [word[2:] for word in argv if word.startswith("--")]
    options = dict(
        argument.split("=", 1) for argument in arguments if "=" in argument
    )
    flags = {argument for argument in arguments if "=" not in argument}
    return (
        {key: options[key] for key in options if key not in _NOT_REPEATED},
        flags - options.keys(),
    )


def _compare_options(
    output: outputs.Reader,
    options: collections.abc.Mapping[str, str],
    flags: collections.abc.Container[str],
    reported: collections.abc.Mapping[str, str],
) -> None:
    """Reject options that are missing, added or have another value.

    Not every version of fio repeats flags.
    """
    for key in {**options, **reported}:
        setting, expected = reported.get(key), options.get(key)
        is_flag = key in flags and setting in ("", "1")
        if is_flag or setting == expected:
            continue
        if setting is None:
            raise output.error(f"ran without {key}={expected}")
        option = sanitize.line(f"{key}={setting}", 60)
        if expected is None:
            raise output.error(f"ran with {option}, which was not requested")
        raise output.error(f"ran with {option} instead of {key}={expected}")
