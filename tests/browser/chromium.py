# SPDX-License-Identifier: Apache-2.0
"""Chromium without a window, controlled over a pipe."""

import contextlib
import fcntl
import json
import os
import pathlib
import re
import select
import shutil
import subprocess
import tempfile
import time

#: Seconds in which an answer must arrive, on a machine that is busy.
_PATIENCE = 120

_FLAGS = (
    "--headless=new",
    "--no-sandbox",  # tests run as root
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-extensions",
    "--disable-background-networking",
    "--no-first-run",
    "--window-size=1000,1400",
    "--remote-debugging-pipe",
)

#: Where Rally's page lists iterations that failed, if any did.
FAILURES = "#/VMPerf.overhead/failures"
#: Places on Rally's page -> words that show that the place is there.
RALLYS_PLACES = {
    "": "VMPerf.overhead",
    "#/VMPerf.overhead/overview": "Service-level agreement",
    "#/VMPerf.overhead/details": "VMPerf.overhead",
    "#/VMPerf.overhead/output/additive": "Missing results",
    "#/VMPerf.overhead/output/complete": "State or reason",
    FAILURES: "Exception message",
    "#/VMPerf.overhead/task": "Workload Configuration",
    "#/source": "Input file",
}

#: What 1337*1337 is where somebody evaluates it.
EVALUATED = "1787569"
#: What the charts of Rally's own page say on the console.
_NVD3 = re.compile(r"total [0-9]+|Chart has no data to render!")
#: What a page of ours may ask for: itself.
_OWN = re.compile(r"file:///[^?#]*\.html($|#)|about:blank")

#: Fulfilled when the page has drawn, and its late events have come.
_RESTED = """
new Promise(done => {
  const wait = () => document.readyState === "complete"
    ? requestAnimationFrame(() => setTimeout(done, 400))
    : setTimeout(wait, 50);
  wait();
})
"""
_OPENED = """
(function open(page) {
  page.querySelectorAll("details").forEach(one => { one.open = true; });
  page.querySelectorAll("iframe").forEach(one => open(one.contentDocument));
})(document)
"""
_TEXT = """
(function text(page) {
  const frames = [...page.querySelectorAll("iframe")];
  return [page.body.innerText,
          ...frames.map(one => text(one.contentDocument))].join("\\n");
})(document)
"""


