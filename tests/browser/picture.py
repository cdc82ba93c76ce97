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

#: The width of the page in pixels, and pixels of the picture for each.
_WIDTH = 1000
_SCALE = 1.2
#: Colours of the picture, which has few.
_COLOURS = 128
_FOLD = """
document.querySelectorAll("details").forEach(one => { one.open = false; })
"""
#: The lower end of the drawing with its legend.
_END = """
document.querySelector("figure").getBoundingClientRect().bottom + scrollY
"""


def draw(browser: chromium.Browser, shown: picture.Picture) -> None:
    """Write the page's upper part, and what it shows, as a PNG file."""
    html = shown.create()
    with tempfile.TemporaryDirectory() as folder:
        page = pathlib.Path(folder, "page.html")
        page.write_text(html)
        browser.open(page)
        browser.evaluate(_FOLD)
        browser.ask(
            "Emulation.setDeviceMetricsOverride",
            width=_WIDTH,
            height=_WIDTH,
            deviceScaleFactor=_SCALE,
            mobile=True,  # without a scroll bar
        )
        answer = browser.ask(
            "Page.captureScreenshot",
            captureBeyondViewport=True,
            clip={
                "x": 0,
                "y": 0,
                "width": _WIDTH,
                "height": browser.evaluate(_END) + 10,
                "scale": 1,
            },
        )
    image = Image.open(io.BytesIO(base64.b64decode(answer["data"])))
    notes = PngImagePlugin.PngInfo()
    notes.add_text(picture.KEY, picture.shown(html))
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
