# SPDX-License-Identifier: Apache-2.0
"""Network workload: downloads with wget by HTTP and FTP."""

import dataclasses
import re
import typing as t

from rally_vmperf import sanitize
from rally_vmperf.measurement.samples import sample
from rally_vmperf.workloads import base
from rally_vmperf.workloads import files
from rally_vmperf.workloads import options
from rally_vmperf.workloads import outputs
from rally_vmperf.workloads import schemas
from rally_vmperf.workloads import sequence
from rally_vmperf.workloads import tools
from rally_vmperf.workloads.network import _nginx

PROTOCOLS = ("http", "ftp")

#: Number of ports of the FTP server for data, one per download.
_DATA_PORTS = 128

#: The script that serves the file by FTP.
_SERVE_FTP = files.script("serve_ftp.py")

#: Bytes per second of the slowest supported network, of a usual network, and
#: of generate.py on a current machine.
_SLOWEST, _USUAL, _WRITE_RATE = 10**6, 100 * 10**6, 100 * 10**6

#: The argument to_disk -> where wget writes the file.
_TARGETS = {False: "/dev/null", True: "loaded"}

#: The single line of ``-nv``: loaded bytes, with HTTP also their total.
_LOADED = re.compile(
    r"[0-9: -]{1,30}URL: ?(http|ftp)://[^/\s]{1,300}/(\S{1,300}) "
    r"\[([0-9]{1,20})(?:/([0-9]{1,20}))?\] -> "
    r'"([^"\n]{1,300})" \[1\]\n'
)


def _classify_sink(name: str) -> str:
    """Return the class of the place to which wget saves."""
    return "pipe" if name == "STDOUT" else options.classify_path(name)


_OPTIONS = options.OptionTable(
    options=(
        options.Option(
            names=("server",),
            argument="path",
            kind="place",
            parse=options.classify_host,
            pattern=re.compile(r"^--.{1,40}-- {1,2}(\w+://\S{1,200})", re.M),
        ),
        options.Option(
            names=("O", "output-document"),
            argument="place",
            kind="place",
            default="file",
            parse=_classify_sink,
            pattern=re.compile(r"^Saving to: .(.{1,300}).$", re.M),
        ),
        options.Option(names=("tls",), argument="tls", default="", parse=bool),
        options.Option(names=("limit-rate",)),
        *options.name_options("o", "P", "a", "U", "header", "user-agent"),
        *options.name_options("no-check-certificate", has_value=False),
        *options.name_options("progress", "c", "v", has_value=False),
    )
)


