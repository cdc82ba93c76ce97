# SPDX-License-Identifier: Apache-2.0
"""A ProxyCommand: HOST PORT, both ways."""

import os
import socket
import sys
import threading


def main():
    """Relay until either side has no more."""
    line = socket.create_connection(sys.argv[1:])

    def send():
        while data := os.read(0, 1 << 16):
            line.sendall(data)
        os._exit(0)

    threading.Thread(target=send).start()
    while data := line.recv(1 << 16):
        os.write(1, data)
    os._exit(0)


if __name__ == "__main__":
    main()
