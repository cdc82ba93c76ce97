# SPDX-License-Identifier: Apache-2.0
"""Tests of options that outputs state: other ones are not compared.

Each pair has the same command with one option changed, as a user might do.
"""

import json
import pathlib
import re
import unittest

import yaml

from rally_vmperf import errors
from rally_vmperf.runs.raw_outputs import cleaning
from rally_vmperf.runs.raw_outputs import imported
from rally_vmperf.runs.raw_outputs import reading
from tests.unit import listing
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


def openssl_1_1(algorithm="aes-256-gcm"):
    """Return the output of openssl 1.1 with -elapsed."""
    return "\n".join(
        [
            _ELAPSED,
            f"Doing {algorithm} for 3s on 16384 size blocks: 9 {algorithm}'s "
            "in 3.00s",
            "OpenSSL 1.1.1f  31 Mar 2020",
            "built on: Mon Apr 20 11:53:50 2020 UTC",
            "options:bn(64,64) rc4(16x,int) des(int) aes(partial)",
            "The 'numbers' are in 1000s of bytes per second processed.",
            "type          16384 bytes",
            f"{algorithm}   4915200.00k",
            "",
        ]
    )


def timed(command):
    """Return the output of a command under time."""
    return f"$ time {command}\n\nreal\t0m4.250s\nuser\t0m3.900s\n"


_ELAPSED = "You have chosen to measure elapsed time instead of user CPU time."
_IOZONE = "iozone-3.489-throughput-2.txt"
_SYSBENCH = "sysbench-1.0.20-cpu.txt"


_TABLE = (
    "[ ID] Interval           Transfer     Bitrate         Retr\n"
    "[  5]   0.00-10.00  sec  1.32 GBytes  1.14 Gbits/sec  785      sender\n"
    "[  5]   0.00-10.04  sec  1.32 GBytes  1.13 Gbits/sec         receiver\n"
)


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
    (
        fio(filename="/dev/sda"),
        fio(filename="/dev/vdb:/dev/vdc"),
        "place is 'device' .* 'device, device'",
    ),
    (fio(runtime="60"), fio(runtime="1h"), "runtime is 60 .* 3600"),
    (fio(), fio(cpus_allowed="0"), "cpus is 'all' .* 1"),
    (fio(cpus_allowed="0-3,8"), fio(cpus_allowed="0-3"), "cpus is 5 .* 4"),
    (
        fio(cpus_allowed="0-3"),
        fio(cpus_allowed="0-3", cpus_allowed_policy="split"),
        "'' .* 'cpus_allowed_policy=split'",
    ),
    (fio(cpumask="3"), fio(), "'cpumask=3' .* ''"),
    (fio(numa_cpu_nodes="0"), fio(), "'numa_cpu_nodes=0' .* ''"),
    (fio(), fio(numa_mem_policy="bind:1"), "'numa_mem_policy=bind:1'"),
    (fio(ioscheduler="none"), fio(), "'ioscheduler=none' .* ''"),
    (fio(), fio(directory="/dev/shm"), "'file' .* 'memory file system'"),
    (fio(), fio(rw="read"), "pattern is 'randread' .* 'read'"),
    (
        fio(rate_iops="500"),
        fio(rate_iops="500", rate_process="poisson"),
        "arrivals is 'regular' .* 'poisson'",
    ),
    (fio(rate_iops="500"), fio(rate_iops="501"), "rate_iops is 500 .* 501"),
    (iperf3(), iperf3(bitrate=950000000), "tcp_bitrate is 0 .* 950000000"),
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
        "rate is 0 .* 100",
    ),
)
ALIKE = (
    (fio(rate_iops="500"), fio(rate_iops="500", rate_process="linear")),
    (fio(), fio(filename="/srv/t", name="guest", write_bw_log="x")),
    (fio(filename="/dev/sda:/dev/sdb"), fio(filename="/dev/vdb:/dev/vdc")),
    (fio(runtime="120"), fio(runtime="2m")),
    (fio(runtime="120"), fio(runtime="120000ms")),
    (fio(), fio(end_fsync="0", randrepeat="1", numjobs="1", buffered="0")),
    (fio(direct=None), fio(direct="0")),
    # The numbers of processors are names.
    (fio(cpus_allowed="0-3"), fio(cpus_allowed="8,9,10-11")),
    (fio("fio-2.2.10"), fio("fio-2.2.10", iodepth=None)),
    (iperf3(), iperf3(host="198.51.100.7")),
    (dd("bs=1M"), dd("bs=1M").replace("/srv/t", "/tmp/x")),
    (openssl(_ELAPSED), openssl().partition("version")[2]),
    # 9 is the default of bzip2, and -k and -v change no byte.
    (timed("bzip2 -kv data"), timed("bzip2 -9 /srv/x")),
    # The level of an archive is in it.
    (timed("bunzip2 data.bz2"), timed("bzip2 -dk x.bz2")),
)


