# SPDX-License-Identifier: Apache-2.0
"""Programs that a hostile guest has in place of the tools."""

from tests.unit.hostile import attacks

#: Where a guest has its words; the programs only print them.
WORDS = "words"

#: Prints all words on both streams; the exit status is to be filled in.
_SAYS = """#!/bin/sh
/bin/cat -- "{folder}/words"
/bin/cat -- "{folder}/words" >&2
exit {status}
"""

#: Describes a processor; each key twice, and some that nobody asked for.
_LSCPU = """#!/bin/sh
printf 'CPU(s): 999999999999999999999999\\nSocket(s): -1\\n'
printf 'Core(s) per socket: NaN\\nModel name: '
grep -a -m 1 '<script>' -- "{folder}/words"
printf 'Hypervisor vendor: '
grep -a -m 1 'constructor' -- "{folder}/words"
sed 's/^/key: /' -- "{folder}/words"
"""

#: Lays its file out as if all were well, then fails with an error report.
_FIO = """#!/bin/sh
case "$*" in
*--version*) grep -a -m 1 onerror -- "{folder}/words"; exit ;;
*--name=layout*) exit 0 ;;
esac
printf '{{"jobs":[{{"error":0,"__proto__":{{"iops":1}},"randread":1,'
printf '"read":{{"total_ios":1e400,"iops":NaN}}}}]}}'
/bin/cat -- "{folder}/words" >&2
"""

#: Compresses nothing at all, quickly.
_BZIP2 = """#!/bin/sh
grep -a -m 1 csv -- "{folder}/words" >&2
exit 0
"""

#: Speaks without end.
FLOOD = """#!/bin/sh
exec /usr/bin/yes "$(printf '\\033]0;PWNED\\007')"
"""
#: Says all words and nothing that was asked for, and is content.
BABBLE = _SAYS.replace("{status}", "0")


def programs(folder: str) -> dict[str, str]:
    """Return the text of each program by its name.

    :param folder: The folder in which the guest has the texts.
    """
    texts = {
        "lscpu": _LSCPU,
        "fio": _FIO,
        "bzip2": _BZIP2,
        "sysbench": _SAYS.replace("{status}", "1"),
        "mbw": _SAYS.replace("{status}", "0"),
        "iperf3": _SAYS.replace("{status}", "0"),
        "dpkg-query": _SAYS.replace("{status}", "0"),
        "systemd-detect-virt": _SAYS.replace("{status}", "0"),
        "uname": _SAYS.replace("{status}", "0"),
        "hostname": _SAYS.replace("{status}", "0"),
        "nproc": _SAYS.replace("{status}", "0"),
        "dmesg": _SAYS.replace("{status}", "0"),
    }
    return {name: text.format(folder=folder) for name, text in texts.items()}


def all_texts() -> bytes:
    """Return what the programs print."""
    return attacks.everything()
