"""Send a file again and again: client.py ADDRESS PORT SECONDS FILE.

Prints what came of it as JSON: how long it took to connect, how often each
latency came (in microseconds), and how many answers came in each tenth of the
time.
"""

import collections
import json
import pathlib
import socket
import sys
import time

address, port, seconds, file = sys.argv[1:]
content = pathlib.Path(file).read_bytes()
message = len(content).to_bytes(8, "big") + content

asked = time.monotonic()
server = socket.create_connection((address, int(port)), timeout=10)
server.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
begin = time.monotonic()

latencies = collections.Counter()
tenths = [0] * 10
passed = 0.0
while passed < float(seconds):
    sent = time.monotonic()
    server.sendall(message)
    if server.recv(1) != b"+":
        sys.exit("the server hung up")
    done = time.monotonic()
    passed = done - begin
    latencies[round((done - sent) * 1e6)] += 1
    tenths[min(int(passed / float(seconds) * 10), 9)] += 1

print(
    json.dumps(
        {
            "bytes": len(content),
            "connect": begin - asked,
            "seconds": passed,
            "latencies": sorted(latencies.items()),
            "tenths": tenths,
        }
    )
)
