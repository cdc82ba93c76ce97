# SPDX-License-Identifier: Apache-2.0
"""A real SSH server on the loopback, in the process of the test."""

import asyncio
import contextlib
import os
import signal

import asyncssh

from rally_vmperf.machines.remote import endpoint
from rally_vmperf.machines.remote import hostkey


class Sshd:
    """A server that runs commands with the shell of this machine, as OpenSSH.

    :param refuse_logins: The number of logins that fail before one succeeds.
    :param forwards: True if it forwards TCP, as soon as ``released`` is set.
    :param password: A password that is accepted instead of a key.
    :param environment: The environment of commands; by default that of the
        test.
    """

    def __init__(
        self,
        *,
        host="127.0.0.1",
        refuse_logins=0,
        forwards=False,
        password=None,
        environment=None,
    ):
        self.host = host
        self.refuse_logins = refuse_logins
        self.forwards = forwards
        self.password = password
        self.environment = environment
        self.released = asyncio.Event()
        self.released.set()
        self.forwarded = []
        self.host_pair = hostkey.generate("host")
        self.client_pair = hostkey.generate("client")
        self.connections = []
        self.commands = []
        self.port = 0
        self._serving = set()

    async def __aenter__(self):
        await self.start()
        return self

    async def __aexit__(self, *_):
        await self.stop()

    async def start(self):
        self._server = await asyncssh.listen(
            self.host,
            self.port,
            server_factory=lambda: _Server(self),
            server_host_keys=[
                asyncssh.import_private_key(self.host_pair.private)
            ],
            process_factory=self._serve,
            encoding=None,
            allow_scp=False,
        )
        self.port = self._server.get_port()

    async def stop(self):
        self._server.close()
        self.drop()
        await self._server.wait_closed()
        for task in self._serving:
            task.cancel()
        await asyncio.gather(*self._serving, return_exceptions=True)

    def endpoint(self, name="g1", **changes):
        """Return how it is reached, with the key that it lets in."""
        options = {
            "host": self.host,
            "port": self.port,
            "user": "debian",
            "client_key": self.client_pair.private,
            "host_key": self.host_pair.public,
        }
        return endpoint.Endpoint(name, **options | changes)

    def drop(self):
        """Cut every connection, as a failing network would."""
        for connection in self.connections:
            connection.abort()
        self.connections.clear()

    def silence(self):
        """Answer nothing any more, as a machine that died."""
        self._server.close()
        for connection in self.connections:
            connection._transport.pause_reading()

    async def _serve(self, channel):
        self.commands.append(channel.command)
        self._serving.add(asyncio.current_task())
        process = await asyncio.create_subprocess_exec(
            "sh",
            "-c",
            channel.command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=self.environment,
            start_new_session=True,
        )
        feeding = asyncio.create_task(_feed(channel.stdin, process))
        try:
            await asyncio.gather(
                _pump(process.stdout, channel.stdout),
                _pump(process.stderr, channel.stderr),
            )
            code = await process.wait()
            if code < 0:
                channel.exit_with_signal(signal.Signals(-code).name[3:])
            else:
                channel.exit(code)
        finally:
            feeding.cancel()
            _kill(process)
            process._transport.close()
            self._serving.discard(asyncio.current_task())


def _kill(process):
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


async def _feed(stdin, process):
    try:
        await _pump(stdin, process.stdin)
        process.stdin.close()
    except asyncssh.SignalReceived:
        _kill(process)


async def _pump(reader, writer):
    with contextlib.suppress(OSError, asyncssh.Error):
        while chunk := await reader.read(1 << 16):
            writer.write(chunk)
            await writer.drain()


class _Server(asyncssh.SSHServer):
    def __init__(self, sshd):
        self.sshd = sshd

    def connection_made(self, connection):
        self.connection = connection
        self.sshd.connections.append(connection)

    def begin_auth(self, username):
        return True

    def public_key_auth_supported(self):
        return self.sshd.password is None

    def password_auth_supported(self):
        return self.sshd.password is not None

    def validate_password(self, username, password):
        return password == self.sshd.password

    def connection_requested(self, host, port, *_):
        self.sshd.forwarded.append((host, port))
        if not self.sshd.forwards:
            raise asyncssh.ChannelOpenError(
                asyncssh.OPEN_ADMINISTRATIVELY_PROHIBITED, "open failed"
            )
        return self._forward(host, port)

    async def _forward(self, host, port):
        await self.sshd.released.wait()
        return await self.connection.forward_connection(host, port)

    def validate_public_key(self, username, key):
        if self.sshd.refuse_logins:
            self.sshd.refuse_logins -= 1
            return False
        client_key = asyncssh.import_public_key(self.sshd.client_pair.public)
        return key.public_data == client_key.public_data
