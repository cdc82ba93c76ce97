"""Damage to the embedded cloud, and ``cloud up`` after it."""

import os
import re
import subprocess
import unittest

import ddt
import openstack

from rally_vmperf.cloud import probes
from tests.functional import laboratory
from tests.long import damages

# All steps, one after the other, take five minutes.
EVERY = int(os.environ.get("VMPERF_EVERY", "4"))
LONG = os.environ.get("VMPERF_LONG")
d = damages
GONE = "the databases were made anew: users, .* and guests .* are gone"

SERVICES = (
    "epmd", "mariadb", "rabbitmq", "libvirtd", "peer-sshd", "keystone",
    "placement", "glance", "nova-api", "nova-conductor", "nova-scheduler",
    "nova-compute", "neutron-server", "neutron-linuxbridge-agent",
    "neutron-dhcp-agent", "neutron-l3-agent", "neutron-metadata-agent",
)  # fmt: skip


def up() -> subprocess.CompletedProcess:
    """Run ``cloud up`` to its end."""
    return subprocess.run(
        [*d.COMMAND, "up", *d.ROOT],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=400,
        check=False,
    )


@unittest.skipUnless(
    LONG and laboratory.CLOUD, "VMPERF_LONG or VMPERF_CLOUD is not set"
)
class Case(unittest.TestCase):
    """A test that leaves the cloud working."""

    def setUp(self):
        super().setUp()
        self.said = ""
        self.addCleanup(self.check_it_works)

    def up(self):
        """Bring the cloud up, and keep what it said."""
        done = up()
        self.said = done.stdout
        print(*re.findall("found: .*", self.said), sep="\n")
        print(self.said.splitlines()[-1][:30])
        self.assertEqual(0, done.returncode, self.said)

    def repaired(self, *said: str):
        """Bring the cloud up; it says what was wrong, and works again."""
        self.up()
        for phrase in said:
            self.assertRegex(self.said, f"found: .*{phrase}")

    def nothing_more(self):
        """Bring the cloud up again; there is nothing more to repair."""
        self.up()
        self.assertNotIn("found:", self.said)

    def check_it_works(self):
        """Use every service of the cloud."""
        config = openstack.config.OpenStackConfig(
            config_files=[str(d.PLACE.clouds)], load_envvars=False
        )
        for user in ("admin", "member"):
            cloud = openstack.connection.Connection(
                config=config.get_one(f"vmperf-{user}")
            )
            cloud.authorize()
            images = [(i.name, i.status) for i in cloud.image.images()]
            self.assertIn(("vmperf-guest", "active"), images)
            flavors = {flavor.name for flavor in cloud.compute.flavors()}
            self.assertIn("vmperf.small", flavors)
            networks = {network.name for network in cloud.network.networks()}
            self.assertLessEqual({"public", "private"}, networks)
        admin = openstack.connection.Connection(
            config=config.get_one("vmperf-admin")
        )
        hypervisors = list(admin.compute.hypervisors())
        self.assertEqual(["up"], [one.state for one in hypervisors])
        self.assertTrue(probes.tcp("172.24.4.2:22"))


@ddt.ddt
class ProcessesTestCase(Case):
    """Processes that end, and that do not answer."""

    @ddt.data(*SERVICES)
    def test_each(self, name):
        d.end(name)
        self.repaired(f"{name} has ended; started anew")

    def test_all(self):
        d.end_all()
        self.repaired("mariadb has ended", "nova-compute has ended")
        self.nothing_more()

    @ddt.data("glance", "nova-compute")
    def test_deaf(self, name):
        d.tell_to_stop(name)
        self.repaired(f"{name} was told to stop, and waits; started anew")


@ddt.ddt
class NetworkTestCase(Case):
    """Bridges, links, namespaces, addresses, rules, mounts."""

    @ddt.data(
        {
            "bridge br-ex is gone": "link delete br-ex",
            "the peer's eth0 has lost its address":
                "-n vmperf-peer address flush dev eth0",
        },
        {
            "bridge br-mgmt is gone": "link delete br-mgmt",
            "link vmperf-ext-br is gone": "link delete vmperf-ext",
        },
        {
            "link vmperf-peer is gone": "link delete vmperf-peer",
            "bridge br-mgmt has lost its address":
                "address flush dev br-mgmt",
            "bridge br-ex is down": "link set br-ex down",
        },
        {
            "namespace vmperf-peer is gone": "netns delete vmperf-peer",
            "bridge br-ex has lost its address": "address flush dev br-ex",
            "the route that keeps 10.254.1.0/24 here is gone":
                "route delete unreachable 10.254.1.0/24 metric 900000",
        },
    )  # fmt: skip
    def test_each(self, table):
        for words in table.values():
            d.run("ip", *words.split())
        self.repaired(*(f"{said}.*put right" for said in table))

    def test_namespaces(self):
        d.lose_namespaces()
        self.repaired("namespace qrouter-.* is gone", "namespace qdhcp-")

    def test_rules(self):
        d.flush_rules()
        self.repaired("firewall of this machine", "firewall of qrouter-")

    def test_mounts(self):
        d.run("umount", "/run/netns/vmperf-peer")
        d.lose_mount()
        self.repaired(
            "namespace vmperf-peer is gone",
            "libvirtd has lost its mount on /etc/libvirt",
        )


