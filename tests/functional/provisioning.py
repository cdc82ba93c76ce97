"""Guests that lack tools, and what they can get them from."""

import yaml

from tests.functional import laboratory

TASK = laboratory.TASKS / "provision.yaml"
#: sysbench, and with it every package that was installed only for it.
PURGED = ["mbw", "sysbench", "libmariadb3", "libluajit2-5.1-2"]


def without_tools(*sources):
    """Return user data that removes tools and leaves these sources only."""
    commands = [
        ["dpkg", "--purge", "--force-depends", *PURGED],
        ["rm", "-f", "/etc/apt/sources.list.d/debian.sources"],
    ]
    written = "".join(f"{line}\n" for line in sources)
    return yaml.safe_dump(
        {
            "bootcmd": commands,
            "write_files": [
                {"path": "/etc/apt/sources.list", "content": written}
            ],
        }
    )


class ProvisionCase(laboratory.Case):
    """A guest without tools, and packages for it."""

    def setUp(self):
        """Have a baseline and packages."""
        super().setUp()
        lab = self.laboratory
        lab.use("member")
        lab.record_baseline(
            "provision",
            *("--task", str(TASK), "--task-args", '{"guest_options": {}}'),
            *("--flavor", "vmperf.tiny"),
        )
        self.tools = lab.folder / "tools"
        if not self.tools.exists():
            lab.vmperf(
                *("tools", "fetch", str(self.tools), "--task", str(TASK)),
                *("--task-args", '{"guest_options": {}}'),
                check=True,
            )

    def run_task(self, **options):
        """Run a guest; return its record's tools."""
        before = self.laboratory.journals()
        done = self.laboratory.start(TASK, guest_options=options)
        self.check_ended(0, done)
        path = self.new_journal(before, done)
        (record,) = self.laboratory.records(path)
        self.assertEqual("complete", record["state"])
        tools = self.laboratory.machines(record)["g1"]["tools"]
        for name in ("mbw", "sysbench"):
            self.assertEqual(64, len(tools[name]["checksum"]))
        return record
