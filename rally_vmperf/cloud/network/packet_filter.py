"""Packet filter: the cloud's addresses and tunnels are for its bridges only.

Linux answers at an address on whichever interface a packet comes in, and a
VXLAN socket listens on all of them. Rules of our own, in a chain of our own
before all routing, drop what comes from elsewhere.
"""

import collections.abc

from rally_vmperf.cloud.state import addresses
from rally_vmperf.cloud.system import commands
from rally_vmperf.cloud.system import layout

CHAIN = "vmperf-cloud"
JUMP = ("PREROUTING", "-j", CHAIN)
#: Where packets for the cloud may come from: brq... are Neutron's bridges.
INSIDE = ("lo", layout.MANAGEMENT_BRIDGE, layout.EXTERNAL_BRIDGE, "brq+")
VXLAN_PORT = "8472"
#: The port of RabbitMQ, which is for the services of this machine only.
MESSAGES_PORT = "5672"


def rules(chosen: addresses.Addresses) -> list[tuple[str, ...]]:
    """Return the rules in their order.

    :param chosen: the cloud's address ranges
    """
    tunnel = ("!", "-i", layout.MANAGEMENT_BRIDGE, "-p", "udp")
    messages = ("!", "-i", "lo", "-p", "tcp")
    here = ("-m", "addrtype", "--dst-type", "LOCAL")
    return [
        (*tunnel, "--dport", VXLAN_PORT, *here, "-j", "DROP"),
        (*messages, "--dport", MESSAGES_PORT, *here, "-j", "DROP"),
        *(("-i", name, "-j", "RETURN") for name in INSIDE),
        *(("-d", str(network), "-j", "DROP") for network in chosen.ranges),
    ]


def up(chosen: addresses.Addresses) -> None:
    """Set the rules, in place of our earlier ones.

    :param chosen: the cloud's address ranges
    """
    lines = [f"-A {CHAIN} {' '.join(rule)}" for rule in rules(chosen)]
    text = "\n".join(["*raw", f":{CHAIN} - [0:0]", *lines, "COMMIT", ""])
    # Flushes a chain that is named, and leaves all others alone.
    commands.run(["iptables-restore", "-w", "--noflush"], text=text)
    if not _works("-C", *JUMP):
        commands.run(_command("-I", *JUMP))


def there(saved: collections.abc.Iterable[str]) -> bool:
    """Return whether the rules are in place.

    :param saved: the lines that iptables-save printed of the table raw
    """
    lines = list(saved)
    drops = [ln for ln in lines if ln.startswith(f"-A {CHAIN} ")]
    return f"-A {' '.join(JUMP)}" in lines and len(drops) == len(
        rules(addresses.USUAL)
    )


def troubles() -> list[str]:
    """Return the faults of the rules, a phrase for each."""
    saved = commands.run(["iptables-save", "-t", "raw"])
    if there(saved.splitlines()):
        return []
    return ["the packet filter that closes the cloud to others is gone"]


def remove() -> None:
    """Remove rules and chain; what is missing is ignored."""
    while _works("-D", *JUMP):
        continue
    _works("-F", CHAIN)
    _works("-X", CHAIN)


def _command(*arguments: str) -> list[str]:
    return ["iptables", "-w", "-t", "raw", *arguments]


def _works(*arguments: str) -> bool:
    return commands.quietly(_command(*arguments))