def fio_text(sizes="4096B-4096B", pattern="randrw", writes=20, syncs=0):
    """Return the report of fio for people; reads are 80 per second."""
    return (
        f"t: (g=0): rw={pattern}, bs=(R) {sizes}, (W) {sizes}, (T) {sizes}, "
        "ioengine=psync, iodepth=1\nfio-3.33\nStarting 1 process\n\n"
        "t: (groupid=0, jobs=1): err= 0: pid=1: Sun Nov 29 12:06:23 2026\n"
        "  read: IOPS=80, BW=320KiB/s (328kB/s)(3200KiB/10001msec)\n"
        f"  write: IOPS={writes}, BW=80KiB/s (82kB/s)(800KiB/10001msec)\n"
        f"     issued rwts: total=800,{writes}0,0,{syncs} short=0,0,0,0 "
        "dropped=0,0,0,0\n"
    )


def iperf3_verbose(end="10 second test", segment="1448 (default)", tos=0):
    """Return the table of iperf3 -V."""
    return (
        "iperf 3.12\nConnecting to host 192.0.2.2, port 5201\n"
        f"      TCP MSS: {segment}\n"
        "Starting Test: protocol: TCP, 1 streams, 131072 byte blocks, "
        f"omitting 0 seconds, {end}, tos {tos}\n{_TABLE}"
    )


def iperf3_omitted(seconds):
    """Return the table of iperf3 with intervals of a second."""
    row = "[  5]   0.00-{}.00   sec  1.32 GBytes  1.14 Gbits/sec    0   {}\n"
    omitted = row.format(seconds, "767 KBytes       (omitted)")
    return (
        f"Connecting to host 192.0.2.2, port 5201\n{omitted * bool(seconds)}"
        f"{row.format(10, '767 KBytes')}- - - - - - - - - - - -\n{_TABLE}"
    )


def iperf(length="131072 Byte", tos="0x0", nagle="on", end=10.0):
    """Return the output of iperf 2 -e; it has no command line."""
    return (
        "Client connecting to 192.0.2.2, TCP port 5001 with pid 640 (1 flows)"
        f"\nWrite buffer size: {length}\nTOS set to {tos} (Nagle {nagle})\n"
        "TCP window size: 85.0 KByte (default)\n"
        "[ ID] Interval            Transfer    Bandwidth\n"
        f"[  1] 0.0000-{end:.4f} sec  4.57 GBytes  3.92 Gbits/sec\n"
    )


def wget(scheme="http"):
    """Return the output of wget."""
    return (
        f"--2026-11-29 12:00:01--  {scheme}://192.0.2.2/data\n"
        "Saving to: '/dev/null'\n\n"
        "2026-11-29 12:00:10 (112 MB/s) - '/dev/null' saved [1073/1073]\n"
    )


def ping(milliseconds):
    """Return the summary of 100 packets of ping."""
    return (
        "PING 192.0.2.2 (192.0.2.2) 56(84) bytes of data.\n\n"
        "--- 192.0.2.2 ping statistics ---\n100 packets transmitted, 100 "
        f"received, 0% packet loss, time {milliseconds}ms\n"
        "rtt min/avg/max/mdev = 0.201/0.254/0.402/0.050 ms\n"
    )


