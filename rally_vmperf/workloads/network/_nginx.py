# SPDX-License-Identifier: Apache-2.0
"""Workloads in which all machines load from one nginx on the peer."""

import collections.abc
import typing as t

from rally_vmperf.workloads import base
from rally_vmperf.workloads import tools

TOOL = tools.load_generator("nginx", "-v", side="peer")

#: All paths are in the directory of the workload, because nginx may run
#: without root privileges.
_CONFIGURATION = """\
daemon off;
master_process off;
pid nginx.pid;
error_log stderr;
events {{ worker_connections {connections}; }}
http {{
    access_log off;
    {options}
    client_body_temp_path body;
    proxy_temp_path proxy;
    fastcgi_temp_path fastcgi;
    uwsgi_temp_path uwsgi;
    scgi_temp_path scgi;
    server {{
        listen {listen};
        location = /{file} {{ root .; }}
    }}
}}
"""


class NginxWorkload(base.Workload):
    """A workload that loads a file from a server on the peer.

    :cvar FILE: The name of the file in the directory of the workload.
    :cvar FILE_IS: The noun and verb for the file in messages.
    """

    FILE: t.ClassVar[str]
    FILE_IS: t.ClassVar[str]

    def needs(self, arguments: base.Arguments) -> frozenset[str]:
        """Return the set of endpoint names: the peer with the server."""
        return frozenset({"peer"})

    def ports(self, arguments: base.Arguments) -> base.Ports:
        """Return Ports with one port that all machines share."""
        return base.Ports(shared=1)

    def url(self, endpoints: base.Endpoints, scheme: str = "http") -> str:
        """Return the URL of the file on the peer as text.

        :param endpoints: The endpoints; the first shared port is that of the
            server.
        :raises base.WorkloadError: If there is no peer.
        """
        if not endpoints.peer:
            raise base.WorkloadError(
                f"{self.name}: {self.FILE_IS} on the peer, which is missing; "
                f"configure a peer, or remove {self.name} from the workloads"
            )
        origin = _join(endpoints.peer, endpoints.shared_ports[0])
        return f"{scheme}://{origin}/{self.FILE}"

    def server(
        self,
        endpoints: base.Endpoints,
        *,
        options: collections.abc.Iterable[str],
        connections: int = 1024,
        listen: str = "",
        limits: tuple[str, ...] = (),
        files: collections.abc.Mapping[str, str] | None = None,
        prepared_files: tuple[str, ...] = (),
    ) -> base.Server:
        """Return the nginx Server on the peer with its configuration.

        :param options: The options of nginx for all files.
        :param connections: The maximum number of concurrent connections.
        :param listen: The parameters after the port.
        :param limits: The command with its arguments that runs nginx.
        :param files: The texts of further files by their names.
        :param prepared_files: The names of files that are prepared on the
            peer.
        """
        port = endpoints.shared_ports[0]
        address = _join(get_listen_address(endpoints), port)
        configuration = _CONFIGURATION.format(
            connections=connections,
            options="\n    ".join(options),
            listen=f"{address} {listen}".rstrip(),
            file=self.FILE,
        )
        return base.Server(
            on="peer",
            argv=(*limits, "nginx", "-p", ".", "-c", "nginx.conf"),
            port=port,
            lifetime="repetition",
            clients="many",
            files={"nginx.conf": configuration, **(files or {})},
            prepared_files=prepared_files,
        )


def get_listen_address(endpoints: base.Endpoints) -> str:
    """Return the listen address, or the wildcard of the peer's IP version."""
    wildcard = "::" if ":" in endpoints.peer else "0.0.0.0"  # noqa: S104
    return endpoints.listen_address or wildcard


def _join(host: str, port: int) -> str:
    """Return a host name or address and a port in the form of a URL."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
