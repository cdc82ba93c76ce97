# SPDX-License-Identifier: Apache-2.0
"""Tests of ~/.ssh/config, agents and passphrases, with a real server."""

import asyncio
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest
from unittest import mock

import asyncssh
import ddt

from rally_vmperf.execution.stations import reach
from rally_vmperf.machines import base
from rally_vmperf.machines.remote import endpoint
from rally_vmperf.machines.remote import jump
from rally_vmperf.machines.remote import ssh
from rally_vmperf.machines.remote import ssh_config
from rally_vmperf.machines.remote import target
from tests import patience
from tests import skips
from tests.unit.machines import folders
from tests.unit.machines import relay
from tests.unit.machines import sshd

SECRET = "correct horse"


class Case(unittest.IsolatedAsyncioTestCase):
    """A home of its own, with no agent and no terminal."""

    async def asyncSetUp(self):
        self.home = pathlib.Path(
            self.enterContext(tempfile.TemporaryDirectory(dir=folders.PLAIN))
        )
        self.folder = self.home / ".ssh"
        self.folder.mkdir(mode=0o700)
        self.enterContext(mock.patch.dict(os.environ, HOME=str(self.home)))
        for name in ("SSH_AUTH_SOCK", ssh_config.PASSPHRASE):
            os.environ.pop(name, None)
        terminal = mock.patch.object(
            ssh_config.sys.stdin, "isatty", autospec=True, return_value=False
        )
        self.terminal = self.enterContext(terminal)
        ssh_config._read_passphrase.cache_clear()
        self.server = await self.enterAsyncContext(sshd.Sshd(forwards=True))
        self.know(self.server)

    def know(self, server):
        with (self.folder / "known_hosts").open("a") as known_hosts:
            known_hosts.write(
                f"[{server.host}]:{server.port} {server.host_pair.public}\n"
            )

    def key(self, server, name="key", secret=None):
        """Write the key that a server lets in; return its path."""
        path = self.folder / name
        key = asyncssh.import_private_key(server.client_pair.private)
        path.write_bytes(key.export_private_key(passphrase=secret))
        path.chmod(0o600)
        path.with_name(f"{name}.pub").write_text(server.client_pair.public)
        return str(path)

    def config(self, text):
        (self.folder / "config").write_text(text)

    def machine(self, host, **options):
        machine = ssh.Ssh(endpoint.Endpoint("metal", host=host, **options))
        self.addAsyncCleanup(machine.close)
        return machine

    async def check(self, machine):
        completed = await machine.run(["echo", "here"])
        self.assertEqual("here\n", completed.stdout)


@ddt.ddt
class ConfigTest(Case):
    """Options of a host in the file."""

    def alias(self, more=""):
        self.config(
            f"Host metal\n  HostName {self.server.host}\n"
            f"  Port {self.server.port}\n  User rally\n{more}"
        )

    async def test_an_alias(self):
        """Address, port, user and key are the file's."""
        self.alias(f"  IdentityFile {self.key(self.server, 'odd')}\n")
        machine = self.machine("metal")
        self.assertEqual(
            f"rally@{self.server.host}:{self.server.port}", machine.address
        )
        await self.check(machine)

    async def test_options_of_the_task_come_first(self):
        self.config("Host *\n  Port 1\n  User absent\n")
        machine = self.machine(
            self.server.host,
            port=self.server.port,
            user="rally",
            key_file=self.key(self.server),
        )
        self.assertIn(f"rally@127.0.0.1:{self.server.port}", machine.address)
        await self.check(machine)

    @ddt.data("", "  UserKnownHostsFile none\n", "  CheckHostIP no\n")
    async def test_host_keys_are_verified(self, more):
        """The file cannot disable the verification."""
        (self.folder / "known_hosts").write_text("")
        self.alias(f"  StrictHostKeyChecking no\n{more}")
        machine = self.machine("metal", key_file=self.key(self.server))
        with self.assertRaisesRegex(base.MachineError, "key that is unknown"):
            await machine.run(["true"])

    async def test_proxy_jump(self):
        """Each of its hosts has an entry of its own."""
        hop = await self.enterAsyncContext(sshd.Sshd(forwards=True))
        self.know(hop)
        self.alias(
            f"  IdentityFile {self.key(self.server)}\n  ProxyJump hop\n"
            f"Host hop\n  HostName {hop.host}\n  Port {hop.port}\n"
            f"  User jumper\n  IdentityFile {self.key(hop, 'hopkey')}\n"
        )
        way = jump.create_route([], "metal")
        self.assertIn(f"through jumper@{hop.host}:{hop.port}", way.label)
        await self.check(self.machine("metal", way=way))
        self.assertEqual([(self.server.host, self.server.port)], hop.forwarded)

    async def test_jump_hosts_that_are_given_come_first(self):
        self.alias("  ProxyJump nowhere.invalid\n")
        jump_host = target.JumpHost(address="192.0.2.1", user="rally")
        way = jump.create_route([jump_host], "metal")
        self.assertEqual(" through rally@192.0.2.1:22", way.label)

    async def test_proxy_command(self):
        self.alias(
            f"  IdentityFile {self.key(self.server)}\n"
            f"  ProxyCommand {sys.executable} {relay.__file__} %h %p\n"
        )
        machine = self.machine("metal", way=jump.create_route([], "metal"))
        self.assertIn("by ProxyCommand", machine.address)
        await self.check(machine)

    async def test_a_peer_is_an_alias(self):
        """Guests use the address in place of the alias."""
        self.alias(f"  IdentityFile {self.key(self.server)}\n")
        peer = reach.peer_station({"address": "metal"})
        self.addAsyncCleanup(peer.machine.close)
        self.assertEqual(self.server.host, peer.address)
        self.assertIn("rally@", peer.machine.address)
        await self.check(peer.machine)

    async def test_a_peer_that_the_file_does_not_know(self):
        peer = reach.peer_station({"address": "192.0.2.1"})
        self.assertEqual("root@192.0.2.1:22", peer.machine.address)

    async def test_guests_have_nothing_to_do_with_it(self):
        self.config(
            "Host *\n  HostName 192.0.2.1\n  Port 1\n  User absent\n"
            "  ProxyJump nowhere.invalid\n  IdentityFile /nowhere\n"
        )
        machine = self.machine(
            self.server.host,
            port=self.server.port,
            user="debian",
            host_key=self.server.host_pair.public,
            client_key=self.server.client_pair.private,
        )
        await self.check(machine)

    async def test_a_file_that_cannot_be_read(self):
        self.config("Host *\n  Port many\n")
        with self.assertRaisesRegex(
            base.MachineError, "~/.ssh/config: .*; fix it"
        ):
            self.machine("metal")