def flood():
    """Return the output of ping -f."""
    return ping(12).rstrip() + ", ipg/ewma 0.059/0.054 ms\n"


def h2load_pages(threads=1, cipher="TLS_AES_256_GCM_SHA384", size=3133):
    """Return the output of h2load with two clients and 100 pages."""
    threads_text = "".join(
        f"spawning thread #{number}: {2 // threads} total client(s). 50 total "
        "requests\n"
        for number in range(threads)
    )
    return (
        f"{threads_text}TLS Protocol: TLSv1.3\nCipher: {cipher}\n"
        "Application protocol: h2\n\n"
        "finished in 1.92s, 52.10 req/s, 163.12KB/s\n"
        "requests: 100 total, 100 started, 100 done, 100 succeeded, 0 failed, "
        "0 errored, 0 timeout\n"
        "traffic: 313.19KB (320702) total, 4.30KB (4402) headers (space "
        f"savings 90.00%), 306.00KB ({size}00) data\n"
    )


def sockperf(seconds=10.1, burst=""):
    """Return the output of sockperf ping-pong."""
    return (
        f"sockperf: [Total Run] RunTime={seconds} sec; SentMessages=102; "
        "ReceivedMessages=101\n"
        "sockperf: [Valid Duration] RunTime=9.550 sec; SentMessages=90; "
        "ReceivedMessages=90\n"
        "sockperf: ====> avg-lat=15.964 (std-dev=132.752)\n"
        f"sockperf: Summary: Latency {burst}is 15.964 usec\n"
        "sockperf: ---> percentile 50.000 =    6.003\n"
    )


