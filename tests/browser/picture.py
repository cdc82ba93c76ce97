# SPDX-License-Identifier: Apache-2.0
"""Draw the pictures of pages: python -m tests.browser.picture."""

import base64
import io
import json
import pathlib
import tempfile

from PIL import Image
from PIL import PngImagePlugin

from tests.browser import chromium
from tests.unit.doc import picture

#: Pixels of the picture for each pixel of the page.
_SCALE = 1.2
#: Colours of the picture, which has few.
_COLOURS = 128
_FOLD = """
document.querySelectorAll("details").forEach(one => { one.open = false; })
"""
#: The vertical position of an edge of an element.
_EDGE = """
document.querySelector("{}").getBoundingClientRect().{} + scrollY
"""
#: The pixels above and below a part of a page.
_MARGIN = 10


def draw(browser: chromium.Browser, shown: picture.Picture) -> None:
    """Write a part of the page, and its content as text, as a PNG file."""
    html = shown.create()
    with tempfile.TemporaryDirectory() as folder:
        page = pathlib.Path(folder, "page.html")
        page.write_text(html)
        browser.prefer(shown.scheme)
        browser.open(page)
        browser.evaluate(_FOLD)
        browser.ask(
            "Emulation.setDeviceMetricsOverride",
            width=shown.width,
            height=shown.width,
            deviceScaleFactor=_SCALE,
            mobile=True,  # without a scroll bar
        )
        top = 0
        if shown.start:
            edge = _EDGE.format(shown.start, "top")
            top = browser.evaluate(edge) - _MARGIN
        bottom = browser.evaluate(_EDGE.format(shown.end, "bottom")) + _MARGIN
        answer = browser.ask(
            "Page.captureScreenshot",
            captureBeyondViewport=True,
            clip={
                "x": 0,
                "y": top,
                "width": shown.width,
                "height": bottom - top,
                "scale": 1,
            },
        )
    image = Image.open(io.BytesIO(base64.b64decode(answer["data"])))
    notes = PngImagePlugin.PngInfo()
    notes.add_text(picture.KEY, shown.show(html))
    few = image.convert("RGB").quantize(
        _COLOURS,
        method=Image.Quantize.MAXCOVERAGE,
        dither=Image.Dither.NONE,
    )
    few.save(shown.path, optimize=True, pnginfo=notes)
    print(json.dumps([str(shown.path), *few.size]))


def main() -> None:
    """Draw each picture."""
    with chromium.Browser() as browser:
        for shown in picture.PICTURES:
            draw(browser, shown)


if __name__ == "__main__":
    main()