@ddt.ddt
class PassphraseTest(Case):
    """Private keys that have one."""

    def named(self, path):
        return self.machine(
            self.server.host, port=self.server.port, key_file=path
        )

    async def test_of_the_environment(self):
        os.environ[ssh_config.PASSPHRASE] = SECRET
        await self.check(self.named(self.key(self.server, secret=SECRET)))

    async def test_of_the_environment_for_the_users_own_key(self):
        os.environ[ssh_config.PASSPHRASE] = SECRET
        self.key(self.server, "id_ed25519", secret=SECRET)
        await self.check(self.machine(self.server.host, port=self.server.port))

    async def test_requested_at_a_terminal_once(self):
        self.terminal.return_value = True
        path = self.key(self.server, secret=SECRET)
        with mock.patch("getpass.getpass", autospec=True) as getpass_:
            getpass_.return_value = SECRET
            await self.check(self.named(path))
            await self.check(self.named(path))
        getpass_.assert_called_once_with(f"Passphrase of {path}: ")

    @ddt.data(None, "battery staple")
    async def test_unknown_or_wrong(self, passphrase):
        """One line names the file and the way out, and no passphrase."""
        if passphrase:
            os.environ[ssh_config.PASSPHRASE] = passphrase
        path = self.key(self.server, secret=SECRET)
        with self.assertRaisesRegex(
            base.MachineError,
            rf"metal: private key {path}: .*assphrase.*"
            rf"{ssh_config.PASSPHRASE}, .*ssh-add",
        ) as caught:
            await self.named(path).run(["true"])
        self.assertNotIn("staple", str(caught.exception))
        self.assertNotIn(SECRET, str(caught.exception))

    async def test_a_key_without_one_needs_no_terminal(self):
        self.terminal.return_value = True
        with mock.patch("getpass.getpass", autospec=True) as getpass_:
            await self.check(self.named(self.key(self.server)))
        getpass_.assert_not_called()


@skips.requires("ssh-agent", "ssh-add")
class AgentTest(Case):
    """A real ssh-agent has the key."""

    async def asyncSetUp(self):
        await super().asyncSetUp()
        # A path of a socket has at most 107 characters.
        directory = tempfile.TemporaryDirectory(dir=folders.PLAIN)
        socket = pathlib.Path(self.enterContext(directory), "agent")
        agent = subprocess.Popen(
            ["ssh-agent", "-D", "-a", socket], stdout=subprocess.DEVNULL
        )
        self.addCleanup(agent.wait)
        self.addCleanup(agent.terminate)
        deadline = time.monotonic() + patience.seconds(10)
        while not socket.exists() and time.monotonic() < deadline:
            await asyncio.sleep(0.05)
        os.environ["SSH_AUTH_SOCK"] = str(socket)

    def add(self, path):
        subprocess.run(["ssh-add", "-q", path], check=True)

    async def test_a_key_that_only_the_agent_has(self):
        path = self.key(self.server)
        self.add(path)
        os.unlink(path)
        await self.check(self.machine(self.server.host, port=self.server.port))

    async def test_a_named_key_with_a_passphrase(self):
        """Only the named key of the agent is offered."""
        other = await self.enterAsyncContext(sshd.Sshd())
        self.add(self.key(other, "other"))
        path = self.key(self.server)
        self.add(path)
        self.key(self.server, secret=SECRET)
        machine = self.machine(
            self.server.host, port=self.server.port, key_file=path
        )
        await self.check(machine)

    async def test_guests_are_not_offered_it(self):
        self.add(self.key(self.server))
        machine = self.machine(
            self.server.host,
            port=self.server.port,
            user="debian",
            host_key=self.server.host_pair.public,
            client_key=asyncssh.generate_private_key("ssh-ed25519")
            .export_private_key()
            .decode(),
        )
        with self.assertRaises(base.Denied):
            await machine.run(["true"])