#: Differences that the text of an output tells without a command line.
TOLD = (
    (fio_text(), fio_text("64.0KiB-64.0KiB"), "block_size is '4k' .* '64k'"),
    (fio_text("4096B-64.0KiB"), fio_text(), "block_size is '4k-64k' .* '4k'"),
    (fio_text(), fio_text(writes=320), "read_percent is 80 .* 20"),
    (fio_text(), fio_text(syncs=200), "has_syncs is False .* True"),
    (iperf3_verbose(), iperf3_verbose(tos=72), "tos is 0 .* 72"),
    (iperf3_verbose(), iperf3_verbose(segment="1400"), "segment is 0 .* 1400"),
    (
        iperf3_verbose(),
        iperf3_verbose("1048576 bytes to send"),
        "bytes is 0 .* 1048576",
    ),
    (
        iperf3_verbose("80 blocks to send"),
        iperf3_verbose(),
        "blocks is 80 .* and 0",
    ),
    (iperf3_omitted(0), iperf3_omitted(3), "omit is 0 .* 3"),
    (iperf(), iperf("1024 Byte"), "buffer_bytes is 131072 .* 1024"),
    (iperf("128 KByte"), iperf(nagle="off"), "^[^,]*nagle is True .* False"),
    (iperf(), iperf(tos="0x10"), "tos is 0 .* 16"),
    (wget(), wget("https"), "tls is False .* True"),
    (ping(99132), ping(19915), "interval is 1.0 .* 0.2"),
    (h2load_pages(), h2load_pages(threads=2), "threads is 1 .* 2"),
    (h2load_pages(), h2load_pages(cipher="X"), "cipher is 'TLS_.* 'X'"),
    (h2load_pages(), h2load_pages(size=313), "page_bytes is 3133 .* 313 "),
    (sockperf(), sockperf(60.0), "time is 10 .* 60"),
    (
        f"$ sockperf under-load -i h --mps=500 --reply-every 1\n{sockperf()}",
        f"$ sockperf under-load -i h --mps 90 --reply-every 1\n{sockperf()}",
        "rate is 500 .* 90",
    ),
    (
        f"$ sockperf ping-pong -i h\n{sockperf()}",
        f"$ sockperf under-load -i h --reply-every=1\n{sockperf()}",
        "rate is 0 .* 10000",
    ),
    (sockperf(), sockperf(burst="of burst of 9 messages "), "burst is 1 .* 9"),
    (
        openssl(_ELAPSED, "CPUINFO: OPENSSL_ia32cap=0xfffa:0x405"),
        openssl(_ELAPSED, "CPUINFO: OPENSSL_ia32cap=0xfd:0x0 env:~0x2000"),
        "capabilities is 'all' .* '~0x2000'",
    ),
    (
        f"$ openssl speed -elapsed -evp aes-256-gcm\n{openssl_1_1()}",
        "$ OPENSSL_ia32cap=0 openssl speed -elapsed -evp aes-256-gcm\n"
        + openssl_1_1(),
        "capabilities is 'all' .* '0'",
    ),
    (
        f"$ sudo -E openssl speed -elapsed -evp aes-256-gcm\n{openssl_1_1()}",
        "$ env OPENSSL_ia32cap=~0x2:~0x4 openssl speed -elapsed -evp x\n"
        + openssl_1_1(),
        "capabilities is 'all' .* '~0x2:~0x4'",
    ),
    (
        openssl_1_1("aes-256-cbc"),
        openssl_1_1("aes-256 cbc"),
        "interface is 'EVP' .* 'low-level'",
    ),
    (
        f"$ iperf -c 192.0.2.2\n{iperf()}",
        f"$ GLIBC_TUNABLES=glibc.cpu.x=1 iperf -c 192.0.2.2\n{iperf()}",
        "other_options is '' .* 'GLIBC_TUNABLES=glibc.cpu.x=1'",
    ),
    (ping(99132), flood(), "interval is 1.0 .* 0.0"),
    (fio(rate="10m"), fio(rate="10MiB"), "rate is '10M' .* '10000000'"),
    (fio(rate="10m"), fio(rate="10m,"), "rate is '10M' .* '10M,'"),
    (fio(bs="4k"), fio(bs="4k,8k"), "block_size is '4k' .* '4k,8k'"),
    (
        *changed(
            _IOZONE,
            "\tRecord Size",
            "\tInclude close in write timing\n\tRecord Size",
        ),
        "close is False .* True",
    ),
    (timed("bzip2 -k a"), timed("taskset -c 0 bzip2 -k a"), "'' .*'taskset'"),
    (timed("bzip2 a"), timed("bzip2 a b"), "operands is 1 .* 2"),
    (timed("cp a b"), timed("(cp a b; sync)"), "flush is False .* True"),
    (timed("cp a b"), timed("sh -c 'cp a b && sync'"), "flush is False"),
    (timed("bzip2 a"), timed("(bzip2 a; sync)"), "'' .* 'sync'"),
    (dd("bs=1M"), dd("bs=1M").replace(" dd", " nice -n 19 dd"), "'' .*'nice'"),
)
#: Equal options, in another form or as results.
SAME = (
    (iperf3_verbose(), _TABLE.replace("10.04", "10.00")),
    (iperf3_verbose("9 bytes to send"), iperf3_verbose("9 bytes to send")),
    (ping(99132), ping(99001)),
    # Below 0.1 s, timers and answers decide.
    (ping(19915), ping(12)),
    (sockperf(10.1), sockperf(10.003)),
    (
        f"$ sockperf ping-pong -i h --mps=max\n{sockperf()}",
        f"$ sockperf ping-pong -i h\n{sockperf()}",
    ),
    (
        f"$ sockperf ul -i h --pps=500 --reply-every=1\n{sockperf()}",
        f"$ sockperf under-load -i h --mps 500 --reply-every 1\n{sockperf()}",
    ),
    # Its suffixes are not case-sensitive, and a rate is one of each side.
    (fio(rate="10m"), fio(rate="10M")),
    (fio(rate="10m"), fio(rate="10240KB,10485760")),
    (fio(bs="4k"), fio(bs="4Ki,4096B")),
    (
        f"$ ping -c 50 192.0.2.1\n{ping(99132)}",
        f"$ LC_ALL=C LANG=C ping -c 50 192.0.2.1\n{ping(99132)}",
    ),
    (flood(), f"$ ping -f -c 50 192.0.2.1\n{flood()}"),
    (openssl(), openssl("CPUINFO: OPENSSL_ia32cap=0xfffa:0x405")),
    # The shell runs sync after time.
    (timed("cp a b"), timed("cp a b; sync")),
    (timed("cp a b"), timed("cp a b > log")),
    (
        fio_text("4096B-64.0KiB", "randrw"),
        fio(rw="randrw", bsrange="4096-64k", rwmixread="80")
        .replace(
            '"read": {',
            '"write": {"iops": 20.0, "bw_bytes": 81920, '
            '"total_ios": 200}, "read": {',
        )
        .replace("libaio", "psync")
        .replace('"iodepth": "32", ', ""),
    ),
    # The date is not an option on the next line.
    ("$ wget x\n" + wget(), "$ wget x\n" + wget().replace("2026-", "2027-")),
    (dd("bs=1M"), dd("bs=1m")),
    (dd("bs=1M count=1024"), dd("bs=1M count=1G iflag=count_bytes")),
    (dd("bs=1M count=1024"), dd("bs=1M count=1GiB")),
    (dd("bs=1M"), dd("bs=16x64k")),
)


