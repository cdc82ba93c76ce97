# SPDX-License-Identifier: Apache-2.0
"""Verdicts as JUnit XML, for systems of continuous integration.

A test suite is a run. A test case is a figure with a limit, by metric,
condition and subject: ``failure`` is beyond its limit, ``skipped`` is
inconclusive, and ``error`` is void. The test case ``verdict`` of each SLA
fails if the SLA does not pass, so that a suite without failures and errors is
a run that passes.
"""

import collections
import collections.abc
import typing as t
from xml.etree import ElementTree

from rally_vmperf import sanitize
from rally_vmperf.records import table

#: Status of a figure -> the element of its test case; none if it is passed.
_ELEMENTS = {"failed": "failure", "inconclusive": "skipped", "void": "error"}
#: The name of the property with a number of samples.
_SAMPLES = "samples: {}"


def render(
    rows: collections.abc.Callable[[], table.Rows],
) -> collections.abc.Iterator[str]:
    """Yield the document; test suites have the numbers of samples, too."""
    root = ElementTree.Element("testsuites", name="rally_vmperf")
    suites: dict[tuple[str, str], ElementTree.Element] = {}
    counts: dict[tuple[str, str], collections.Counter[str]] = {}
    for row in rows():
        key = (row.run, row.title)
        if key not in suites:
            suites[key] = _create_suite(root, row)
            counts[key] = collections.Counter()
        if row.row == "sample":
            counts[key].update(map(_SAMPLES.format, table.count_names(row)))
        elif row.status is not None:
            counts[key].update(_add_case(suites[key], row))
    for key, suite in suites.items():
        for name in ("tests", "failures", "errors", "skipped"):
            suite.set(name, str(counts[key][name]))
        (properties,) = suite.iterfind("properties")
        for name in table.COUNTS:
            counter = _SAMPLES.format(name)
            number = counts[key][counter]
            _add(properties, "property", counter, value=number)
    ElementTree.indent(root)
    text = ElementTree.tostring(root, encoding="unicode")
    yield f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def _create_suite(
    root: ElementTree.Element, row: table.Row
) -> ElementTree.Element:
    """Return the test suite of a run, without test cases."""
    time = row.time.rstrip("Z") if row.time else None
    suite = _add(root, "testsuite", row.title, id=row.run, timestamp=time)
    ElementTree.SubElement(suite, "properties")
    return suite


def _add_case(
    suite: ElementTree.Element, row: table.Row
) -> collections.abc.Iterator[str]:
    """Add the test case of a row; yield the counters that it increments."""
    is_verdict = row.row == "verdict"
    names = [row.metric, row.figure, row.condition]
    name = "verdict" if is_verdict else " ".join(filter(None, names))
    if row.subject and not row.host:
        name += f" of {row.subject}"
    case = _add(
        suite,
        "testcase",
        f"{row.host}: {name}" if row.host else name,
        classname=f"{row.question}.{row.criterion}",
        time=0,
    )
    yield "tests"
    element = _ELEMENTS.get(str(row.status), "")
    if is_verdict:
        element = "" if row.passed else "failure"
    if element:
        message = row.reason if is_verdict else _describe(row)
        _add(case, element, type=row.status, message=message)
        yield element if element == "skipped" else f"{element}s"


def _describe(row: table.Row) -> str:
    """Return figure, interval, limit and findings of a row as text."""
    value, interval = row.show_figure()
    interval = f"interval {interval}" if interval else "no interval"
    limit = f"limit {row.show_limit()}"
    subject = " ".join(filter(None, (row.subject, row.guest)))
    figure = f"{row.figure} of {subject}" if subject else row.figure
    parts = [f"{row.status}: {figure} {value}", interval, limit]
    return ", ".join([*parts, *row.findings])


def _add(
    parent: ElementTree.Element,
    tag: str,
    name: str | None = None,
    **attributes: t.Any,
) -> ElementTree.Element:
    """Return a new child element without the attributes that are None.

    XML cannot contain control characters; they are replaced.
    """
    attributes = {"name": name, **attributes}
    texts = {
        key: sanitize.printable(str(content))
        for key, content in attributes.items()
        if content is not None
    }
    return ElementTree.SubElement(parent, tag, texts)
