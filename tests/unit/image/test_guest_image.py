# SPDX-License-Identifier: Apache-2.0
import configparser
import dataclasses
import os
import pathlib
import shutil
import stat
import time
import unittest
from unittest import mock

import ddt

from rally_vmperf import resources
from rally_vmperf.image import commands
from rally_vmperf.image import guest_image
from rally_vmperf.image import packages
from rally_vmperf.workloads import base as workloads
from tests.unit.cloud import base

TOOLS = {"bash", "fio", "iperf3", "sysbench", "mbw", "bzip2"}


def shipped(name):
    return resources.path("etc", "guest-image", name)


class RecipeFilesTestCase(base.CloudTestCase):
    def test_base_has_what_every_guest_needs(self):
        """And no tool, which come with the workloads."""
        base_of_all = set(packages.listed(shipped("packages.txt")))
        self.assertLessEqual(
            {"procps", "python3-yaml", "iproute2"}, base_of_all
        )
        self.assertEqual(set(), TOOLS & base_of_all)

    def test_keys_before_the_ssh_server(self):
        """Nothing else prevents a guest from being configured."""
        config = configparser.ConfigParser()
        config.optionxform = str
        config.read_string(shipped("vmperf-guest.service").read_text())
        self.assertEqual("ssh.service", config["Unit"]["Before"])
        self.assertTrue(config["Service"]["ExecStartPre"].startswith("-/"))
        program = config["Service"]["ExecStart"].split()[-1]
        self.assertIn(f'"$root{program}"', shipped("finish.sh").read_text())

    def test_networks_of_either_family(self):
        """DHCP of both versions, SLAAC, and no wait for the other family."""
        config = configparser.ConfigParser()
        config.optionxform = str
        config.read_string(shipped("ethernet.network").read_text())
        self.assertEqual("ipv4", config["Network"]["DHCP"])
        # By router advertisements, DHCPv6 as these say: with addresses
        # (managed) or without (other configuration).
        self.assertEqual("yes", config["Network"]["IPv6AcceptRA"])
        self.assertEqual("yes", config["IPv6AcceptRA"]["DHCPv6Client"])
        self.assertEqual("any", config["Link"]["RequiredFamilyForOnline"])
        self.assertEqual("routable", config["Link"]["RequiredForOnline"])
        # Neutron drops what comes from addresses that it did not choose.
        self.assertEqual("no", config["Network"]["IPv6PrivacyExtensions"])
        self.assertEqual("link-layer", config["DHCPv6"]["DUIDType"])

    def test_nothing_that_would_flatter_the_figures(self):
        boot = shipped("extlinux.conf").read_text()
        line = next(ln for ln in boot.splitlines() if "APPEND" in ln)
        for word in ("mitigations", "nokaslr", "isolcpus", "idle="):
            self.assertNotIn(word, line)

    def test_nobody_logs_in_by_password(self):
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
        image_lines = (files / "vmperf-image").read_text().splitlines()
        self.assertEqual(
            [
                *("SUITE=bookworm", "SOURCE_DATE_EPOCH=1700000000"),
                "WORKLOADS=bzip2,fio,iperf3,mbw,sysbench",
            ],
            image_lines[1:],
        )


