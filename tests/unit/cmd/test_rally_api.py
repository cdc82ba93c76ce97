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
task.update_status("crashed")
assert rally_api.list_tasks()[0].ended
"""


class ListTasksTestCase(unittest.TestCase):
    def test_tasks_with_their_workloads(self):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run(
                [sys.executable, "-c", SCRIPT, f"sqlite:///{folder}/r.sqlite"],
                capture_output=True,
                text=True,
                check=False,
                timeout=300,
            )
        self.assertEqual(0, done.returncode, done.stderr)