class Wget(_nginx.NginxWorkload, sequence.CommandSequenceWorkload):
    """Downloads of a file from nginx and vsftpd on the peer."""

    name = "wget"
    title = "Network: a file loaded by HTTP or FTP with wget"
    part = "network"
    FILE = "data"
    FILE_IS = "the file is"
    TOOL_OPTIONS = _OPTIONS
    QUICK = schemas.short(size_mib=128)
    ARGUMENTS = schemas.schema(
        protocols=schemas.sequence(PROTOCOLS, default=("http",)),
        size_mib=schemas.integer(
            "Size of the file in MiB", 1, 65536, default=1024
        ),
        seed=schemas.seed("file", "is"),
        to_disk=schemas.flag(
            "Write the file to the disk instead of /dev/null", default=False
        ),
    )
    OPTIONS = "protocols"
    METRICS = (sample.Metric("network.wget.{}.throughput", "B/s", "higher"),)
    TOOLS = (
        tools.load_generator("wget", side="machine"),
        _nginx.TOOL,
        tools.load_generator("vsftpd", "", side="peer"),
        tools.auxiliary("python3", side="peer"),
    )

    def tools(self, arguments: base.Arguments) -> tuple[tools.Tool, ...]:
        """Return wget and the servers of the protocols as Tools."""
        servers = {"nginx": "http", "vsftpd": "ftp"}
        return tuple(
            tool
            for tool in self.TOOLS
            if servers.get(tool.command, "") in ("", *arguments["protocols"])
        )

    def ports(self, arguments: base.Arguments) -> base.Ports:
        """Return Ports for the servers, and for the data of FTP."""
        ftp = "ftp" in arguments["protocols"]
        return base.Ports(
            shared=len(arguments["protocols"]) + (_DATA_PORTS if ftp else 0)
        )

    def needs(self, arguments: base.Arguments) -> frozenset[str]:
        """Return the set of endpoint names: the peer, for FTP as root."""
        root = ("peer_root",) if "ftp" in arguments["protocols"] else ()
        return super().needs(arguments).union(root)

    def files(self, arguments: base.Arguments) -> tuple[base.File, ...]:
        """Return the scripts that write and serve the file, as Files."""
        ftp = (_SERVE_FTP,) if "ftp" in arguments["protocols"] else ()
        return (files.GENERATE, *ftp)

    def disk_space(self, arguments: base.Arguments) -> base.DiskSpace:
        """Return the size of the file, on the peer and if it is loaded."""
        size = _size_bytes(arguments)
        return base.DiskSpace(
            temporary=size if arguments["to_disk"] else 0,
            on_peer=size,
            arguments=("size_mib",),
        )

    def prepare_peer(
        self, arguments: base.Arguments
    ) -> tuple[base.Command, ...]:
        """Return the commands that write the file on the peer."""
        seconds = _size_bytes(arguments) / _WRITE_RATE
        publish = base.Command(
            name="publish",
            argv=("python3", _SERVE_FTP.name, "publish", self.FILE),
            timeout=60,
        )
        return (
            *((publish,) if "ftp" in arguments["protocols"] else ()),
            base.Command(
                name="generate",
                argv=files.generate_argv(arguments),
                timeout=60 + 20 * seconds,
                seconds=seconds,
                bound="size",
            ),
        )

    def command(
        self, option: str, arguments: base.Arguments, endpoints: base.Endpoints
    ) -> base.Command:
        """Return the download Command of a protocol, with its server.

        Each server has one of the first ports, in the order of protocols.
        """
        index = self.selected(arguments).index(option)
        ports = endpoints.shared_ports[index:]
        server_ends = dataclasses.replace(endpoints, shared_ports=ports)
        target = _TARGETS[arguments["to_disk"]]
        url = self.url(server_ends, option)
        if option == "ftp":
            server = _ftp_server(server_ends)
        else:
            options = ("sendfile on;", "tcp_nopush on;")
            server = self.server(
                server_ends, options=options, prepared_files=(self.FILE,)
            )
        return base.Command(
            name=option,
            argv=base.argv(
                "wget -nv -O {target} --no-proxy --tries=1 --timeout=60 {url}",
                {"target": target, "url": url},
            ),
            timeout=120 + _size_bytes(arguments) / _SLOWEST,
            seconds=_size_bytes(arguments) / _USUAL,
            bound="size",
            server=server,
            temporary_files=(target,) if arguments["to_disk"] else (),
        )

    def work_done(
        self, arguments: base.Arguments, result: base.CommandResult
    ) -> base.Work | None:
        """Return the number of downloaded bytes as Work, or None."""
        return base.Work(amount=_parse_bytes(arguments, result), unit="B")

    def parse(
        self, arguments: base.Arguments, result: base.CommandResult
    ) -> list[sample.Sample]:
        """Return a list with the sample of bytes per second of wget."""
        loaded = _parse_bytes(arguments, result)
        if not result.seconds > 0:
            raise base.WorkloadError(
                f"wget took {result.seconds:g} s; look at the machine's clock"
            )
        return self.samples(result.name, loaded / result.seconds)


def _ftp_server(endpoints: base.Endpoints) -> base.Server:
    """Return the FTP Server at the first shared port."""
    port, *data_ports = endpoints.shared_ports
    ports = map(str, (port, data_ports[0], data_ports[-1]))
    address = _nginx.get_listen_address(endpoints)
    return base.Server(
        on="peer",
        argv=("python3", _SERVE_FTP.name, "serve", address, *ports),
        port=port,
        as_root=True,
        lifetime="repetition",
        clients="many",
    )


def _parse_bytes(
    arguments: base.Arguments, result: base.CommandResult
) -> float:
    """Return the number of bytes that wget reports as a float.

    :raises base.WorkloadError: If it is missing or is not that of the file.
    """
    size = _size_bytes(arguments)
    text = result.stderr
    match = _LOADED.fullmatch(text)
    protocol, file, *numbers, target = match.groups() if match else ("",) * 4
    reported_sizes = {int(number) for number in numbers if number}
    expected = result.name, Wget.FILE, _TARGETS[arguments["to_disk"]]
    if (protocol, file, target) != expected or reported_sizes != {size}:
        raise outputs.Reader("wget").error(
            f"printed {sanitize.line(text, 80)!r} instead of a download of "
            f"{size} bytes from {result.name}://.../{Wget.FILE} to "
            f"{expected[-1]}"
        )
    return float(size)


def _size_bytes(arguments: base.Arguments) -> int:
    """Return the size of the downloaded file in bytes."""
    return t.cast(int, arguments["size_mib"]) << 20
