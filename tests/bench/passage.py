# SPDX-License-Identifier: Apache-2.0
"""The modules through which a value passes, found by tracing a run.

``python -m tests.bench.architecture --trace`` prints them for a limit of
density, from the task to the verdict, and for a sample of each question, from
what a tool printed to the verdict; both without the report and with it.
"""

import collections.abc
import dataclasses
import pathlib
import sys
import tempfile
import threading
import types
import typing as t
from unittest import mock

from rally_vmperf.plugins import criteria
from rally_vmperf.plugins import scenarios
from rally_vmperf.plugins import validators
from rally_vmperf.questions import source_judge
from rally_vmperf.questions import table as questions
from rally_vmperf.records import journal
from rally_vmperf.records import model
from rally_vmperf.records import sources
from rally_vmperf.report import page
from tests.unit.runs import golden
from tests.unit.runs import whole

#: How deep the value is looked for in what a function takes and returns.
_DEPTH = 7
#: Parts of a container that are looked at.
_MOST = 400


def modules(
    call: collections.abc.Callable[[], object], sentinel: float
) -> set[str]:
    """Return the modules whose functions accept or return a value.

    :param call: A function, which is called once.
    :param sentinel: A number that is unlikely elsewhere; text that shows it is
        not followed.
    """
    names: set[str] = set()

    def look(name: str, values: list[t.Any]) -> None:
        if name not in names and any(
            _holds(argument, sentinel, _DEPTH, set()) for argument in values
        ):
            names.add(name)

    _trace(call, look)
    return names


def forms(
    call: collections.abc.Callable[[], object], sentinel: float
) -> set[str]:
    """Return the dataclasses that are forms of a sample, by name.

    A form has the value in a field: as a number, in a list of numbers, in a
    text, or in another form. A list of forms is not a form.

    :param call: A function, which is called once.
    :param sentinel: The value of the sample, which nothing else has.
    """
    names: set[str] = set()

    def look(module: str, values: list[t.Any]) -> None:
        for value in values:
            _add_forms(value, sentinel, _DEPTH, set(), names)

    _trace(call, look)
    return {name.removeprefix("rally_vmperf.") for name in names}


def _add_forms(
    value: t.Any,
    sentinel: float,
    depth: int,
    visited: set[int],
    names: set[str],
) -> bool:
    """Add the names of forms; return whether the value is one, or a sample."""
    if isinstance(value, float):
        return value == sentinel
    if isinstance(value, str):
        return str(sentinel) in value
    if depth == 0 or id(value) in visited:
        return False
    visited.add(id(value))
    parts = [
        component
        for component in _parts(value)
        if _add_forms(component, sentinel, depth - 1, visited, names)
    ]
    kind = type(value)
    if not dataclasses.is_dataclass(kind):
        return any(isinstance(component, (float, str)) for component in parts)
    if parts and kind.__module__.startswith("rally_vmperf."):
        names.add(f"{kind.__module__}.{kind.__name__}")
    return bool(parts)


def _trace(
    call: collections.abc.Callable[[], object],
    look: collections.abc.Callable[[str, list[t.Any]], None],
) -> None:
    """Pass module, arguments and results of our functions to a function."""

    def profile(frame: types.FrameType, event: str, argument: t.Any) -> None:
        name = frame.f_globals.get("__name__", "")
        if not name.startswith("rally_vmperf."):
            return
        if event == "call":
            code = frame.f_code
            count = code.co_argcount + code.co_kwonlyargcount
            names = code.co_varnames[: count + 2]
            values = [frame.f_locals.get(name) for name in names]
        elif event == "return":
            values = [argument]
        else:
            return
        look(name, values)

    threading.setprofile(profile)
    sys.setprofile(profile)
    try:
        call()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)  # type: ignore[arg-type]


def _holds(
    value: t.Any, sentinel: float, depth: int, visited: set[int]
) -> bool:
    if isinstance(value, float):
        return value == sentinel
    simple = (str, bytes, int, type(None), type, pathlib.PurePath)
    if depth == 0 or isinstance(value, simple) or id(value) in visited:
        return False
    visited.add(id(value))
    if dataclasses.is_dataclass(value):
        # Fields are passed on; what a cached property remembers is not.
        fields = dataclasses.fields(value)
        parts = [getattr(value, field.name, None) for field in fields]
    else:
        parts = _parts(value)
    return any(
        _holds(component, sentinel, depth - 1, visited) for component in parts
    )