class Browser:
    """One page after another; what they do is kept.

    Use it as a context manager.
    """

    def __init__(self):
        self.scripts = []
        self.errors = []
        self._pending = {}
        self._number = 0
        self._session = None
        self._buffer = b""

    def __enter__(self):
        program = shutil.which("chromium") or shutil.which("chrome")
        if program is None:
            raise AssertionError("no chromium: run `make chromium`")
        with contextlib.ExitStack() as stack:
            self._folder = stack.enter_context(
                tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
            )
            theirs_in, self._out = _pipe(stack)
            self._in, theirs_out = _pipe(stack)
            flags = (*_FLAGS, f"--user-data-dir={self._folder}")
            plumbing = f'exec "$@" 3<&{theirs_in} 4>&{theirs_out}'
            self._process = subprocess.Popen(
                ["bash", "-c", plumbing, "bash", program, *flags],
                pass_fds=(theirs_in, theirs_out),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env={**os.environ, "HOME": self._folder},
            )
            stack.callback(self._end)
            (page,) = (
                target["targetId"]
                for target in self.ask("Target.getTargets")["targetInfos"]
                if target["type"] == "page"
            )
            self._session = self.ask(
                "Target.attachToTarget", targetId=page, flatten=True
            )["sessionId"]
            for domain in ("Page", "Runtime", "Network", "Log"):
                self.ask(f"{domain}.enable")
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_):
        self._stack.close()

    def open(self, path, fragment=""):
        """Show a file, unfold everything in it, and forget earlier pages."""
        self.ask("Page.navigate", url="about:blank")
        self.evaluate(_RESTED)
        self.scripts, self._pending, self.errors = [], {}, []
        url = pathlib.Path(path).resolve().as_uri()
        self.ask("Page.navigate", url=f"{url}{fragment}")
        self.rest()

    def prefer(self, scheme):
        """Show the next pages in a colour scheme; "" is the default."""
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.ask("Emulation.setEmulatedMedia", features=features)

    def go(self, fragment):
        """Go to another place on the page."""
        self.evaluate(f"location.hash = {json.dumps(fragment)}")
        self.rest()

    def rest(self):
        """Wait until the page has nothing more to do."""
        self.evaluate(_RESTED)
        self.evaluate(_OPENED)
        self.evaluate(_RESTED)

    def text(self):
        """Return what a reader sees, frames included."""
        return self.evaluate(_TEXT)

    @property
    def requests(self):
        """Return the addresses that the page asked for."""
        return list(self._pending.values())

    def misdeeds(self):
        """Return the actions of a page since ``open``, except its display."""
        misdeeds = [x for x in self.scripts if not _NVD3.fullmatch(x)]
        misdeeds += [url for url in self.requests if not _OWN.match(url)]
        misdeeds += [str(error) for error in self.errors]
        if EVALUATED in self.text():
            misdeeds.append(EVALUATED)
        return misdeeds

    def evaluate(self, expression):
        """Return the value of an expression of JavaScript."""
        answer = self.ask(
            "Runtime.evaluate",
            expression=expression,
            awaitPromise=True,
            returnByValue=True,
        )
        if "exceptionDetails" in answer:
            raise AssertionError(answer["exceptionDetails"])
        return answer["result"].get("value")

    def ask(self, method, **parameters):
        """Give an order and return its answer; notes what happens."""
        self._number += 1
        order = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            order["sessionId"] = self._session
        _write_all(self._out, json.dumps(order).encode() + b"\0")
        deadline = time.monotonic() + _PATIENCE
        while True:
            message = self._hear(deadline - time.monotonic())
            if message.get("id") == self._number:
                if "error" in message:
                    raise AssertionError(f"{method}: {message['error']}")
                return message["result"]
            self._note(message)

    def _note(self, message):
        parameters = message.get("params", {})
        match message.get("method"):
            case "Runtime.consoleAPICalled":
                texts = [
                    str(argument.get("value"))
                    for argument in parameters["args"]
                ]
                self.scripts.append(" ".join(texts))
            case "Runtime.exceptionThrown":
                self.errors.append(parameters["exceptionDetails"])
            case "Page.javascriptDialogOpening":
                self.scripts.append(parameters["message"])
                self._number += 1
                order = {
                    "id": self._number,
                    "method": "Page.handleJavaScriptDialog",
                    "params": {"accept": True},
                    "sessionId": self._session,
                }
                _write_all(self._out, json.dumps(order).encode() + b"\0")
            case "Network.requestWillBeSent":
                self._pending[parameters["requestId"]] = parameters["request"][
                    "url"
                ]
            case "Network.loadingFailed" if parameters.get("blockedReason"):
                # The policy of the page kept it from being sent.
                self._pending.pop(parameters["requestId"], None)

    def _hear(self, seconds):
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._in], [], [], max(seconds, 0))
            chunk = os.read(self._in, 1 << 16) if ready else b""
            if not chunk:
                raise AssertionError("Chromium gives no answer")
            self._buffer += chunk
        line, _, self._buffer = self._buffer.partition(b"\0")
        return json.loads(line)

    def _end(self):
        self._process.terminate()
        try:
            self._process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def _pipe(stack):
    """Return both ends of a pipe, with numbers that a shell keeps free."""
    ends = []
    for end in os.pipe():
        high = fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10)
        os.close(end)
        stack.callback(os.close, high)
        ends.append(high)
    return ends


def _write_all(descriptor, content):
    while content:
        content = content[os.write(descriptor, content) :]
