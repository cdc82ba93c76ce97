"""Run tasks concurrently, in an order that respects their dependencies."""

import collections.abc
import concurrent.futures
import dataclasses
import graphlib

from rally_vmperf.cloud.system import errors


@dataclasses.dataclass(frozen=True)
class Task:
    """A task with the names of those that it depends on."""

    needs: collections.abc.Sequence[str]
    action: collections.abc.Callable[[], object]


def order(tasks: collections.abc.Mapping[str, Task]) -> list[str]:
    """Return the names in an order that respects the dependencies.

    :param tasks: the steps by name
    :raises errors.CloudError: for an unknown dependency, or a circle
    """
    for name, task in tasks.items():
        for need in task.needs:
            if need not in tasks:
                raise errors.CloudError(
                    f"'{name}' needs '{need}', which nothing provides; "
                    f"there are: {', '.join(tasks)}"
                )
    sorter = graphlib.TopologicalSorter(
        {name: task.needs for name, task in tasks.items()}
    )
    try:
        return list(sorter.static_order())
    except graphlib.CycleError as circle:
        raise errors.CloudError(
            f"these need each other in a circle: {', '.join(circle.args[1])}"
        ) from circle


def run(
    tasks: collections.abc.Mapping[str, Task],
    report: collections.abc.Callable[[str], None],
) -> None:
    """Run all tasks; after a failure, wait for those that run and end.

    :param tasks: the steps by name
    :param report: called with the name of each finished step
    """
    order(tasks)
    sorter = graphlib.TopologicalSorter(
        {name: task.needs for name, task in tasks.items()}
    )
    sorter.prepare()
    with concurrent.futures.ThreadPoolExecutor(len(tasks) or 1) as pool:
        running: dict[concurrent.futures.Future[object], str] = {}
        while sorter.is_active():
            for name in sorter.get_ready():
                running[pool.submit(tasks[name].action)] = name
            finished, _ = concurrent.futures.wait(
                running, return_when=concurrent.futures.FIRST_COMPLETED
            )
            for future in finished:
                name = running.pop(future)
                future.result()
                report(name)
                sorter.done(name)
