# SPDX-License-Identifier: Apache-2.0
"""From what pages show to tasks that Rally can check."""

import contextlib
import dataclasses
import json
import os
import pathlib
import re
import tempfile
from unittest import mock

import yaml
from rally import api
from rally import plugins
from rally.common import cfg
from rally.task import engine
from rally.task import task_cfg

from doc.ext import tasks_page
from rally_vmperf.baseline import document
from rally_vmperf.baseline import store
from rally_vmperf.measurement.samples import merged
from rally_vmperf.measurement.samples import series
from rally_vmperf.questions import table
from rally_vmperf.questions.common import task as tasks_
from tests.unit import made
from tests.unit.doc import pages
from tests.unit.workloads import golden

MAIN = tasks_page.MAIN
DENSITY = "tasks/kvm-density.yaml"
AUDIT = "tasks/capacity-audit.yaml"
SELF_CHECK = "tasks/self-check.yaml"
#: Task -> the names that it takes, of which it tells the meaning.
TAKEN = {
    path: set(tasks_page.read_arguments(path)) for path in tasks_page.PATHS
}
PEER = {"address": "192.0.2.10", "user": "root"}
#: What is read of any file that a workload brings, a tarball aside.
JOB_FILE = pages.ROOT / "scenarios" / "database.fio"
#: Metrics that their workloads tell over time.
_OVER_TIME = re.compile(r"(disk.fio|network.iperf3)\..*\.(iops|throughput)")
#: A file of the reader's machine, as a task names it.
_FILE = re.compile(
    r'"(key_file|known_hosts|password_file|proxy_login)": "([^"]+)"'
)
SHAPE = {"vcpus": 2, "memory_mib": 2048, "copies": 1}
MACHINE = document.BaselineMachine(name="host-1", fingerprint={})


def rally():
    """Return Rally's API, with all plugins and no configuration."""
    plugins.load()
    return api.API(config_file=os.devnull, skip_db_check=True)


def read_file(file):
    """Return the content of a file of a workload, as far as it is read."""
    if file.name == "unixbench.tar":
        return golden.unixbench_source()
    if file.name == "stream.c":
        return b"#define STREAM_ARRAY_SIZE 10000000\n"
    return JOB_FILE.read_bytes()


def render(path, arguments):
    """Return a task file as Rally renders it."""
    template = pages.ROOT / path
    return yaml.safe_load(
        rally().task.render_template(
            task_template=template.read_text(),
            template_dir=str(template.parent),
            **arguments,
        )
    )


def of_block(text):
    """Return the task that a block of YAML is, or is a part of.

    :raises ValueError: when it is none
    """
    content = yaml.safe_load(text)
    if "version" in content:
        return content
    # vmperf.yaml names its task, by default that of the main job.
    if "task" in content:
        return render(f"tasks/{content.pop('task')}", content)
    for task, names in TAKEN.items():
        if set(content) <= names:
            rendered = render(task, {"peer": PEER, **content})
            if _is_meant(rendered):
                return rendered
    whole = _whole()
    subtask = whole["subtasks"][0]
    if _of_density(text):
        subtask["scenario"] = {
            "VMPerf.density": {
                "peer": PEER,
                "levels": [1, 2, 4, 8],
                "workloads": [{"name": name} for name in golden.MEASURED],
            }
        }
        subtask["contexts"]["vmperf_guests@openstack"]["count"] = 8
    ((scenario, arguments),) = subtask["scenario"].items()
    declared = table.scenarios()[scenario].arguments
    known = {field.name for field in dataclasses.fields(declared)}
    for key, value in content.items():
        if key in known:
            arguments[key] = value
            subtask["sla"] = {"failure_rate": {"max": 0}}
        elif key in ("sla", "contexts", "runner", "scenario"):
            subtask[key] = value
        else:
            raise ValueError(f"{key!r} is not part of a task")
    return whole


def _is_meant(task):
    """Return whether a task has the workloads and the SLAs of arguments."""
    criteria = table.criteria()
    for subtask in task["subtasks"]:
        try:
            created = create_task(subtask)
        except tasks_.InvalidTask:
            return False
        question = table.scenarios()[created.scenario]
        if any(
            criteria[name] not in question.criteria
            for name in {*created.criteria} & {*criteria}
        ):
            return False
    return True


def _of_density(text):
    signs = (
        *("vmperf_degradation", "vmperf_fairness", "levels:", "stop:"),
        *("others:", "lone:"),
    )
    return any(word in text for word in signs)


