"""Tests of options that outputs state: other ones are not compared.

Each pair has the same command with one option changed, as a user might do.
"""

import json
import pathlib
import unittest

import yaml

from rally_vmperf import errors
from rally_vmperf.runs.raw_outputs import cleaning
from rally_vmperf.runs.raw_outputs import imported
from rally_vmperf.runs.raw_outputs import reading
from tests.unit.workloads import golden

_FIO = {
    "name": "t",
    "rw": "randread",
    "bs": "4k",
    "size": "4G",
    "ioengine": "libaio",
    "iodepth": "32",
    "direct": "1",
}


def fio(version="fio-3.36", **options):
    """Return fio's JSON of a job; the option None is absent."""
    given = {
        key: option
        for key, option in {**_FIO, **options}.items()
        if option is not None
    }
    side = {"iops": 20000.0, "bw_bytes": 81920000, "total_ios": 1200000}
    job = {"jobname": "t", "error": 0, "job options": given, "read": side}
    return json.dumps({"fio version": version, "jobs": [job]})


def iperf3(buffer=0, bitrate=0, host="192.0.2.2", seconds=10.0):
    """Return iperf3's JSON of a client."""
    summary = {"seconds": seconds, "bits_per_second": 9.4e9}
    return json.dumps(
        {
            "start": {
                "sock_bufsize": buffer,
                "connected": [{"remote_host": host, "remote_port": 5201}],
                "test_start": {
                    "protocol": "TCP",
                    "num_streams": 1,
                    "duration": round(seconds),
                    "target_bitrate": bitrate,
                },
            },
            "end": {"sum_sent": summary, "sum_received": summary},
        }
    )


def h2load(clients=10, protocol="h2", tls=True):
    """Return the output of h2load."""
    cipher = "TLS Protocol: TLSv1.3\n" if tls else ""
    return (
        f"spawning thread #0: {clients} total client(s). 10 total requests\n"
        f"{cipher}Application protocol: {protocol}\n\n"
        "finished in 1.92s, 5.21 req/s, 1.63KB/s\n"
        "requests: 10 total, 10 started, 10 done, 10 succeeded, 0 failed, "
        "0 errored, 0 timeout\n"
    )


def dd(operands):
    """Return the output of dd after its command line."""
    return (
        f"# dd if=/dev/zero of=/srv/t {operands} conv=fdatasync\n"
        "1024+0 records in\n1024+0 records out\n"
        "1073741824 bytes (1.1 GB, 1.0 GiB) copied, 4.21 s, 255 MB/s\n"
    )


def openssl(*lines):
    """Return the output of openssl, after lines of stderr."""
    return "\n".join(
        [
            *lines,
            "Doing AES-256-GCM for 3s on 16384 size blocks: 9 AES-256-GCM's "
            "in 3.00s",
            "version: 3.0.13",
            "The 'numbers' are in 1000s of bytes per second processed.",
            "type          16384 bytes",
            "AES-256-GCM   4915200.00k",
            "",
        ]
    )


_ELAPSED = "You have chosen to measure elapsed time instead of user CPU time."
_IOZONE = "iozone-3.489-throughput-2.txt"
_SYSBENCH = "sysbench-1.0.20-cpu.txt"


def changed(name, before, after):
    """Return a golden output and one with another line."""
    text = golden.text(name)
    assert before in text, name
    return text, text.replace(before, after, 1)


