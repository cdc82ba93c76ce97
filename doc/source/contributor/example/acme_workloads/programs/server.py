"""Answer every message of any number of clients: server.py ADDRESS PORT.

ADDRESS is empty for all addresses.
"""

import socketserver
import sys


class Answer(socketserver.StreamRequestHandler):
    """A message is eight bytes with its length, and so many bytes."""

    def handle(self):
        while size := self.rfile.read(8):
            self.rfile.read(int.from_bytes(size, "big"))
            self.wfile.write(b"+")


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = 1000


Server((sys.argv[1], int(sys.argv[2])), Answer).serve_forever()
