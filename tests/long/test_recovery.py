"""Damage to the embedded cloud, and ``cloud up`` after it."""

import os
import re
import subprocess

import ddt

from tests.functional import breakage as d
from tests.functional import laboratory
from tests.functional import recovering
from tests.long import long

# All steps, one after the other, take five minutes.
EVERY = int(os.environ.get("VMPERF_EVERY", "4"))
NETWORKS = laboratory.networks()
GONE = "the databases were recreated: users, .* and guests .* are gone"

SERVICES = (
    "epmd", "mariadb", "rabbitmq", "libvirtd", "peer-sshd", "keystone",
    "placement", "glance", "nova-api", "nova-conductor", "nova-scheduler",
    "nova-compute", "neutron-server", "neutron-linuxbridge-agent",
    "neutron-dhcp-agent", "neutron-l3-agent", "neutron-metadata-agent",
)  # fmt: skip


@ddt.ddt
@long.LONG
class ProcessesTestCase(recovering.Case):
    """Processes that end, and that do not answer."""

    @ddt.data(*SERVICES)
    def test_each(self, name):
        d.end(name)
        self.repaired(f"{name} has ended; restarted")

    def test_all(self):
        d.end_all()
        self.repaired("mariadb has ended", "nova-compute has ended")
        self.nothing_more()

    @ddt.data("glance", "nova-compute")
    def test_deaf(self, name):
        d.tell_to_stop(name)
        self.repaired(f"{name} is stopped by a signal; restarted")


@ddt.ddt
@long.LONG
class NetworkTestCase(recovering.Case):
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
            f"the route that keeps {NETWORKS.private} here is gone":
                f"route delete unreachable {NETWORKS.private} metric 900000",
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
        self.repaired(
            "packet filter that closes the cloud", "firewall of this machine",
            "firewall of qrouter-",
        )  # fmt: skip

    def test_mounts(self):
        d.run("umount", "/run/netns/vmperf-peer")
        d.lose_mount()
        self.repaired(
            "namespace vmperf-peer is gone",
            "libvirtd has lost its mount on /etc/libvirt",
        )


@long.LONG
class GuestTestCase(recovering.Case):
    """What guests notice of a recovery: little."""

    def test_it_goes_on(self):
        admin = self.connect("admin")
        server = admin.create_server(
            "vmperf-recovery",
            image="vmperf-guest",
            flavor="vmperf.tiny",
            network="public",
            wait=True,
        )
        self.addCleanup(admin.delete_server, server.id, wait=True)
        running = d.guests()
        self.assertEqual(1, len(running))
        d.end("libvirtd", "nova-compute", "neutron-linuxbridge-agent")
        d.flush_rules()
        # The agent may have written the machine's own rules by then.
        self.repaired("libvirtd has ended", "firewall of .* has lost")
        self.assertEqual(running, d.guests())
        found = admin.compute.get_server(server.id)
        self.assertEqual("ACTIVE", found.status)
        rules = d.run("iptables-save", "-t", "filter")
        self.assertIn(server.addresses["public"][0]["addr"], rules)


@long.LONG
class FilesTestCase(recovering.Case):
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
        self.repaired("14 secrets are lost.*recreate Rally's environments")

    def test_image_in_glance(self):
        d.glance_file().unlink()
        self.repaired("Glance's file of it is gone; uploaded again")
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
        self.repaired("RabbitMQ does not start with its files.*recreated")

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


@long.LONG
class DatabasesTestCase(recovering.Case):
    """Databases that cannot be used are recreated."""

    def test_files(self):
        d.end("mariadb")
        d.cut("data/mysql/nova/instances.ibd", 100)
        self.repaired(f"table instances cannot be read; {GONE}")
        self.nothing_more()

    def test_what_only_mariadb_can_see(self):
        d.end("mariadb")
        # From the fourth page on there is what InnoDB cannot do without.
        d.spoil("data/mysql/ibdata1", 4 * 16384, 8 * 16384)
        self.repaired(f"MariaDB does not start .*{GONE}")

    def test_tables(self):
        d.sql("DROP TABLE neutron.alembic_version")
        self.repaired(f"table alembic_version is gone; {GONE}")


@long.LONG
class InterruptedTestCase(recovering.Case):
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


@long.LONG
class RefusedTestCase(recovering.Case):
    """What ``cloud up`` leaves to the user, in one line."""

    def test_a_port_of_another_process(self):
        d.end_wholly("glance")
        foreign = d.listen(NETWORKS.controller, 9292)
        self.addCleanup(recovering.up)
        self.addCleanup(foreign.wait)
        self.addCleanup(foreign.kill)
        done = recovering.up()
        self.assertEqual(1, done.returncode)
        self.assertRegex(
            done.stdout.splitlines()[-1],
            f"glance cannot have {NETWORKS.controller}:9292: "
            f"process {foreign.pid} ",
        )
        self.assertIsNone(foreign.poll())

    def test_a_full_disk(self):
        folder = d.PLACE.etc
        d.run("mount", "-t", "tmpfs", "-o", "size=16k", "none", str(folder))
        self.addCleanup(recovering.up)
        self.addCleanup(d.run, "umount", str(folder))
        (folder / "filler").write_bytes(bytes(16 * 1024 - 4096))
        done = recovering.up()
        self.assertEqual(1, done.returncode)
        last = done.stdout.splitlines()[-1]
        self.assertRegex(last, "disk is full|No space left on device")