def unixbench(version="5.1.3", copies=1):
    """Return the output of UnixBench."""
    plural = "ies" if copies > 1 else "y"
    return (
        f"   BYTE UNIX Benchmarks (Version {version})\n"
        "Benchmark Run: Sat Nov 21 2026 01:43:30 - 01:49:10\n"
        f"2 CPUs in system; running {copies} parallel cop{plural} of tests\n\n"
        "Pipe Throughput                 161368.5 lps   (10.0 s, 7 samples)\n"
    )


def hepscore(config_hash="ab", repetitions=3):
    """Return the JSON of HEPscore without its suite."""
    return json.dumps(
        {
            "settings": {"name": "HEPscore23", "repetitions": repetitions},
            "app_info": {"config_hash": config_hash},
            "wl-scores": {},
            "score": 700.0,
        }
    )


def ping(address="192.0.2.1", options="-c 2"):
    """Return the output of ping behind its command line."""
    return (
        f"$ ping {options} {address}\n"
        f"PING {address} ({address}) 56(84) bytes of data.\n\n"
        f"--- {address} ping statistics ---\n"
        "2 packets transmitted, 2 received, 0% packet loss, time 1001ms\n"
        "rtt min/avg/max/mdev = 0.211/0.254/0.402/0.031 ms\n"
    )


def wget(host="192.0.2.1", saved="data", size=60513):
    """Return the output of wget."""
    return (
        f"--2026-07-17 12:09:30--  http://{host}/data\n"
        f"Saving to: '{saved}'\n\n"
        f"2026-07-17 12:09:31 (345 KB/s) - '{saved}' saved [{size}/{size}]\n"
    )