class InstallTestCase(base.CloudTestCase):
    def install(self, *, options=(), sources=(), **recipe):
        """Return mmdebstrap's command line and its environment."""
        recipe = guest_image.Recipe(output=pathlib.Path("/o.qcow2"), **recipe)
        with (
            mock.patch.multiple(
                guest_image.mirror,
                proxy_options=lambda: options,
                of_this_machine=lambda _suite: sources,
            ),
            mock.patch.object(
                guest_image.commands, "run", autospec=True
            ) as run,
        ):
            guest_image.install(
                recipe,
                shipped("packages.txt").parent,
                pathlib.Path("/work/system.tar"),
                0,
                self.folder / "log",
            )
        ((arguments,), keywords) = run.call_args
        return arguments, keywords["env"]

    def arguments(self, **options):
        return self.install(**options)[0]

    def test_its_own_mirror_when_the_machine_has_none(self):
        self.assertEqual(
            ["bookworm", "/work/system.tar"], self.arguments()[-2:]
        )

    def test_the_machines_sources_and_proxy(self):
        arguments = self.arguments(options=["proxy"], sources=["deb a b c"])
        self.assertEqual("deb a b c", arguments[-1])
        self.assertIn("--aptopt=proxy", arguments)
        arguments = self.arguments(sources=["deb a b c"], mirror="deb d e f")
        self.assertEqual(["/work/system.tar", "deb d e f"], arguments[-2:])

    def test_a_proxys_password_is_on_no_command_line(self):
        # No directory that mkdtemp names contains it.
        password = "correct-horse-battery"
        login = f"http://user:{password}@192.0.2.1:3128"
        apt_options = [
            f'Acquire::http::Proxy "{login}";',
            'Acquire::http::Proxy::mirror.example "DIRECT";',
        ]
        arguments, environment = self.install(options=apt_options)
        self.assertIn(f"--aptopt={apt_options[1]}", arguments)
        self.assertNotIn(password, " ".join(arguments))
        self.assertEqual(login, environment["http_proxy"])

    def included(self, **recipe):
        arguments = self.arguments(**recipe)
        (word,) = [w for w in arguments if w.startswith("--include=")]
        packages = word.removeprefix("--include=").split(",")
        self.assertEqual(len(set(packages)), len(packages))
        return set(packages)

    def test_tools_of_the_workloads_that_are_named(self):
        """By default those of the main tasks, and no others."""
        base_of_all = self.included(workloads=())
        self.assertEqual(TOOLS, self.included() - base_of_all - {"python3"})
        self.assertEqual(
            base_of_all | {"fio", "perl", "build-essential", "make", "tar"},
            self.included(workloads=("fio", "unixbench")),
        )
        with self.assertRaisesRegex(
            workloads.WorkloadError, "'fi' does not exist"
        ):
            self.included(workloads=("fi",))

    def test_lists_lose_their_comments(self):
        arguments = self.arguments()
        excluded = [w for w in arguments if w.startswith("--dpkgopt=")]
        self.assertTrue(excluded)
        for word in excluded:
            self.assertRegex(word, r"^--dpkgopt=path-exclude=/\S+$")

    def test_a_size_that_is_none(self):
        recipe = guest_image.Recipe(output=self.folder / "o.qcow2", size="big")
        with self.assertRaisesRegex(
            commands.HostError, "size 'big': must be a number with M or G"
        ):
            guest_image.build(recipe, self.folder / "log")

    def test_a_size_without_room_for_any_guest(self):
        for size in ("10M", "255M"):
            with self.assertRaisesRegex(
                commands.HostError,
                f"size '{size}': must be at least 256M .*the default is 2G",
            ):
                guest_image.check_size(size)
        for size in ("256M", "1G"):
            self.assertEqual(size, guest_image.check_size(size))