class FilesTestCase(Case):
    """What lies below the state root, the databases aside."""

    def test_configuration(self):
        d.remove("clouds.yaml", "known_hosts", "etc/glance.conf")
        d.cut("etc/nova.conf")
        d.cut("settings.json")
        self.repaired(
            "clouds.yaml is gone", "etc/glance.conf", "etc/nova.conf",
            "settings.json cannot be read",
        )  # fmt: skip

    def test_keys(self):
        d.cut("etc/id_ed25519", 40)
        d.remove("etc/peer_host_ed25519", "data/keystone/fernet")
        d.cut("data/keystone/credential/0", 3)
        self.repaired(
            "the key etc/id_ed25519", "the key etc/peer_host_ed25519",
            "Keystone's keys .fernet, credential. cannot be used",
        )  # fmt: skip

    def test_secrets(self):
        password = (d.PLACE.root / "openrc-admin").read_text()
        d.cut("etc/secrets.json", 30)
        self.repaired("14 secrets are lost.*are as before")
        self.assertEqual(password, (d.PLACE.root / "openrc-admin").read_text())

    def test_secrets_and_clouds(self):
        d.remove("etc/secrets.json", "clouds.yaml")
        self.repaired("14 secrets are lost.*make Rally's environments anew")

    def test_image_in_glance(self):
        d.glance_file().unlink()
        self.repaired("Glance's file of it is gone; uploaded anew")
        os.truncate(d.glance_file(), 1000)
        self.repaired("has 1000 bytes of")
        d.overwrite_middle(d.glance_file())
        self.repaired("has another checksum")

    def test_folders(self):
        d.remove("data/nova/instances", "data/neutron", "data/locks")
        self.repaired(
            "folder data/nova/instances is gone; .* guests of earlier",
            "folder data/neutron is gone",
        )

    def test_messages(self):
        d.end("rabbitmq")
        folder = next((d.PLACE.data / "rabbitmq").glob("vmperf@localhost"))
        for path in folder.rglob("*"):
            if path.is_file():
                os.truncate(path, path.stat().st_size // 2)
        self.repaired("RabbitMQ does not start with its files.*made anew")

    def test_sockets(self):
        (d.PLACE.run / "mariadb" / "mysql.sock").unlink()
        os.unlink("/run/libvirt/libvirt-sock")
        self.repaired("mariadb does not answer", "libvirtd does not answer")

    def test_records(self):
        for path in d.PLACE.run.glob("*.json"):
            os.truncate(path, 10)
        for name in ("rabbitmq.pid", "mariadb/mysqld.pid", "peer-sshd.pid"):
            (d.PLACE.run / name).write_text(f"{os.getpid()}\n")
        self.repaired()

    def test_lock_of_a_dead_process(self):
        d.interrupt(["up"], "image tools")
        self.repaired()


class DatabasesTestCase(Case):
    """Databases that cannot be used are made anew."""

    def test_files(self):
        d.end("mariadb")
        d.zero("data/mysql/nova/instances.ibd")
        self.repaired(f"table instances cannot be read; {GONE}")
        self.nothing_more()

    def test_what_only_mariadb_can_see(self):
        d.end("mariadb")
        d.cut("data/mysql/ibdata1", 20 * 1024**2)
        self.repaired(f"MariaDB does not start .*{GONE}")

    def test_tables(self):
        d.sql("DROP TABLE neutron.alembic_version")
        self.repaired(f"table neutron.alembic_version is gone; {GONE}")


class InterruptedTestCase(Case):
    """Commands that are killed."""

    def test_up(self):
        """It is killed after its first step, then after its fifth, ..."""
        d.end_all()
        count = 1
        while not up_until(count):
            count += EVERY
        self.nothing_more()

    def test_down(self):
        for sign in ("services stopped", "guests and stray", "bridges"):
            d.interrupt(["down"], sign)
        self.up()
        self.check_it_works()


def up_until(count: int) -> bool:
    """Kill ``cloud up`` after so many steps; tell whether it ended before."""
    process = subprocess.Popen(
        [*d.COMMAND, "up", *d.ROOT],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    with process:
        for line in process.stdout:
            count -= bool(re.search(r"s\] [a-z-]+( [a-z]+)?$", line))
            if count == 0:
                process.kill()
                return False
    return process.returncode == 0


class RefusedTestCase(Case):
    """What ``cloud up`` leaves to the user, in one line."""

    def test_a_port_of_another_process(self):
        d.end("glance")
        foreign = d.listen("172.30.0.1", 9292)
        self.addCleanup(up)
        self.addCleanup(foreign.wait)
        self.addCleanup(foreign.kill)
        done = up()
        self.assertEqual(1, done.returncode)
        self.assertRegex(
            done.stdout.splitlines()[-1],
            f"glance cannot have 172.30.0.1:9292: process {foreign.pid} ",
        )
        self.assertIsNone(foreign.poll())

    def test_a_full_disk(self):
        folder = d.PLACE.etc
        d.run("mount", "-t", "tmpfs", "-o", "size=16k", "none", str(folder))
        self.addCleanup(up)
        self.addCleanup(d.run, "umount", str(folder))
        (folder / "filler").write_bytes(bytes(16 * 1024 - 4096))
        done = up()
        self.assertEqual(1, done.returncode)
        self.assertIn("the disk is full", done.stdout.splitlines()[-1])