_IPERF = "iperf2-2.1.8-to_peer.txt"
_SOCKPERF = "sockperf-3.7-to_peer.txt"
_MEMORY = "sysbench_memory-1.0.20-read.txt"
_STREAM = "stream-5.10.txt"
_MBW = "mbw-2.0.txt"
#: Tool -> two outputs, and their difference.
OTHERS = {
    "fio": (
        (fio(), fio(norandommap="1"), "'norandommap'"),
        (fio(), fio(new_option="7"), "'new_option=7'"),
    ),
    "iperf3": (
        (
            "$ iperf3 -c 192.0.2.2\n" + _TABLE,
            "$ iperf3 -c 192.0.2.2 -b 1G\n" + _TABLE,
            "tcp_bitrate is 0 .* 1000000000",
        ),
        (
            "$ iperf3 -c 192.0.2.2 -Z\n" + _TABLE,
            "$ iperf3 -c 192.0.2.2 -N\n" + _TABLE,
            "other_options is 'Z' .* 'N'",
        ),
        (
            "$ iperf3 -c 192.0.2.2\n" + _TABLE,
            "$ sudo taskset -c 1 nice -n -5 iperf3 -c 192.0.2.2\n" + _TABLE,
            "other_options is '' .* 'nice taskset'",
        ),
    ),
    "iperf": (
        (
            *changed(_IPERF, "3.76 MByte (default)", "64.0 KByte"),
            "window_kib is 0 .* 64",
        ),
        (
            "$ iperf -c 192.0.2.1 -P 2\n" + golden.text(_IPERF),
            "$ iperf -c 192.0.2.1 -P 2 -M 500\n" + golden.text(_IPERF),
            "segment is 0 .* 500",
        ),
    ),
    "h2load": (
        (
            "$ h2load -n 10 -c 10 https://192.0.2.1/\n" + h2load(),
            "$ h2load -n 10 -c 10 --rps=4 https://192.0.2.1/\n" + h2load(),
            "think_time is 0 .* 0.25",
        ),
        (
            "$ h2load -n 10 -c 10 https://192.0.2.1/\n" + h2load(),
            "$ h2load -n 10 -c 10 -m 100 https://192.0.2.1/\n" + h2load(),
            "concurrent_streams is 1 .* 100",
        ),
        (
            "$ h2load -n 10 -c 10 https://192.0.2.1/\n" + h2load(),
            "$ h2load -n 10 -c 10 https://localhost/\n" + h2load(),
            "path is 'network' .* 'loopback'",
        ),
    ),
    "dd": (
        (
            dd("bs=1M"),
            dd("bs=1M seek=9"),
            "other_options is '' .* 'seek=9'",
        ),
        (
            dd("bs=1M"),
            dd("bs=1M").replace("/srv/t", "/dev/shm/t"),
            "place is 'file' .* 'memory file system'",
        ),
    ),
    "openssl": (
        (openssl(), openssl().replace("for 3s", "for 9s"), "time is 3 .* 9"),
        (
            "$ openssl speed -evp x\n" + openssl(),
            "$ openssl speed -evp x -engine y\n" + openssl(),
            "'engine=y'",
        ),
    ),
    "iozone": (
        (*changed(_IOZONE, " -i 1 -F", " -i 1 -c -F"), "'c'"),
        (
            *changed(_IOZONE, "1.data 2.data", "/dev/shm/1 /dev/shm/2"),
            "place is 'file' .* 'memory file system'",
        ),
        (
            *changed(_IOZONE, "-F 1.data 2.data", "-f /dev/vdb"),
            "place is 'file' .* 'device'",
        ),
        (
            *changed(_IOZONE, "1.data 2.data", "/srv/1 /dev/shm/2"),
            "place is 'file' .* 'file, memory file system'",
        ),
        (
            *changed(_IOZONE, "-s 32m", "-+n -s 32m"),
            "other_options is '' .* '[+]n'",
        ),
        (
            *changed(_IOZONE, "32768 kByte file", "65536 kByte file"),
            "size_mib",
        ),
        (*changed(_IOZONE, "in 64 kByte", "in 4 kByte"), "record_size"),
        (
            *changed(
                _IOZONE,
                "\tRecord Size",
                "\tO_DIRECT feature enabled\n\tRecord Size",
            ),
            "direct is False .* True",
        ),
        (
            *changed(
                _IOZONE,
                "\tRecord Size",
                "\tInclude fsync in write timing\n\tRecord Size",
            ),
            "flush is False .* True",
        ),
    ),
    "sysbench": (
        (*changed(_SYSBENCH, "limit: 10000", "limit: 20000"), "max_prime"),
        (*changed(_MEMORY, "65536KiB", "1KiB"), "block_kib is 65536 .* 1"),
    ),
    "ping": (
        (ping(), ping(options="-c 2 -i 0.2"), "interval is 1.0 .* 0.2"),
        (ping(), ping("127.0.0.1"), "path is 'network' .* 'loopback'"),
    ),
    "sockperf": (
        (*changed(_SOCKPERF, "# TCP", "# UDP"), "protocol is 'tcp' .* 'udp'"),
        (
            *changed(_SOCKPERF, "IP = 127.0.0.1", "IP = 192.0.2.7"),
            "path is 'loopback' .* 'network'",
        ),
    ),
    "wget": (
        (wget(), wget(saved="/dev/null"), "place is 'file' .* 'no device'"),
        (wget(), wget(size=1000), "bytes is 60513 .* 1000"),
    ),
    "mbw": (
        (
            golden.text(_MBW).replace("\nLong", "\n$ mbw -n 3 16\nLong"),
            golden.text(_MBW).replace("\nLong", "\n$ mbw -x -n 3 16\nLong"),
            "other_options is '' .* 'x'",
        ),
        (
            *changed(_MBW, "Using 262144 bytes", "Using 65536 bytes"),
            "block_size is 262144 .* 65536",
        ),
        (
            golden.text(_MBW),
            golden.text(_MBW)
            .replace(
                "2*2097152 elements = 33554432",
                "2*4194304 elements = 67108864",
            )
            .replace("MiB: 16.0", "MiB: 32.0"),
            "size_mib is 16 .* 32",
        ),
    ),
    "stream": (
        (
            *changed(_STREAM, "counted = 2", "counted = 1"),
            "threads is 2 .* 1",
        ),
        (*changed(_STREAM, "Offset = 0", "Offset = 8"), "offset is 0 .* 8"),
    ),
    "unixbench": (
        (unixbench(), unixbench(version="6.0.0"), "version is '5.1.3'"),
        (unixbench(), unixbench(copies=2), "copies is 1 .* 2"),
    ),
    "hepscore": (
        (hepscore(), hepscore("cd"), "config_hash is 'ab' .* 'cd'"),
        (hepscore(), hepscore(repetitions=1), "repetitions is 3 .* 1"),
        (
            hepscore(),
            hepscore().replace("HEPscore23", "HEPscore-test"),
            "configuration_name is 'HEPscore23' .* 'HEPscore-test'",
        ),
    ),
    "time": (
        (timed("bzip2 -9 data"), timed("bzip2 -1 data"), "level is 9 .* 1"),
        (timed("bzip2 data"), timed("bzip2 --fast data"), "level is 9 .* 1"),
        (timed("bzip2 -k data"), timed("bzip2 -ks data"), "small is False"),
        (timed("bzip2 -d x"), timed("bzip2 -ds x"), "small is False .* True"),
        (timed("bzip2 a"), timed("bzip2 -c a"), "other_options is '' .* 'c'"),
        (timed("cp a b"), timed("cp --sparse=never a b"), "'sparse=never'"),
        (timed("cp a b"), timed("cp -t /dev/shm a"), "place is 'file'"),
        (timed("cp -r a b"), timed("cp -a a b"), "other_options is '' .* 'a'"),
        (timed("cp -r a /srv"), timed("cp -r a /dev/shm"), "place is 'file'"),
    ),
}
#: Tool -> outputs that differ only in places and names.
PLACES = {
    "fio": (fio(filename="/dev/sda"), fio(filename="/dev/vdb", name="g")),
    "iperf3": (
        "$ taskset -c 0 iperf3 -c 192.0.2.2 -p 5201 -i 1\n" + _TABLE,
        "# taskset -c 8 iperf3 -c 198.51.100.7 -p 99 -i 2 -V\n" + _TABLE,
    ),
    "iperf": changed(_IPERF, "port 5990", "port 6000"),
    "h2load": (
        "$ h2load -n 10 -c 10 https://192.0.2.1/\n" + h2load(),
        "$ h2load -n 10 -c 10 https://198.51.100.7:8443/x\n" + h2load(),
    ),
    "dd": (
        dd("bs=1M"),
        dd("bs=1M status=progress").replace("/srv/t", "/home/x"),
    ),
    "openssl": (openssl(), openssl().replace("3.0.13", "3.0.14")),
    "iozone": changed(_IOZONE, "-F 1.data 2.data", "-F /srv/1 /srv/2"),
    "sysbench": (
        "$ sysbench cpu --time=9 run\n" + golden.text(_SYSBENCH),
        "$ sysbench cpu --time=10 run\n" + golden.text(_SYSBENCH),
    ),
    "ping": (ping(), ping("198.51.100.7", "-n -c 2 -I eth1")),
    "sockperf": changed(_SOCKPERF, "PORT = 1", "PORT = 2"),
    "wget": (wget(), wget("198.51.100.7:8080", "other")),
    "mbw": changed(_MBW, "v1.5", "v1.6"),
    "stream": changed(_STREAM, "granularity/precision", "granularity"),
    "unixbench": (unixbench(), unixbench().replace("2026", "2025")),
    "hepscore": (hepscore(), hepscore()),
    "time": (timed("cp -r a /srv/b"), timed("cp -Rv c /home/d")),
}


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

    def test_different_outputs_of_each_tool(self):
        for tool, pairs in OTHERS.items():
            for before, after, pattern in pairs:
                with self.subTest(tool, pattern=pattern):
                    self.assertRegex(list_differences(before, after), pattern)

    def test_places_of_each_tool(self):
        """A pair that differs only in places and names is compared."""
        tools = {*reading.READERS} - {"job"}
        for name, listed, advice in (
            ("PLACES", PLACES, "differ in names of places only"),
            ("OTHERS", OTHERS, "differ in one option, with the message"),
        ):
            listing.check(
                self,
                listed,
                tools,
                f"{name} in tests/unit/runs/raw_outputs/test_options.py",
                f"add two outputs of the tool that {advice}",
            )
        for tool, (before, after) in PLACES.items():
            with self.subTest(tool):
                self.assertEqual("", list_differences(before, after))
                text = cleaning.clean(after.encode())
                self.assertEqual(tool, reading.recognise(text).tool)

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

    def test_told(self):
        """Outputs of two commands are not compared, and the reason is one."""
        for before, after, pattern in TOLD:
            with self.subTest(pattern):
                self.assertRegex(list_differences(before, after), pattern)
                self.assertEqual("", list_differences(after, after))

    def test_same(self):
        for before, after in SAME:
            with self.subTest(after):
                self.assertEqual("", list_differences(before, after))

    def test_server_of_iperf3(self):
        """Its log is not one of iperf 2."""
        text = (
            "Server listening on 5201 (test #1)\nAccepted connection from "
            f"192.0.2.1, port 59462\n{_TABLE}"
        )
        (output,) = reading.read(text, "", {})
        ((rate, *_),) = output.repetitions
        self.assertEqual(1.13e9, rate.value)

    def test_reasons(self):
        """The message names the option that prevents a comparison."""
        sysbench = golden.text("sysbench_memory-1.0.20-read.txt")
        for text, reason in (
            (
                "Server listening on TCP port 5001\n" + iperf(),
                "is of --dualtest or --tradeoff, or of a client and a server",
            ),
            (
                re.sub("operation: .*", "operation: none", sysbench),
                "the operation none moves no data; give an output of read",
            ),
            (
                # -P 2, of iperf 2.1.8.
                "20261130120511,192.0.2.1,60284,192.0.2.2,5001,2,0.0-2.0,"
                "2288517180,9071621289\n"
                "20261130120511,192.0.2.1,60272,192.0.2.2,5001,1,0.0-2.0,"
                "778829884,3064270324\n",
                r"iperf: this is CSV \(-y C\), which is not read; run iperf "
                "without -y",
            ),
            (
                # iperf -e.
                "19700101000000.000,192.0.2.1,60294,192.0.2.2,5001,1,0.0-2.0,"
                "6564479036,26146336652\n",
                r"iperf: this is CSV \(-y C\)",
            ),
            (
                "sysbench 1.0.20\n\nFATAL: Failed to allocate buffer!\n",
                "sysbench: failed: Failed to allocate buffer!",
            ),
        ):
            with (
                self.subTest(reason),
                self.assertRaisesRegex(Exception, reason),
            ):
                reading.read(text, "", {})

    def test_amount(self):
        """The time of a run that ends with its bytes is a result."""
        command = "$ iperf -c 192.0.2.2 -n 4G\n"
        self.assertEqual(
            "", list_differences(command + iperf(), command + iperf(end=17))
        )

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