def _parts(value: t.Any) -> collections.abc.Iterable[t.Any]:
    if isinstance(value, collections.abc.Mapping):
        return list(value.values())[:_MOST]
    if isinstance(value, (list, tuple, set, frozenset)):
        return list(value)[:_MOST]
    if dataclasses.is_dataclass(value) or type(value).__module__.startswith(
        "rally_vmperf"
    ):
        return list(getattr(value, "__dict__", {}).values())
    return ()


#: A limit, in percent, and what a tool prints: nothing else has these values.
LIMIT = 12.3456
SAMPLE = 9876.5
#: What the scenario of a question is given beside the workloads.
_OWN: dict[str, dict[str, t.Any]] = {
    "overhead": {},
    "density": {"levels": [1, 2], "order": "listed"},
}
_MAIN = {"overhead": "vmperf_overhead", "density": "vmperf_degradation"}


class Drive:
    """A unit run of a question: real workloads, machines that cost no time.

    :param folder: The folder of the journal and of the baseline.
    """

    def __init__(self, question: str, folder: str, limit: float) -> None:
        self.question, self.folder = question, pathlib.Path(folder)
        self.limits = {"max_percent": {"cpu.*": limit}}
        self.document = whole.baseline(folder, (1, 2), [9900.0, 9901.0])

    def validate(self) -> None:
        """Check the task as Rally does before it boots anything."""
        config = {
            "args": {"workloads": whole.WORKLOADS, "levels": [1, 2]},
            "contexts": {"vmperf_guests@openstack": {"count": 2}},
            "runner_type": "serial",
            "runner": {"times": 4},
            "sla": {_MAIN[self.question]: self.limits},
        }
        folder = str(self.folder)
        options = mock.Mock(baseline_dir=folder, journal_dir=folder)
        conf = mock.MagicMock(vmperf=options)
        with mock.patch.object(validators, "CONF", conf):
            validators.Task().validate(
                {}, config, scenarios.SCENARIOS["VMPerf.density"], None
            )

    def measure(self) -> list[t.Any]:
        """Run three repetitions; return their records."""
        machines = [
            golden.Machine(
                name,
                [golden.sysbench(SAMPLE + step) for step in (0, 9, 5, 7)],
            )
            for name in ("g1", "g2")
        ]
        case = whole.build_request(
            str(self.folder),
            self.document,
            *machines,
            question=self.question,
            journal=journal.Journal(self.folder, self.question),
        )
        question = questions.questions()[self.question]
        arguments = question.arguments(workloads=[], **_OWN[self.question])
        run = case.run_cache.get_run(
            "w", lambda: question.start(case, arguments)
        )
        records = [run.repeat(number) for number in (1, 2, 3)]
        case.run_cache.close("w")
        return records

    def judge(self, records: collections.abc.Iterable[t.Any]) -> None:
        """Have Rally's SLA judge the records."""
        sla = criteria.SLAS[_MAIN[self.question]](self.limits)
        for record in records:
            sla.add_iteration(
                {"output": {"complete": [model.encode_output(record)]}}
            )
        sla.result()
        sla.details()

    def report(self) -> None:
        """Make the page of the run from its journal."""
        path = str(self.folder / f"{self.question}.jsonl")
        (source,) = sources.read(path, questions.scenarios())
        limits = {_MAIN[self.question]: self.limits}
        run = source_judge.judge_source(source, limits)
        page.standalone([source_judge.create_report(run)])


def tables() -> collections.abc.Iterator[tuple[str, set[str], set[str]]]:
    """Return what is followed, its modules to the verdict, and to the page."""
    with tempfile.TemporaryDirectory() as folder:
        drive = Drive("density", folder, LIMIT)
        records = drive.measure()

        def judged() -> None:
            drive.validate()
            drive.judge(records)

        to_verdict = modules(judged, LIMIT)
        shown = to_verdict | modules(drive.report, LIMIT)
        yield "limit of density", to_verdict, shown
    for question in _OWN:
        with tempfile.TemporaryDirectory() as folder:
            drive = Drive(question, folder, LIMIT)
            names = modules(lambda: drive.judge(drive.measure()), SAMPLE)  # noqa: B023
            shown = names | modules(drive.report, SAMPLE)
            yield f"sample of {question}", names, shown


def forms_of_sample() -> set[str]:
    """Return the forms of a sample from its measurement to the page."""
    with tempfile.TemporaryDirectory() as folder:
        drive = Drive("overhead", folder, LIMIT)

        def show() -> None:
            drive.judge(drive.measure())
            drive.report()

        return forms(show, SAMPLE)
