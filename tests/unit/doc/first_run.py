# SPDX-License-Identifier: Apache-2.0
"""The output of the first commands on a cloud, which pages show.

    python -m tests.unit.doc.first_run

prints it. The cloud, the baseline and the records are constructed.
"""

import argparse
import contextlib
import functools
import io
import os
import pathlib
import re
import tempfile
from unittest import mock

from rally_vmperf import resources
from rally_vmperf.baseline import store
from rally_vmperf.cmd import plan
from rally_vmperf.cmd import rally_api
from rally_vmperf.cmd import task_file
from rally_vmperf.cmd.start import init
from rally_vmperf.cmd.start import task_run
from rally_vmperf.guests.setup import login
from tests.unit.doc import tasks
from tests.unit.doc import verdict_examples
from tests.unit.guests import testing
from tests.unit.report import rally_results

_HOME = "/home/anna"
_DATA = f"{_HOME}/vmperf/share/rally-vmperf"
_UUID = "11111111-2222"
_BASELINE = "compute1"
#: The values of bare metal, which vary by 1 %.
_VALUES = (100.0, 101.0, 99.0, 101.0, 99.0, 100.0)


def create_cloud():
    """Return a cloud with the image, a flavor and a network that suit."""
    cloud = testing.FakeCloud()
    (image,) = cloud.image.all_images
    image.name = "vmperf-guest"
    cloud.current_project.name = "demo"
    (flavor,) = cloud.compute.all_flavors
    flavor.name = "m1.small"
    flavor.vcpus, flavor.ram, flavor.disk = 2, 2048, 20
    cloud.network.all_subnets = cloud.network.subnets(network_id="n2")
    return cloud


@functools.cache
def create():
    """Return the lines of each command by name, in their order."""
    with contextlib.ExitStack() as stack:
        folder = pathlib.Path(
            stack.enter_context(tempfile.TemporaryDirectory())
        )
        stack.enter_context(contextlib.chdir(folder))
        home = folder / "home"
        home.mkdir()
        cloud = create_cloud()
        cloud_login = login.Login(
            cloud_name="mycloud",
            connection=cloud,
            user="anna",
            project="demo",
            roles=("member",),
            spec={},
        )
        baselines = store.Store(folder / "baselines")
        for target, value in {
            "rally_vmperf.guests.setup.login.log_in": lambda name: cloud_login,
            "rally_vmperf.opts.find_file": lambda path: None,
            "rally_vmperf.cmd.rally_api.create_database": lambda path: (
                home / ".rally/rally.sqlite"
            ),
            "rally_vmperf.cmd.rally_api.register_environment": (
                lambda name, spec: "created"
            ),
            "rally_vmperf.cmd.rally_api.get_platform": lambda env: {
                "admin": None,
                "users": [{}],
            },
            "rally_vmperf.cmd.rally_api.open_baseline_store": (
                lambda path: baselines
            ),
            "rally_vmperf.guests.cloud.connect": lambda credential: cloud,
        }.items():
            stack.enter_context(mock.patch(target, value))
        stack.enter_context(mock.patch.dict(os.environ, HOME=str(home)))
        outputs = {
            "init": _run(
                init.Init, "--cloud", "mycloud", "--baseline", _BASELINE
            )
        }
        _record(baselines)
        outputs["plan"] = _run(plan.Plan)
        for status in verdict_examples.STATUSES:
            outputs[status] = _run_task(status)
            pathlib.Path("report.html").unlink()
    names = {
        str(home): _HOME,
        str(folder.resolve()): f"{_HOME}/measured",
        str(resources.path("tasks").parent): _DATA,
    }
    return {
        name: [_replace(line, names) for line in lines]
        for name, lines in outputs.items()
    }


def _replace(line, names):
    """Return a line with the paths of a user."""
    for path, shown in names.items():
        line = line.replace(path, shown)
    return line.rstrip()


def _run(kind, *arguments):
    """Return the lines that a command prints on a terminal."""
    stream = io.StringIO()
    app = mock.Mock(stdout=stream, stderr=stream)
    with (
        contextlib.redirect_stderr(stream),
        contextlib.redirect_stdout(stream),
    ):
        command = kind(app, None)
        parser = command.get_parser(kind.__name__.lower())
        if "config_file" not in {each.dest for each in parser._actions}:
            parser.set_defaults(config_file=None)
        command.run(parser.parse_args(arguments))
    return stream.getvalue().splitlines()


def _record(baselines):
    """Save a baseline that covers the task in vmperf.yaml."""
    parser = argparse.ArgumentParser()
    task_file.add_arguments(parser)
    parser.set_defaults(config_file=os.devnull)
    ((task, _),) = task_file.read_task(None, parser.parse_args([]))
    baselines.save(tasks.baseline(_BASELINE, task.assignments, values=_VALUES))


def _run_task(status):
    """Return the lines of a run with a verdict."""
    records, sla = verdict_examples.get_run(status)
    results = rally_results.results([(records, sla)])
    outcome = "passed" if status == "passed" else "failed"
    with (
        mock.patch.object(
            rally_api,
            "run_task",
            autospec=True,
            return_value=(_UUID, outcome),
        ),
        mock.patch.object(
            rally_api, "load_results", autospec=True, return_value=results
        ),
    ):
        return _run(task_run.Run)


def is_excerpt(shown, lines):
    """Return whether a page shows lines, with parts omitted as "...".

    :param shown: The lines on the page.
    """
    pattern = "\n".join(map(re.escape, shown)) + "\n"
    pattern = pattern.replace(f"{re.escape('...')}\n", r"(?:.*\n)+?")
    return bool(re.fullmatch(pattern, "\n".join([*lines, ""])))


if __name__ == "__main__":
    for command, lines in create().items():
        print(f"== {command}", *lines, sep="\n")
