# SPDX-License-Identifier: Apache-2.0
"""The report that fio prints for people, from version 1 to 3."""

import collections
import re
import typing as t

from rally_vmperf import documents
from rally_vmperf.runs.raw_outputs import raw
from rally_vmperf.workloads import options

#: The description of a job before the run.
_DESCRIPTION = re.compile(
    r"^(?P<name>\S.{0,127}?): \(g=(?P<group>[0-9]{1,6})\): rw=(?P<rw>[a-z]+), "
    r"bs=(?P<sizes>.*?)(?:,? ioengine=(?P<ioengine>[\w:.-]{1,64}), "
    r"iodepth=(?P<iodepth>[0-9]{1,9}))?$",
    re.M,
)
_SECTION = re.compile(
    r"^(?P<name>\S.{0,127}?): \(groupid=(?P<group>[0-9]{1,6}), "
    r"jobs=(?P<jobs>[0-9]{1,6})\): err= {0,3}(?P<error>[0-9]{1,6})"
)
#: The first line of reads or writes, since version 3 and before.
_NEW_SIDE = re.compile(
    r"^ *(?P<side>read|write|trim|mixed) ?: "
    r"IOPS=(?P<iops>[0-9.]{1,20}[kMG]?), "
    r"BW=(?P<bandwidth>[0-9.]{1,20}[kKMGT]?i?(?:B|bit)/s)(?!\w)"
)
_OLD_SIDE = re.compile(
    r"^ *(?P<side>read|write|trim|mixed) ?: io=[0-9.]{1,20}[KMGT]?i?B?, "
    r"bw=(?P<bandwidth>[0-9.]{1,20}[KMGT]?i?B/s), "
    r"iops=(?P<iops>[0-9.]{1,20}[KMG]?) ?,"
)
_LATENCY = re.compile(
    r"^ *clat \((?P<unit>nsec|usec|msec|sec)\) ?: "
    r"min= {0,9}[0-9.]{1,20}[kKMG]? ?, max= {0,9}[0-9.]{1,20}[kKMG]? ?, "
    r"avg= {0,9}"
    r"(?P<mean>[0-9.]{1,20}[kKMG]?) ?, stdev="
)
#: Those of other latencies have no group.
_PERCENTILES = re.compile(
    r"^ *(?:clat percentiles \((nsec|usec|msec|sec)\)|\w+ percentiles)"
)
_PERCENTILE = re.compile(r"([0-9]{1,2}\.[0-9]{2})th=\[ {0,9}([0-9]{1,12})\]")
#: The smallest and the largest request of one direction.
_BLOCK_RANGE = re.compile(
    r"([0-9]{1,12}(?:\.[0-9])?[KMG]?)(?:i?B)?"
    r"-([0-9]{1,12}(?:\.[0-9])?[KMG]?)(?:i?B)?(?![0-9.])"
)
#: The numbers of reads, writes, trims and synchronisations.
_ISSUED = re.compile(
    r"^ *issued rwts: total=[0-9]{1,20},[0-9]{1,20},[0-9]{1,20},"
    r"(?P<syncs>[0-9]{1,20}) "
)
#: The line of a group of jobs, of which there is one for reads and writes.
_GROUP = re.compile(
    r"^ *(?P<side>READ|WRITE): (?P<key>bw|.*aggrb)="
    r"(?P<bandwidth>[0-9.]{1,20}[kKMGT]?i?(?:B|bit)/s)(?!\w)",
    re.M,
)
_NANOSECONDS = {"nsec": 1.0, "usec": 1e3, "msec": 1e6, "sec": 1e9, "": 0.0}
SIDES = ("read", "write", "trim", "mixed")
_PREFIXES = {"": 0, "k": 1, "K": 1, "M": 2, "G": 3, "T": 4}
#: Lines that a run prints once.
_SINGLE = (
    re.compile(r"^fio-[0-9]\S*$", re.M),
    re.compile(r"^Starting [0-9]+ (?:process|thread)", re.M),
    re.compile(r"^Run status group 0 \(all jobs\):", re.M),
)
SIGNATURE = re.compile(
    r"^.{1,128}: \(g(?:roupid)?=[0-9]+[,)].{0,20}: (?:rw|err)=|^fio-[0-9]"
    r"|^ *(?:read|write) ?: (?:IOPS=\S+ BW=|io=\S+ bw=)"
    r"|^ *(?:READ|WRITE): (?:bw=\S+ |io=\S+ aggrb=)|^[2-5];fio-[0-9]",
    re.M,
)
#: The semicolon-separated output, which begins with its version.
_TERSE = re.compile(r"^[2-5];fio-[0-9]", re.M)


def read_report(text: str) -> documents.Json:
    """Return a report in the form of fio's JSON, with the keys that it has.

    :raises WorkloadError: If a job failed, or the report is of several runs.
    """
    if _TERSE.search(text):
        raise raw.error(
            "fio",
            "this is its terse output; its JSON is required: "
            "fio --output-format=json",
        )
    if any(len(pattern.findall(text)) > 1 for pattern in _SINGLE):
        raise raw.several_runs("fio")
    jobs = _read_jobs(text) or _read_group(text)
    if not any(side in job for job in jobs for side in SIDES):
        raise raw.error(
            "fio",
            "has no result such as 'read: IOPS=..., BW=...'; give the "
            "complete output, or fio --output-format=json",
        )
    names = {(job["jobname"], job["groupid"]) for job in jobs}
    is_whole = any(pattern.search(text) for pattern in _SINGLE)
    if len(names) < len(jobs) and not is_whole:
        raise raw.several_runs("fio")
    described = _read_options(text)
    counts: collections.Counter[tuple[str, int]] = collections.Counter()
    for job in jobs:
        counts[job["jobname"], job["groupid"]] += int(job["jobs"])
    for job in jobs:
        key = (job["jobname"], job["groupid"])
        if not job["jobname"] and len(described) == 1:
            (key,) = described
        processes = counts[key]
        numjobs = {"numjobs": str(processes)} if processes else {}
        job["job options"] = {**described.get(key, {}), **numjobs}
    return {"jobs": jobs}


