# SPDX-License-Identifier: Apache-2.0
"""A hostile SSH server is refused in one line, and gets nothing from us."""

import asyncio
import contextlib
import os
import resource
import subprocess
import sys
import unittest
from unittest import mock

import asyncssh
import ddt

from rally_vmperf.machines import base
from rally_vmperf.machines.remote import endpoint
from rally_vmperf.machines.remote import hostkey
from rally_vmperf.machines.remote import jump
from rally_vmperf.machines.remote import routes
from rally_vmperf.machines.remote import ssh
from tests import patience
from tests.unit.hostile import attacks
from tests.unit.machines import relay
from tests.unit.machines import sshd

KEY = hostkey.generate("any").public
GREETING = b"SSH-2.0-OpenSSH_9.2p1\r\n"


def machine(port, **arguments):
    """Return a machine as a guest's is made."""
    return ssh.Ssh(
        endpoint.Endpoint(
            "g1",
            **{
                "host": "127.0.0.1",
                "port": port,
                "user": "debian",
                "client_key": hostkey.generate("client").private,
                "host_key": KEY,
                "connect_timeout": 3,
                **arguments,
            },
        )
    )


def packet(*parts):
    """Return an SSH packet in the clear, as before the exchange of keys."""
    payload = b"".join(parts)
    padding = 4 + -(len(payload) + 9) % 8
    head = (len(payload) + padding + 1).to_bytes(4, "big")
    return head + bytes([padding]) + payload + bytes(padding)


def text(content):
    """Return a string as SSH writes it."""
    return len(content).to_bytes(4, "big") + content


def disconnect(reason, code=2):
    """Return a message that ends a connection with a reason."""
    number = code.to_bytes(4, "big")
    return packet(bytes([1]), number, text(reason), text(b""))


def proposal(names):
    """Return a first message of the exchange of keys."""
    return packet(bytes([20]), bytes(16), text(names) * 10, bytes(5))


#: What a server says instead of an exchange of keys.
BABBLE = {
    "nothing": b"",
    "zeros": bytes(1 << 20),
    "banner_of_a_megabyte": b"\x1b[2JPWNED" * 116509,
    "banner_of_many_lines": b"\x1b[2JPWNED\r\n" * 100_000,
    "version_with_escapes": b"SSH-2.0-\x1b]0;PWNED\x07\x1b[2J\r\n",
    "version_in_utf8": "SSH-2.0-\N{RIGHT-TO-LEFT OVERRIDE}é\r\n".encode(),
    "version_that_is_no_text": b"SSH-2.0-" + attacks.NO_TEXT + b"\r\n",
    "version_of_a_megabyte": b"SSH-2.0-" + b"x" * (1 << 20) + b"\r\n",
    "version_one": b"SSH-1.5-PWNED\r\n",
    "http": b"HTTP/1.1 200 OK\r\n\r\n<script>PWNED</script>",
    "everything": attacks.everything(),
    "packet_of_4_gib": GREETING + b"\xff" * 64,
    "packet_of_nothing": GREETING + bytes(64),
    "packet_cut_short": GREETING + packet(bytes([20])),
    "proposal_with_escapes": GREETING + proposal(b"\x1b[2JPWNED"),
    "proposal_that_is_no_text": GREETING + proposal(attacks.NO_TEXT),
    "proposal_of_a_megabyte": GREETING + proposal(b"a," * 10_000),
    "no_text": GREETING + disconnect(attacks.NO_TEXT),
    **{
        f"leaves_with_{name}": GREETING
        + disconnect(text.encode("utf-8", "replace"))
        for name, text in attacks.WORDS.items()
    },
    "leaves_with_100_kb": GREETING + disconnect(b"\x1b[2J" * 25_000),
    "leaves_with_another_code": GREETING
    + disconnect(b"\x1b[2J", code=0xFFFFFFFF),
}


@ddt.ddt
class BabbleTestCase(unittest.IsolatedAsyncioTestCase):
    async def serve(self, babble):
        async def answer(reader, writer):
            with contextlib.suppress(OSError):
                writer.write(babble)
                await writer.drain()
                await reader.read(-1)
            writer.close()

        server = await asyncio.start_server(answer, "127.0.0.1", 0)
        self.addCleanup(server.close)
        return server.sockets[0].getsockname()[1]

    @ddt.data(*BABBLE)
    async def test_it_is_refused_in_a_line(self, name):
        guest = machine(await self.serve(BABBLE[name]), connect_timeout=1)
        self.addAsyncCleanup(guest.close)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        with self.assertRaises(base.MachineError) as caught:
            await guest.wait_ready(0)
        message = str(caught.exception)
        self.assertTrue(message.startswith("g1: "), message)
        self.assertTrue(message.isprintable(), ascii(message))
        self.assertLess(len(message), 600)
        grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
        self.assertLess(grown, 64 * 1024)

    async def test_sockets_of_those_who_never_answer_are_closed(self):
        guest = machine(await self.serve(b""), connect_timeout=0.05)
        before = len(os.listdir("/proc/self/fd"))
        for _ in range(5):
            with self.assertRaises(base.Unreachable):
                await guest.run(["true"])
        await asyncio.sleep(0)
        self.assertLessEqual(len(os.listdir("/proc/self/fd")), before + 2)