def _whole():
    return {
        "version": 2,
        "title": "All workloads",
        "subtasks": [
            {
                "title": "All workloads",
                "scenario": {
                    "VMPerf.overhead": {
                        "peer": PEER,
                        "workloads": [
                            {"name": name} for name in golden.MEASURED
                        ],
                    }
                },
                "runner": {"serial": {"times": 5}},
                "contexts": {
                    "vmperf_baseline": {"name": "default"},
                    "vmperf_guests@openstack": {
                        "image": {"name": "vmperf-guest"},
                        "flavor": {"name": "m1.small"},
                        "count": 2,
                    },
                },
                "sla": {"failure_rate": {"max": 0}},
            }
        ],
    }


def check(task):
    """Have Rally check a task, with a baseline for all its workloads.

    :raises InvalidTaskConfig: with the reason
    """
    plugins.load()
    with (
        tempfile.TemporaryDirectory() as folder,
        mock.patch(
            "rally_vmperf.machines.remote.routes.open_socket", autospec=True
        ),
        mock.patch(
            "rally_vmperf.workloads.files.read",
            autospec=True,
            side_effect=read_file,
        ),
        mock.patch(
            "rally_vmperf.bundles.bundle.load",
            autospec=True,
            return_value=mock.Mock(programs={}),
        ),
    ):
        task = _with_files(task, pathlib.Path(folder, "files"))
        _register(task, store.Store(folder))
        cfg.CONF.set_override("baseline_dir", folder, "vmperf")
        try:
            config = task_cfg.TaskConfig(task)
            running = engine.TaskEngine(config, mock.MagicMock(), None)
            running.validate(only_syntax=True)
        finally:
            cfg.CONF.clear_override("baseline_dir", "vmperf")


def _with_files(task, folder):
    """Return a copy of a task whose files are made in a folder."""

    def make(match):
        key, name = match.groups()
        path = folder / name.lstrip("~/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("some:thing\n")
        return f'"{key}": {json.dumps(str(path))}'

    return json.loads(_FILE.sub(make, json.dumps(task)))


def _register(task, registry_of_baselines):
    covered = {}
    for subtask in task["subtasks"]:
        # Rally reports what is wrong with a task.
        with contextlib.suppress(tasks_.InvalidTask):
            created = create_task(subtask)
            _cover(created, covered)
    for name, entries in covered.items():
        registry_of_baselines.save(
            made.baseline(name=name, machine=MACHINE, entries=tuple(entries))
        )


def _cover(created, covered):
    """Add entries for the workloads of a task to those of its baseline."""
    if created.baseline is not None:
        name = created.baseline["name"]
        is_whole = created.protocol.shape == "whole"
        limited_by = "none" if is_whole else "cgroup2"
        entries = baseline(name, created.assignments, limited_by).entries
        covered.setdefault(name, []).extend(entries)


def create_task(subtask):
    """Return a rendered subtask as a task."""
    ((name, arguments),) = subtask["scenario"].items()
    ((runner, options),) = subtask["runner"].items()
    return table.scenarios()[name].create_task(
        {
            "args": arguments,
            "contexts": subtask["contexts"],
            "sla": subtask["sla"],
            "runner_type": runner,
            "runner": options,
        },
        subtask["title"],
    )


#: The value of each metric in each repetition of bare metal.
_VALUES = (100.0,) * 3


def baseline(name, assignments, limited_by="cgroup2", values=_VALUES):
    """Return a baseline that covers assignments, in several copies."""
    return made.baseline(
        name=name,
        machine=MACHINE,
        entries=tuple(
            _entry(assigned, copies, limited_by, values)
            for assigned in assignments
            for copies in (1, 2, 3, 4, 8)
        ),
    )


def _entry(assigned, copies, limited_by, values):
    assigned = assigned.for_vcpus(SHAPE["vcpus"])
    metrics = assigned.workload.metrics(assigned.arguments)
    means = series.MeanSeries(end=10, mean=(90, 110))
    entry = made.entry(
        dict.fromkeys(metrics, values),
        workload=assigned.workload.name,
        arguments=assigned.arguments,
        **assigned.protocol(),
        limited_by=limited_by,
        shape=document.Shape(**{**SHAPE, "copies": copies}),
    )
    time_series = tuple(
        merged.TimeSeries(metric=metric, machines=copies, means=means)
        for metric in metrics
        if _OVER_TIME.fullmatch(metric.name)
    )
    return dataclasses.replace(
        entry,
        reference=dataclasses.replace(
            entry.reference, time_series=time_series
        ),
    )
