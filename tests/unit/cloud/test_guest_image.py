import pathlib
import stat

import yaml

from rally_vmperf import resources
from rally_vmperf.cloud import errors
from rally_vmperf.cloud import guest_image
from rally_vmperf.cloud import packages
from tests.unit.cloud import base

TOOLS = {"fio", "iperf3", "sysbench", "mbw", "bzip2", "wget", "curl"}


def shipped(name):
    return resources.path("etc", "guest-image", name)


class RecipeFilesTestCase(base.CloudTestCase):
    def test_measuring_tools_are_in_it(self):
        self.assertLessEqual(
            TOOLS | {"python3", "procps", "cloud-init"},
            set(packages.listed(shipped("packages.txt"))),
        )

    def test_nothing_that_would_flatter_the_figures(self):
        boot = shipped("extlinux.conf").read_text()
        line = next(ln for ln in boot.splitlines() if "APPEND" in ln)
        for word in ("mitigations", "nokaslr", "isolcpus", "idle="):
            self.assertNotIn(word, line)

    def test_cloud_init_takes_keys_and_commands(self):
        config = yaml.safe_load(shipped("cloud.cfg").read_text())
        modules = {
            module
            for stage in ("init", "config", "final")
            for module in config[f"cloud_{stage}_modules"]
        }
        self.assertLessEqual(
            {"ssh", "users-groups", "write-files", "runcmd", "scripts-user"},
            modules,
        )

    def test_nobody_logs_in_by_password(self):
        config = yaml.safe_load(shipped("cloud.cfg").read_text())
        self.assertEqual("unchanged", config["ssh_pwauth"])
        server = shipped("sshd.conf").read_text().splitlines()
        self.assertIn("PasswordAuthentication no", server)

    def test_hooks_can_be_run_and_know_the_suite(self):
        recipe = guest_image.Recipe(
            output=pathlib.Path("/o.qcow2"), suite="trixie"
        )
        files = guest_image.lay_out(recipe, self.folder, 1700000000)
        for hook in ("before-packages.sh", "finish.sh"):
            mode = stat.S_IMODE((files / hook).stat().st_mode)
            self.assertEqual(0o755, mode)
        sources = (files / "debian.sources").read_text()
        self.assertIn("Suites: trixie trixie-updates\n", sources)

    def test_the_image_says_of_what_it_was_built(self):
        recipe = guest_image.Recipe(output=pathlib.Path("/o.qcow2"))
        files = guest_image.lay_out(recipe, self.folder, 1700000000)
        told = (files / "vmperf-image").read_text().splitlines()
        self.assertEqual(
            ["SUITE=bookworm", "SOURCE_DATE_EPOCH=1700000000"], told[1:]
        )


class ArgumentsTestCase(base.CloudTestCase):
    def arguments(self, *, options=(), sources=()):
        recipe = guest_image.Recipe(output=pathlib.Path("/o.qcow2"))
        return guest_image.arguments(
            recipe,
            shipped("packages.txt").parent,
            pathlib.Path("/work/system.tar"),
            options,
            sources,
        )

    def test_its_own_mirror_when_the_machine_has_none(self):
        self.assertEqual(
            ["bookworm", "/work/system.tar"], self.arguments()[-2:]
        )

    def test_the_machines_sources_and_proxy(self):
        words = self.arguments(options=["proxy"], sources=["deb a b c"])
        self.assertEqual("deb a b c", words[-1])
        self.assertIn("--aptopt=proxy", words)

    def test_lists_lose_their_comments(self):
        words = self.arguments()
        excluded = [w for w in words if w.startswith("--dpkgopt=")]
        self.assertTrue(excluded)
        for word in excluded:
            self.assertRegex(word, r"^--dpkgopt=path-exclude=/\S+$")

    def test_a_size_that_is_none(self):
        recipe = guest_image.Recipe(output=self.folder / "o.qcow2", size="big")
        with self.assertRaisesRegex(errors.CloudError, "'big' is no size"):
            guest_image.build(recipe, self.folder / "log")


class SweepTestCase(base.CloudTestCase):
    def test_what_a_killed_build_left(self):
        left = self.place.root / f"{guest_image.WORK_PREFIX}left"
        (left / "files").mkdir(parents=True)
        with guest_image.workshop(self.place.root) as work:
            removed = guest_image.sweep(self.place.root)
            self.assertTrue(work.exists())
        self.assertEqual([left.name], removed)
        self.assertFalse(left.exists())