def _read_jobs(text: str) -> list[dict[str, t.Any]]:
    """Return the jobs in a report in their order; [] without any."""
    jobs: list[dict[str, t.Any]] = []
    side, factor = None, 0.0
    for line in text.splitlines():
        if section := _SECTION.match(line):
            jobs.append(_create_job(**section.groupdict()))
            side = None
        elif match := _NEW_SIDE.match(line) or _OLD_SIDE.match(line):
            jobs = jobs or [_create_job()]
            side = _add_side(jobs[-1], match)
        elif jobs and (issued := _ISSUED.match(line)):
            jobs[-1]["has_syncs"] = int(issued["syncs"]) > 0
        elif side is None:
            continue
        elif latency := _LATENCY.match(line):
            factor = _NANOSECONDS[latency["unit"]]
            mean = _parse_number(latency["mean"], 1000) * factor
            side["clat_ns"] = {"mean": mean, "percentile": {}}
        elif percentiles := _PERCENTILES.search(line):
            factor = _NANOSECONDS[percentiles[1] or ""]
        elif factor and "th=[" in line and "clat_ns" in side:
            side["clat_ns"]["percentile"] |= {
                f"{percent}0000": int(value) * factor
                for percent, value in _PERCENTILE.findall(line)
            }
    return jobs


def _create_job(
    name: str = "", group: str = "0", jobs: str = "0", error: str = "0"
) -> dict[str, t.Any]:
    """Return a job, or one of its processes, without results.

    :param name: The name of the job; "" if it is unknown.
    :param jobs: The number of processes whose results it has; 0 if unknown.
    """
    return {
        "jobname": name,
        "groupid": int(group),
        "jobs": jobs,
        "error": int(error),
    }


def _add_side(job: dict[str, t.Any], match: re.Match[str]) -> dict[str, t.Any]:
    """Return the new reads or writes of a job; reject a second result."""
    if match["side"] in job:
        raise raw.error(
            "fio",
            f"{match['side']} has several results without the name of a job "
            "between them; give each run its own file",
        )
    rate = _parse_number(match["iops"], 1000)
    side = {
        "iops": rate,
        "bw_bytes": _parse_rate(
            match["bandwidth"], is_old=match.re is _OLD_SIDE
        ),
        "total_ios": rate,
    }
    job[match["side"]] = side
    return side


def _read_group(text: str) -> list[dict[str, t.Any]]:
    """Return the sum of the only group of jobs as a job; [] without one."""
    matches = _GROUP.findall(text)
    sides = {
        side.lower(): {"bw_bytes": rate, "total_ios": rate}
        for side, key, bandwidth in matches
        for rate in (_parse_rate(bandwidth, is_old=key != "bw"),)
    }
    if len(sides) < len(matches):
        raise raw.several_runs("fio")
    return [{**_create_job(), **sides}] if sides else []


def _parse_number(text: str, base: int) -> float:
    """Return a number with a prefix such as ``12.3k``."""
    number = text.rstrip("kKMGT")
    factor: int = base ** _PREFIXES[text[len(number) :]]
    return float(number) * factor


def _parse_rate(text: str, *, is_old: bool) -> float:
    """Return the bytes per second of a rate such as ``48.1MiB/s``.

    With ``unit_base=1``, fio writes bits.

    :param is_old: Whether it is of a version before 3, which wrote powers of
        1024 as KB and MB. Since then, these are powers of 1000, behind those
        of 1024 or, with ``kb_base=1000``, before them.
    """
    number = re.split("i?(?:B|bit)/s", text)[0]
    is_binary = is_old or "iB" in text or "ibit" in text
    rate = _parse_number(number, 1024 if is_binary else 1000)
    return rate / 8 if "bit" in text else rate


def _read_options(text: str) -> dict[tuple[str, int], dict[str, str]]:
    """Return the options that fio describes, by name and group of the job."""
    # Mails break long lines.
    joined = re.sub(
        r"^(.{1,200}: \(g=[0-9]+\): .*,|.*\(T\))\n(?! )",
        r"\1 ",
        text,
        flags=re.M,
    )
    return {
        (match["name"], int(match["group"])): _describe(match)
        for match in _DESCRIPTION.finditer(joined)
    }


def _describe(match: re.Match[str]) -> dict[str, str]:
    """Return the options in the description of a job."""
    stated: dict[str, t.Any] = {
        "rw": match["rw"],
        "bs": _parse_block_size(match["rw"], match["sizes"]),
        "ioengine": match["ioengine"],
        "iodepth": match["iodepth"],
    }
    return {key: option for key, option in stated.items() if option}


def _parse_block_size(pattern: str, text: str) -> str:
    """Return the sizes of the requests of a job, as in its options.

    :param text: Ranges such as ``(R) 4096B-4096B, (W) 4096B-4096B, ...``, and
        before version 3 ``4K-4K/4K-4K/4K-4K``.
    """
    ranges = _BLOCK_RANGE.findall(text)
    if "write" in pattern and len(ranges) > 1:
        ranges = ranges[1:2]
    elif "rw" not in pattern:
        ranges = ranges[:1]
    sizes = dict.fromkeys(
        "-".join(dict.fromkeys(map(options.format_size, limits)))
        for limits in ranges[:2]
    )
    return ",".join(sizes)
