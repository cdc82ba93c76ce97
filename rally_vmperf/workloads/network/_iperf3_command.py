"""The client and the server of iperf3 for one direction."""

import typing as t

from rally_vmperf.workloads import base
from rally_vmperf.workloads.network import _iperf3_result

#: Direction -> where its server is; its place is what is added to the port,
#: for a port just used may still be waiting.
DIRECTIONS: dict[str, t.Literal["peer", "partner"]] = {
    "to_peer": "peer",
    "from_peer": "peer",
    "guest_to_guest": "partner",
}

#: Reports in a run, and seconds of the longest run that has them.
_REPORTS, _LONGEST = 10, 600


def command(
    direction: str, arguments: base.Arguments, ends: base.Ends
) -> base.Command:
    """Return the client of a direction, with its server.

    :raises base.WorkloadError: when the address of the other end is missing
    """
    on = DIRECTIONS[direction]
    address = ends.peer if on == "peer" else ends.partner
    if not address:
        raise base.WorkloadError(
            f"iperf3: {direction} needs a {on}, and there is none; name one "
            "or leave the direction out of 'directions'"
        )
    port = ends.port + list(DIRECTIONS).index(direction)
    argv = (
        "iperf3",
        "-c",
        address,
        "-p",
        f"{port}",
        "-J",
        "-i",
        f"{_interval(arguments['time'])}",
        "-t",
        f"{arguments['time']}",
        "-O",
        f"{arguments['omit']}",
        "-P",
        f"{arguments['streams']}",
        *(["-R"] if direction == "from_peer" else []),
        "--connect-timeout",
        "5000",
        *(_datagrams(arguments) if arguments["protocol"] == "udp" else ()),
    )
    server = base.Server(
        on=on, argv=("iperf3", "-s", "-1", "-p", f"{port}"), port=port
    )
    return base.Command(
        name=_iperf3_result.command_name(direction, arguments["protocol"]),
        argv=argv,
        timeout=arguments["time"] + arguments["omit"] + 60,
        seconds=arguments["time"] + arguments["omit"],
        server=server,
    )


def _interval(time: int) -> int:
    """Return the seconds between two reports, by which a run can be cut.

    There are few of them: those of many streams are long.  Of more than ten
    minutes there is nothing to cut, and iperf3 knows no longer interval than
    one; 0 means no reports.
    """
    return 0 if time > _LONGEST else -(-time // _REPORTS)


def _datagrams(arguments: base.Arguments) -> tuple[str, ...]:
    """Return the options of UDP.

    The two ends exchange what they saw when they are done, so the server's
    own output is not asked for.
    """
    return (
        "-u",
        "-b",
        f"{arguments['bitrate']}",
        "-l",
        f"{arguments['datagram']}",
        # An hour of small datagrams is more than 32 bits can count.
        "--udp-counters-64bit",
    )