class IdentityTestCase(unittest.IsolatedAsyncioTestCase):
    async def serve(self):
        server = sshd.Sshd()
        await server.start()
        self.addAsyncCleanup(server.stop)
        return server

    def machine(self, server, **arguments):
        guest = machine(
            server.port,
            **{
                "client_key": server.client_pair.private,
                "host_key": server.host_pair.public,
                **arguments,
            },
        )
        self.addAsyncCleanup(guest.close)
        return guest

    async def test_guests_that_answer_for_one_another(self):
        first, second = await self.serve(), await self.serve()
        second.client_pair = first.client_pair
        for here, other in ((first, second), (second, first)):
            guest = self.machine(here, host_key=other.host_pair.public)
            with self.assertRaisesRegex(
                base.MachineError,
                f"g1: debian@127.0.0.1:{here.port} shows a host key",
            ):
                await guest.wait_ready(60)
            self.assertEqual([], here.commands)

    async def test_a_key_that_changes_after_the_first_connection(self):
        server = await self.serve()
        guest = self.machine(server)
        await guest.run(["true"])
        await server.stop()
        first_pair, server.host_pair = (
            server.host_pair,
            hostkey.generate("other"),
        )
        await server.start()
        server.commands.clear()
        for _ in range(2):
            with self.assertRaisesRegex(base.MachineError, "^g1: .* host key"):
                await guest.run(["true"])
        self.assertEqual([], server.commands)
        await server.stop()
        server.host_pair = first_pair
        await server.start()
        self.assertEqual(0, (await guest.run(["true"])).exit_status)

    async def test_compression_is_not_agreed_on(self):
        server = await self.serve()
        await self.machine(server).run(["true"])
        (connection,) = server.connections
        for way in ("send", "recv"):
            used = connection.get_extra_info(f"{way}_compression")
            self.assertEqual("none", used)

    async def test_a_server_that_reads_no_answers_is_left(self):
        """Its questions would fill our memory."""
        server = await self.serve()
        await self.check_left(server, self.machine(server))

    async def test_likewise_behind_a_jump_host(self):
        """Unread data is kept for the channel."""
        server, hop = await self.serve(), sshd.Sshd(forwards=True)
        await self.enterAsyncContext(hop)
        way = jump.Jump(hop.endpoint("hop", user="jumper"))
        await self.check_left(server, self.machine(server, way=way))

    async def test_likewise_behind_a_proxy_command(self):
        """Unread data is kept for the pipe; the process ends."""
        server = await self.serve()
        command = (sys.executable, relay.__file__, "127.0.0.1", server.port)
        way = routes.ProxyCommand(" ".join(map(str, command)))
        started = []
        create = subprocess.Popen

        def note(*arguments, **options):
            started.append(create(*arguments, **options))
            return started[-1]

        with mock.patch.object(subprocess, "Popen", note):
            await self.check_left(server, self.machine(server, way=way))
        async with asyncio.timeout(patience.seconds(10)):
            while started[0].returncode is None:
                await asyncio.sleep(0.05)

    async def check_left(self, server, guest):
        await guest.run(["true"])
        (connection,) = server.connections
        connection._transport.pause_reading()
        async with guest._pool.session() as session:
            for _ in range(20_000):
                # As long as answers to requests are, many at once.
                session.send_debug("x" * 1000)
                await asyncio.sleep(0)
                if session.is_closed():
                    break
            self.assertTrue(session.is_closed())
        self.assertEqual(0, (await guest.run(["true"])).exit_status)

    async def test_the_server_opens_no_channel_to_us(self):
        server = await self.serve()
        guest = self.machine(server)
        await guest.run(["true"])
        (connection,) = server.connections
        tried = {
            "forwarded": connection.create_connection(
                asyncssh.SSHTCPSession, "127.0.0.1", 22
            ),
            "unix": connection.create_unix_connection(
                asyncssh.SSHUNIXSession, "/run/ssh-agent"
            ),
            "x11": connection.create_x11_connection(asyncssh.SSHTCPSession),
            "agent": connection.create_agent_connection(
                asyncssh.SSHUNIXSession
            ),
        }
        for name, opening in tried.items():
            with (
                self.subTest(name),
                self.assertRaises(asyncssh.ChannelOpenError),
            ):
                await opening
        self.assertEqual(0, (await guest.run(["true"])).exit_status)


class _Greedy(asyncssh.SSHServer):
    """Wants passwords, answers and more, and takes no key."""

    def __init__(self, got):
        self.got = got
        self.connection = None

    def connection_made(self, connection):
        self.connection = connection

    def begin_auth(self, username):
        self.connection.send_auth_banner("\x1b[2JPWNED\r\n" * 1000)
        return True

    def public_key_auth_supported(self):
        return True

    def validate_public_key(self, username, key):
        return False

    def password_auth_supported(self):
        return True

    def validate_password(self, username, password):
        self.got.append(password)
        return True

    def kbdint_auth_supported(self):
        return True

    def get_kbdint_challenge(self, username, lang, submethods):
        self.got.append("interactive")
        return "PWNED", "", "", [("Password:", False)]

    def validate_kbdint_response(self, username, responses):
        self.got.append(responses)
        return True


class GreedyTestCase(unittest.IsolatedAsyncioTestCase):
    async def test_a_server_that_wants_passwords_gets_none(self):
        got = []
        pair = hostkey.generate("host")
        server = await asyncssh.listen(
            "127.0.0.1",
            0,
            server_factory=lambda: _Greedy(got),
            server_host_keys=[asyncssh.import_private_key(pair.private)],
        )
        self.addCleanup(server.close)
        guest = machine(server.get_port(), host_key=pair.public)
        self.addAsyncCleanup(guest.close)
        with self.assertRaisesRegex(base.Denied, "g1: .* rejects the key"):
            await guest.run(["true"])
        self.assertEqual([], got)
