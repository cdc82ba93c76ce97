# SPDX-License-Identifier: Apache-2.0
"""Tests of requests to Rally, in a process with a database of its own."""

import subprocess
import sys
import tempfile
import unittest

SCRIPT = """
import sys
from rally.common import cfg
from rally.common.db import schema
from rally.common import objects

cfg.CONF([], project="rally", default_config_files=[])
cfg.CONF.set_override("connection", sys.argv[1], group="database")
schema.schema_create()
task = objects.Task(title="t", env_uuid="e", description="")
subtask = task.add_subtask(title="s", description="", contexts={})
workload = subtask.add_workload(
    name="n", description="", position=0, runner={}, runner_type="serial",
    contexts={}, hooks=[], sla={}, args={},
)
from rally_vmperf.cmd import rally_api
(listed,) = rally_api.list_tasks()
assert listed.uuid == task["uuid"], listed
assert listed.workloads == (workload["uuid"],), listed
assert not listed.ended, listed
failed = subtask.add_workload(
    name="n", description="", position=1, runner={}, runner_type="serial",
    contexts={"vmperf_guests@openstack": {"host": "compute9"}}, hooks=[],
    sla={}, args={},
)
failed.set_results(
    load_duration=0, full_duration=0, start_time=None, sla_results=[],
    contexts_results=[
        {"plugin_name": "vmperf_guests@openstack",
         "setup": {"error": ["GuestError", "no valid host", "trace"]}},
        {"plugin_name": "other@openstack", "setup": {"error": None}},
    ],
)
named = rally_api.list_failed_hosts(None, [task["uuid"]])
assert named == {task["uuid"]: {"compute9": "no valid host"}}, named
assert rally_api.list_failed_hosts(None, ["unknown"]) == {}
task.update_status("crashed")
assert rally_api.list_tasks()[0].ended
"""


class ListTasksTestCase(unittest.TestCase):
    def test_tasks_with_their_workloads(self):
        with tempfile.TemporaryDirectory() as folder:
            process = subprocess.run(
                [sys.executable, "-c", SCRIPT, f"sqlite:///{folder}/r.sqlite"],
                capture_output=True,
                text=True,
                check=False,
                timeout=300,
            )
        self.assertEqual(0, process.returncode, process.stderr)
