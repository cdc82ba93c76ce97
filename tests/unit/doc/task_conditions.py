# SPDX-License-Identifier: Apache-2.0
"""The conditions of shipped tasks, as a file of cases.

    python -m tests.unit.doc.task_conditions

adds the cases that the file lacks, with the conditions of today. A test
compares later conditions with them.
"""

import json
import pathlib
import typing as t

import yaml

from tests.unit.doc import pages
from tests.unit.doc import tasks

PATH = pathlib.Path(__file__).parents[1] / "data/tasks/conditions.json"
#: The edit for a new task, and for a change that is intended.
HINT = (
    "run python -m tests.unit.doc.task_conditions, which adds missing cases "
    f"to {PATH.relative_to(pages.ROOT)}; if a change of a task is intended, "
    "first delete its cases there, and state the change in CHANGELOG.rst"
)

Cases = dict[str, dict[str, t.Any]]


def list_names() -> list[str]:
    """Return the cases that each task must have."""
    return [
        f"{pathlib.Path(path).stem} {case}"
        for path in tasks.TAKEN
        for case in ("default", "embedded")
    ]


def read_arguments(name: str, arguments: dict[str, t.Any]) -> dict[str, t.Any]:
    """Return the arguments of a case; those of an embedded one have a file."""
    task, case = name.split()
    if case == "embedded":
        path = pages.ROOT / "tasks" / f"{task}.embedded.yaml"
        arguments = yaml.safe_load(path.read_text())
    return arguments


def create_case(name: str) -> dict[str, t.Any]:
    """Return a case with the conditions of today."""
    task, _ = name.split()
    arguments: dict[str, t.Any] = {}
    try:
        rendered = tasks.render(
            f"tasks/{task}.yaml", read_arguments(name, arguments)
        )
    except TypeError:
        arguments = {"peer": tasks.PEER}
        rendered = tasks.render(f"tasks/{task}.yaml", arguments)
    return {"arguments": arguments, "subtasks": rendered["subtasks"]}


def show(cases: Cases) -> str:
    """Return cases as JSON with a line for each subtask."""
    texts = []
    for name, case in cases.items():
        subtasks = ",\n".join(
            f"  {json.dumps(subtask, ensure_ascii=False)}"
            for subtask in case["subtasks"]
        )
        texts.append(
            f'{json.dumps(name)}: {{"arguments": '
            f"{json.dumps(case['arguments'], ensure_ascii=False)}, "
            f'"subtasks": [\n{subtasks}\n]}}'
        )
    return "{\n" + ",\n".join(texts) + "\n}\n"


def main() -> None:
    """Add the missing cases to the file."""
    cases = json.loads(PATH.read_text())
    for name in list_names():
        if name not in cases:
            cases[name] = create_case(name)
            print(f"added: {name}")
    PATH.write_text(show(cases))


if __name__ == "__main__":
    main()
