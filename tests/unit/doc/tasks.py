"""From what pages show to tasks that Rally can check."""

import json
import os
import tempfile
from unittest import mock

import yaml
from rally import api
from rally import plugins
from rally.common import cfg
from rally.task import engine
from rally.task import task_cfg

from rally_vmperf.baseline import store
from rally_vmperf.execution import assignment
from rally_vmperf.workloads import registry
from tests.unit.doc import pages

MAIN = "tasks/kvm-overhead.yaml"
#: Names that the main task takes, as its comment and the reference tell.
ARGUMENTS = (
    *("baseline", "image", "user", "flavors", "guests", "network", "host"),
    *("availability_zone", "peer", "repetitions", "warmup", "max_percent"),
    *("max", "tolerate", "cpu_seconds", "cpu_threads", "bzip2_mib"),
    *("memory_mib", "memory_runs", "disk_mib", "disk_seconds", "disk_ramp"),
    *("network_seconds", "guest_options"),
)
PEER = {"address": "192.0.2.10", "user": "root"}
SHAPE = {"vcpus": 2, "memory_mib": 2048, "copies": 1}


def rally():
    """Return Rally's API, with all plugins and nobody's configuration."""
    plugins.load()
    return api.API(config_file=os.devnull, skip_db_check=True)


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
    given = yaml.safe_load(text)
    if "version" in given:
        return given
    if set(given) <= set(ARGUMENTS):
        return render(MAIN, given)
    whole = _whole()
    subtask = whole["subtasks"][0]
    for key, value in given.items():
        if key == "workloads":
            subtask["scenario"]["VMPerf.overhead"]["workloads"] = value
            subtask["sla"] = {"failure_rate": {"max": 0}}
        elif key in ("sla", "contexts", "runner", "scenario"):
            subtask[key] = value
        else:
            raise ValueError(f"{key!r} is no part of a task")
    return whole


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
                            {"name": name} for name in registry.names()
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
    with tempfile.TemporaryDirectory() as folder:
        _register(task, store.Store(folder))
        cfg.CONF.set_override("baseline_dir", folder, "vmperf")
        try:
            config = task_cfg.TaskConfig(json.loads(json.dumps(task)))
            running = engine.TaskEngine(config, mock.MagicMock(), None)
            running.validate(only_syntax=True)
        finally:
            cfg.CONF.clear_override("baseline_dir", "vmperf")


def _register(task, registry_of_baselines):
    covered = {}
    for subtask in task["subtasks"]:
        name = subtask["contexts"]["vmperf_baseline"]["name"]
        given = subtask["scenario"]["VMPerf.overhead"]["workloads"]
        covered.setdefault(name, []).extend(assignment.assign(given))
    for name, assignments in covered.items():
        registry_of_baselines.save(baseline(name, assignments))


def baseline(name, assignments):
    """Return a baseline that covers assignments, in one shape."""
    return {
        "version": 1,
        "name": name,
        "recorded_at": "2026-01-01T00:00:00+00:00",
        "software": {"rally-vmperf": "1"},
        "machine": {"name": "host-1", "fingerprint": {}},
        "entries": [_entry(one) for one in assignments],
    }


def _entry(one):
    metrics = one.workload.metrics(one.arguments)
    rows = [
        {"source": "copy-1", "metric": metric.name, "value": 100.0}
        for metric in metrics
    ]
    return {
        "workload": one.workload.name,
        "arguments": one.arguments,
        "shape": SHAPE,
        "held": "systemd",
        "metrics": {
            metric.name: {
                "unit": metric.unit,
                "better": metric.better,
                "scale": metric.scale,
            }
            for metric in metrics
        },
        "repetitions": [rows] * 3,
        "findings": [],
    }
