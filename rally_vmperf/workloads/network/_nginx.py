"""Workloads whose machines all load from one nginx on the peer."""

import collections.abc
import typing as t

from rally_vmperf.workloads import base
from rally_vmperf.workloads import tools

TOOL = tools.of("nginx", "-v", side="peer")

#: All paths are in the workload's folder on the peer, as it may not be root.
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


class Served(base.Workload):
    """Loads a file from a server on the peer, the same for all machines.

    :cvar FILE: what it is called in the workload's folder there
    :cvar FILE_IS: it, in the words of an error
    """

    FILE: t.ClassVar[str]
    FILE_IS: t.ClassVar[str]

    def needs(self, arguments: base.Arguments) -> frozenset[str]:
        """Return the peer, which serves the file."""
        return frozenset({"peer"})

    def ports(self, arguments: base.Arguments) -> base.Ports:
        """Return one port, for all machines load from one server."""
        return base.Ports(shared=1)

    def url(self, ends: base.Ends, scheme: str = "http") -> str:
        """Return the URL of the file.

        :param ends: of whose shared ports the first is the server's
        :raises base.WorkloadError: when there is no peer
        """
        if not ends.peer:
            raise base.WorkloadError(
                f"{self.name}: {self.FILE_IS} on the peer, and there is none; "
                f"name one or leave {self.name} out of the workloads"
            )
        port = ends.shared_ports[0]
        host = f"[{ends.peer}]" if ":" in ends.peer else ends.peer
        return f"{scheme}://{host}:{port}/{self.FILE}"

    def server(
        self,
        ends: base.Ends,
        *,
        options: collections.abc.Iterable[str],
        connections: int = 1024,
        listen: str = "",
        limits: tuple[str, ...] = (),
        files: collections.abc.Mapping[str, str] | None = None,
    ) -> base.Server:
        """Return the server.

        :param options: of nginx, for all that it serves
        :param connections: as many at once
        :param listen: what follows the port
        :param limits: a command that runs nginx, and its arguments
        :param files: texts beside the configuration, by their names
        """
        port = ends.shared_ports[0]
        own = f"[::]:{port}" if ":" in ends.peer else f"{port}"
        configuration = _CONFIGURATION.format(
            connections=connections,
            options="\n    ".join(options),
            listen=f"{own} {listen}".rstrip(),
            file=self.FILE,
        )
        return base.Server(
            on="peer",
            argv=(*limits, "nginx", "-p", ".", "-c", "nginx.conf"),
            port=port,
            lifetime="repetition",
            clients="many",
            files={"nginx.conf": configuration, **(files or {})},
        )
