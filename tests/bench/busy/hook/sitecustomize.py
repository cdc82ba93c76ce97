# SPDX-License-Identifier: Apache-2.0
"""Writes down each request to OpenStack that a process sends.

Python imports a module of this name when it starts, where it finds one.
"""

import os
import re
import time
import urllib.parse

from keystoneauth1 import session

#: What a path names by identifier or by a name of Rally's.
_NAMED = re.compile(
    r"[0-9a-f]{8}-?([0-9a-f]{4}-?){3}[0-9a-f]{12}|[cs]_rally_\w+"
)
_request = session.Session.request


def _counted(self, url, method, **options):
    """Send the request, and write down how long its answer took."""
    began = time.monotonic()
    try:
        return _request(self, url, method, **options)
    finally:
        path = _NAMED.sub("ID", urllib.parse.urlparse(url).path)
        line = f"{time.monotonic() - began:.3f} {method} {path}\n"
        with open(os.environ["VMPERF_REQUESTS"], "a") as stream:
            stream.write(line)


if "VMPERF_REQUESTS" in os.environ:
    session.Session.request = _counted