DIFFERENT = (
    (fio(), fio(direct=None), "direct is True .* False"),
    (fio(), fio(iodepth=None), "depth is 32 .* and 1"),
    (fio(), fio(end_fsync="1"), "other_options is '' .* 'end_fsync=1'"),
    (fio(), fio(direct=None, buffered="1"), "direct is True .* False"),
    (
        fio(rw="randrw", rwmixwrite="10"),
        fio(rw="randrw", rwmixwrite="90"),
        "read_percent is 90 .* 10",
    ),
    (fio(), fio(filename="/dev/vdb"), "place is 'file' .* 'device'"),
    (fio(), fio(directory="/dev/shm"), "'file' .* 'memory file system'"),
    (fio(), fio(rw="read"), "pattern is 'randread' .* 'read'"),
    (iperf3(), iperf3(bitrate=950000000), "target_bitrate is 0 .* 950000000"),
    (iperf3(), iperf3(buffer=65536), "window_kib is 0 .* 64"),
    (iperf3(), iperf3(host="127.0.0.1"), "path is 'network' .* 'loopback'"),
    (h2load(), h2load(clients=100), "clients is 10 .* 100"),
    (h2load(), h2load(protocol="http/1.1"), "'h2' .* 'http/1.1'"),
    (h2load(), h2load(tls=False), "tls is True .* False"),
    (dd("bs=1M"), dd("bs=4k"), "block_size is '1M' .* '4k'"),
    (dd("ibs=1M obs=1M"), dd("ibs=4k obs=4k"), "ibs is '1M' .* obs is '1M'"),
    (openssl(_ELAPSED), openssl(), "clock is 'elapsed' .* 'user CPU'"),
    (
        *changed(_IOZONE, "\tRecord Size", "\tSYNC Mode. \n\tRecord Size"),
        "sync is False .* True",
    ),
    (
        *changed(
            _SYSBENCH,
            "Initializing random",
            "Target transaction rate: 100/sec\nInitializing random",
        ),
        "target_rate is 0 .* 100",
    ),
)
ALIKE = (
    (fio(), fio(filename="/srv/t", name="guest", write_bw_log="x")),
    (fio(filename="/dev/sda"), fio(filename="/dev/vdb:/dev/vdc")),
    (fio(), fio(end_fsync="0", randrepeat="1", numjobs="1", buffered="0")),
    (fio(direct=None), fio(direct="0")),
    (fio("fio-2.2.10"), fio("fio-2.2.10", iodepth=None)),
    (iperf3(), iperf3(host="198.51.100.7")),
    (dd("bs=1M"), dd("bs=1M").replace("/srv/t", "/tmp/x")),
    (openssl(_ELAPSED), openssl().partition("version")[2]),
)


def list_differences(before, after):
    """Return the differences of two outputs of a tool as text."""
    first, second = (
        reading.read(cleaning.clean(text.encode()))[0]
        for text in (before, after)
    )
    keys = imported._list_differences(first.arguments, second.arguments)
    return imported._describe_differences(
        keys, first.arguments, second.arguments
    )


DATA = pathlib.Path(__file__).parent / "data"
PAIRS = yaml.safe_load((DATA / "pairs.yaml").read_text())


class TestOptions(unittest.TestCase):
    """Options are arguments, and places are not."""

    def test_different(self):
        for before, after, pattern in DIFFERENT:
            with self.subTest(pattern):
                self.assertRegex(list_differences(before, after), pattern)

    def test_pairs(self):
        """A pair of files is not compared, and the message says why."""
        for name, reason in PAIRS.items():
            bare, guest = (
                [
                    output
                    for path in DATA.glob(f"{name}-{side}.*")
                    for output in reading.read(
                        cleaning.clean(path.read_bytes())
                    )
                ]
                for side in ("bm", "guest")
            )
            baseline = imported.build_baseline("b", "m", bare, {})
            with (
                self.subTest(name),
                self.assertRaises(errors.VMPerfError) as caught,
            ):
                imported.build_repetitions(baseline, guest, {})
            self.assertIn(reason, str(caught.exception))

    def test_alike(self):
        for before, after in ALIKE:
            with self.subTest(after):
                self.assertEqual("", list_differences(before, after))

    def test_short_run(self):
        """TCP has no steady rate yet."""
        with self.assertRaisesRegex(Exception, "ended after 0.25 s"):
            reading.read(iperf3(seconds=0.25), "", {})

    def test_source_of_ping(self):
        """The payload is not a part of the address."""
        text = golden.text("ping-20221126-to_peer.txt").replace(
            "(127.0.0.1) 56(84)", "(192.0.2.1) from 172.16.4.2 eth0: 56(84)", 1
        )
        (output,) = reading.read(text, "", {})
        self.assertEqual(56, output.arguments["size"])