@ddt.ddt
class BuildTestCase(base.CloudTestCase):
    """A build in which no program runs."""

    archive_mib, is_disk_full = 0, False

    def setUp(self):
        super().setUp()
        self.recipe = guest_image.Recipe(
            output=self.folders.root / "o.qcow2", mirror="deb a b c"
        )
        self.enterContext(
            mock.patch.object(guest_image.commands, "run", self.run_program)
        )
        self.enterContext(
            mock.patch.object(
                guest_image.mirror,
                "proxy_options",
                autospec=True,
                return_value=[],
            )
        )

    def run_program(self, argv, *, env=None, log=None, timeout=None):
        """Write what the last hook and qemu-img leave."""
        if "mmdebstrap" in argv:
            self.date = env["SOURCE_DATE_EPOCH"]
            files = pathlib.Path(env["VMPERF_IMAGE_FILES"])
            self.description = (files / "vmperf-image").read_text()
            (files / "manifest").write_text("fio\t3.33-3\n")
            with pathlib.Path(argv[-2]).open("wb") as stream:
                stream.truncate(self.archive_mib << 20)
        elif "tar" in argv and self.is_disk_full:
            raise commands.HostError("tar ended with code 2")
        elif argv[0] == "qemu-img":
            pathlib.Path(argv[-1]).write_text("image")

    def build(self, **variables):
        with mock.patch.dict(os.environ, **variables):
            guest_image.build(self.recipe, self.folder / "log")

    def test_a_system_larger_than_the_disk(self):
        """The error names a size, before a disk is made or after."""
        self.archive_mib = 500
        hint = "size '{}': the system has 500 MiB; use a size of at least 664M"
        for size, is_full, more in (
            ("300M", False, ""),
            ("600M", True, "; tar ended with code 2"),
        ):
            self.recipe = dataclasses.replace(self.recipe, size=size)
            self.is_disk_full = is_full
            with self.assertRaises(commands.HostError) as caught:
                self.build()
            self.assertEqual(hint.format(size) + more, str(caught.exception))
        self.is_disk_full = False
        self.build()
        self.recipe = dataclasses.replace(self.recipe, size="1G")
        self.is_disk_full = True
        with self.assertRaisesRegex(commands.HostError, "^tar ended"):
            self.build()

    def test_manifest_next_to_the_image(self):
        self.build()
        self.assertEqual("image", self.recipe.output.read_text())
        manifest = self.folders.root / "o.manifest"
        packages_line, digest_line = manifest.read_text().splitlines()
        self.assertEqual("fio\t3.33-3", packages_line)
        self.assertRegex(digest_line, "^rally-vmperf-recipe\t[0-9a-f]{64}$")

    def test_current_image(self):
        """It is that of the same recipe and of the same files."""
        self.assertFalse(guest_image.is_current(self.recipe))
        self.build()
        self.assertTrue(guest_image.is_current(self.recipe))
        other = dataclasses.replace(self.recipe, workloads=("fio",))
        self.assertFalse(guest_image.is_current(other))
        changed = self.folders.root / "etc" / "guest-image"
        shutil.copytree(shipped("."), changed)
        with mock.patch.object(
            guest_image.resources, "path", autospec=True, return_value=changed
        ):
            self.assertTrue(guest_image.is_current(self.recipe))
            (changed / "packages.txt").write_text("udev\n")
            self.assertFalse(guest_image.is_current(self.recipe))
        self.recipe.output.unlink()
        self.assertFalse(guest_image.is_current(self.recipe))

    def test_image_without_a_digest(self):
        """An earlier version made it."""
        self.recipe.output.touch()
        self.assertFalse(guest_image.is_current(self.recipe))
        manifest = self.recipe.output.with_suffix(".manifest")
        manifest.write_text("fio\t3.33-3\n")
        self.assertFalse(guest_image.is_current(self.recipe))

    def test_date_of_the_caller(self):
        self.build(SOURCE_DATE_EPOCH="1700000000")
        self.assertEqual("1700000000", self.date)
        self.assertIn("SOURCE_DATE_EPOCH=1700000000\n", self.description)

    def test_current_date(self):
        """No index of a release is downloaded for it."""
        with mock.patch.dict(os.environ):
            os.environ.pop("SOURCE_DATE_EPOCH", None)
            before = int(time.time())
            self.build()
        self.assertIn(int(self.date), range(before, int(time.time()) + 1))

    @ddt.data("", "today", "-1", "1.5", "1e9", "99999999999", "٣")
    def test_invalid_date(self, date):
        with self.assertRaisesRegex(
            commands.HostError,
            f"^SOURCE_DATE_EPOCH={date}: must be an integer from 0 to ",
        ):
            self.build(SOURCE_DATE_EPOCH=date)


class SweepTestCase(base.CloudTestCase):
    def test_what_a_killed_build_left(self):
        left = self.folders.root / f"{guest_image.WORK_PREFIX}left"
        (left / "files").mkdir(parents=True)
        with guest_image.workshop(self.folders.root) as work:
            removed = guest_image.sweep(self.folders.root)
            self.assertTrue(work.exists())
        self.assertEqual([left.name], removed)
        self.assertFalse(left.exists())


class MakeTestCase(base.CloudTestCase):
    def make(self):
        """Return the commands that make a disk."""
        commands = []
        guest_image.make_disk(
            self.folder / "disk.raw",
            "2G",
            self.folder / "system.tar",
            commands.append,
        )
        return commands

    def test_filesystem_the_loader_can_read(self):
        command = self.make()[1]
        self.assertEqual("mkfs.ext4", command[0])
        self.assertIn(
            "-O ^64bit,^metadata_csum,^has_journal ", " ".join(command)
        )

    def test_no_second_filesystem(self):
        """The archive is unpacked where it stays, and then made to boot."""
        disk = str(self.folder / "disk.raw")
        commands = self.make()
        for command in commands:
            self.assertIn(disk, command)
        self.assertEqual(
            ["truncate", "mkfs.ext4", "tar", "extlinux", "tune2fs", "e2fsck"],
            [
                command[6 if command[0] == "unshare" else 0]
                for command in commands
            ],
        )


class CommandsTestCase(unittest.TestCase):
    def test_unpacked_with_capabilities(self):
        command = guest_image.unpack(
            pathlib.Path("/t.tar"), pathlib.Path("/m")
        )
        self.assertEqual(
            "tar -xpf /t.tar -C /m --numeric-owner --xattrs "
            "--xattrs-include=*",
            " ".join(command),
        )

    def test_nobody_else_sees_the_mount(self):
        command = guest_image.inside_disk(
            pathlib.Path("/w/d"), pathlib.Path("/m"), ["find", "/m"]
        )
        self.assertEqual(
            "unshare --mount sh /w/files/with-disk.sh /w/d /m find /m",
            " ".join(command),
        )
