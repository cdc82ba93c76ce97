"""The page that the README shows, made of the outputs of a study."""

import io
import pathlib
import re
import tempfile
from unittest import mock

from rally_vmperf.baseline import store
from rally_vmperf.cmd import rally_api
from rally_vmperf.cmd import report
from rally_vmperf.cmd.baselines import baseline_import
from tests.unit.doc import pages
from tests.unit.workloads import golden

PICTURE = pages.SOURCE / "images" / "report.png"
#: The key in the PNG file of what the picture shows.
KEY = "Description"

_STUDY = "r730xd-2019"
_LIMITS = "vmperf_overhead: {max_percent: {'*': 10}}\n"


def page():
    """Return the HTML page of the study's raw outputs."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        limits = folder / "limits.yaml"
        limits.write_text(_LIMITS)
        output = folder / "report.html"
        with mock.patch.object(
            rally_api,
            "open_baseline_store",
            autospec=True,
            return_value=store.Store(folder / "baselines"),
        ):
            _run(
                baseline_import.Import,
                *(_STUDY, "--machine", "Dell R730xd"),
                *("--unixbench", _output("unixbench", "baremetal")),
                *("--mbw", f"1.4={_output('mbw', 'baremetal')}"),
                *("--iperf", _output("iperf", "baremetal")),
            )
            _run(
                report.Report,
                *("--raw", "--baseline", _STUDY, "--limits", str(limits)),
                *("--unixbench", _output("unixbench", "guest")),
                *("--mbw", f"1.4={_output('mbw', 'guest')}"),
                *("--iperf", _output("iperf", "guest")),
                "--iperf",
                f"guest_to_guest={_output('iperf', 'guest-to-guest')}",
                *("--output", str(output)),
            )
        return output.read_text()


def shown(html):
    """Return what the picture of a page shows: its headline and figures."""
    headline = re.search(r'<p class="word">([^<]+)', html)[1]
    drawing = html.partition('<div class="dots"')[2].partition("</figure>")[0]
    words = re.findall(r"<(?:span|b)>([^<]+)</", drawing)
    return "\n".join([headline, *words])


def _run(kind, *arguments):
    command = kind(mock.Mock(stdout=io.StringIO()), None)
    command.run(command.get_parser("x").parse_args(arguments))


def _output(tool, where):
    return str(golden.DATA / f"{tool}-{_STUDY}-{where}.txt")
