# SPDX-License-Identifier: Apache-2.0
"""Nothing of what a hostile guest said runs in a browser."""

import base64
import contextlib
import logging
import pathlib
import tempfile
import unittest

import ddt

from rally_vmperf import sanitize
from tests.browser import chromium
from tests.browser import reports
from tests.unit.hostile import attacks
from tests.unit.hostile import contexts

#: Words that run, or fetch something, in a page that does not escape them.
DANGEROUS = (
    "script",
    "script_ended",
    "script_ended_oddly",
    "comment_ended",
    "textarea_ended",
    "image",
    "image_fetched",
    "stylesheet",
    "style",
    "frame",
    "svg",
    "svg_animation",
    "svg_text_ended",
    "cdata",
)

#: The selector of drawings; a drawing of several metrics counts once.
DRAWINGS = "figure > div"

#: The contrast of two colours with red, green and blue from 0 to 255.
CONTRAST = """
const contrast = (...colours) => {
  const light = colour => {
    const [r, g, b] = colour.map(part => {
      const share = part / 255;
      return share <= 0.03928
        ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const pair = colours.map(light);
  return (Math.max(...pair) + 0.05) / (Math.min(...pair) + 0.05);
};
const parse = colour => colour.match(/[0-9.]+/g).map(Number);
"""

#: The smallest contrast of text and its background on the page.
_LEAST_CONTRAST = f"""
(() => {{
{CONTRAST}
  const back = element => {{
    const colour = getComputedStyle(element).backgroundColor;
    return colour !== "rgba(0, 0, 0, 0)"
      ? colour : back(element.parentElement);
  }};
  const texts = [...document.querySelectorAll("body *")].filter(
    element => !element.closest("svg") && element.checkVisibility()
      && [...element.childNodes].some(
        node => node.nodeType === 3 && node.textContent.trim()));
  return Math.min(...texts.map(element => contrast(
    ...[getComputedStyle(element).color, back(element)].map(
      colour => parse(colour).slice(0, 3)))));
}})()
"""


class BrowserTestCase(unittest.TestCase):
    """A browser for all tests of a class."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.browser = cls.enterClassContext(chromium.Browser())
        cls.folder = pathlib.Path(
            cls.enterClassContext(tempfile.TemporaryDirectory())
        )

    def write(self, content):
        """Return a file with the content."""
        path = self.folder / f"{self.id()}.html"
        path.write_text(content, encoding="utf-8", errors="replace")
        return path

    def set_width(self, width):
        """Show the page in a window of a width in pixels."""
        self.browser.ask(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=1200,
            deviceScaleFactor=1,
            mobile=False,
        )

    def open_in_schemes(self, page):
        """Open a page in each colour scheme; yield the name of the scheme."""
        for scheme in ("light", "dark"):
            self.browser.prefer(scheme)
            self.browser.open(page)
            yield scheme
        self.browser.prefer("")


@ddt.ddt
class CanaryTestCase(BrowserTestCase):
    """The detector detects: these pages escape nothing."""

    @ddt.data(*DANGEROUS)
    def test_plain_page(self, name):
        """Text that is not escaped runs, and is noticed."""
        text = attacks.WORDS[name]
        self.browser.open(self.write(f"<!DOCTYPE html><p>{text}</p>"))
        self.assertNotEqual([], self.browser.misdeeds())

    def test_rallys_page(self):
        """An error that is not sanitised ends Rally's script."""
        source = reports.rallys(sanitise=contextlib.nullcontext)
        self.browser.open(self.write(source))
        self.assertIn("PWNED", self.browser.scripts)

    def test_rallys_page_of_a_failed_context(self):
        """An error of a context ends it, too."""
        error = ValueError(attacks.WORDS["script_ended"])
        self.browser.open(self.write(reports.rallys_failed([error])))
        self.assertIn("PWNED", self.browser.scripts)

    def test_template_of_rallys_page(self):
        """Angular evaluates what stands in the page itself."""
        source = reports.rallys().replace("Input file", "{{1337*1337}}")
        self.browser.open(self.write(source), "#/source")
        self.assertEqual([chromium.EVALUATED], self.browser.misdeeds())


class ReportsTestCase(BrowserTestCase):
    """The output of guests is shown as text, and does nothing."""

    def check_shown(self, text, *names):
        """Fail when a word is not to be read as it was said."""
        for name in names:
            self.assertIn(attacks.WORDS[name], text)

    def check_widths(self, *widths):
        """Fail when a page of a width has to be scrolled sideways."""
        for width in widths:
            self.set_width(width)
            wide = "document.documentElement.scrollWidth"
            self.assertLessEqual(self.browser.evaluate(wide), width)
        self.browser.ask("Emulation.clearDeviceMetricsOverride")

    def test_our_page(self):
        """No script, no request, and the words are there."""
        self.browser.open(self.write(reports.ours()))
        self.assertEqual([], self.browser.misdeeds())
        text = self.browser.text()
        self.check_shown(
            text, "script_ended", "image", "angular", "mathtext", "proto"
        )
        title = self.browser.evaluate("document.title")
        self.assertEqual("Overhead of guests over bare metal", title)
        drawn = f"document.querySelectorAll('{DRAWINGS}').length"
        # Overheads, samples, a distribution and a line over time.
        self.assertEqual(4, self.browser.evaluate(drawn))

    def test_our_page_on_any_screen(self):
        """Light and dark have contrast, and rows become cards."""
        page = self.write(reports.ours())
        for _ in self.open_in_schemes(page):
            self.assertEqual([], self.browser.misdeeds())
            self.assertGreaterEqual(
                self.browser.evaluate(_LEAST_CONTRAST), 4.5
            )
            self.check_widths(1300, 400)
        row = "getComputedStyle(document.querySelector('tbody tr')).display"
        for width, display in ((1300, "table-row"), (400, "block")):
            self.set_width(width)
            self.assertEqual(display, self.browser.evaluate(row))
        self.browser.ask("Emulation.clearDeviceMetricsOverride")

    def test_headline(self):
        """It has two lines at most."""
        self.set_width(1300)
        self.browser.open(self.write(reports.ours()))
        lines = (
            "(element => element.offsetHeight /"
            " parseFloat(getComputedStyle(element).lineHeight))"
            "(document.querySelector('.word'))"
        )
        self.assertLess(self.browser.evaluate(lines), 2.5)
        self.browser.ask("Emulation.clearDeviceMetricsOverride")

    def test_paper(self):
        """It is printed on A4, and no row is cut."""
        self.browser.open(self.write(reports.ours()))
        printed = self.browser.ask("Page.printToPDF", preferCSSPageSize=True)
        document = base64.b64decode(printed["data"])
        self.assertTrue(document.startswith(b"%PDF"))
        self.assertRegex(document, rb"MediaBox \[0 0 59[45][.0-9]* 84[12]")
        self.browser.ask("Emulation.setEmulatedMedia", media="print")
        rows = (
            "[...document.querySelectorAll('tr')].every("
            "row => getComputedStyle(row).breakInside === 'avoid')"
        )
        self.assertTrue(self.browser.evaluate(rows))
        self.browser.ask("Emulation.setEmulatedMedia", media="")

    def test_our_page_of_curves(self):
        """The same of a density run; its drawings fit, however narrow."""
        self.browser.open(self.write(reports.our_curves()))
        self.assertEqual([], self.browser.misdeeds())
        self.check_shown(
            self.browser.text(), "script_ended", "image", "angular", "proto"
        )
        # Two runs, each with a chart of all metrics, one of each of seven
        # metrics, a distribution and a line over time.
        drawn = f"document.querySelectorAll('{DRAWINGS}').length"
        self.assertEqual(20, self.browser.evaluate(drawn))
        self.check_widths(1000, 420)

    def test_labels_of_cards(self):
        """A label of two lines does not cover the next one."""
        self.browser.open(self.write(reports.our_curves()))
        self.set_width(400)
        heights = """
        [...document.querySelectorAll("td[data-label]")].filter(cell =>
          cell.checkVisibility()
          && parseFloat(getComputedStyle(cell, "::before").height)
             > cell.getBoundingClientRect().height + 1).length
        """
        self.assertEqual(0, self.browser.evaluate(heights))
        self.browser.ask("Emulation.clearDeviceMetricsOverride")

    def test_our_comparison(self):
        """The same of compared runs, light and dark, however narrow."""
        page = self.write(reports.our_comparison())
        colours = set()
        for _ in self.open_in_schemes(page):
            self.assertEqual([], self.browser.misdeeds())
            self.check_shown(
                self.browser.text(), "script_ended", "image", "angular"
            )
            drawn = f"document.querySelectorAll('{DRAWINGS}').length"
            self.assertEqual(1, self.browser.evaluate(drawn))
            colours.add(
                self.browser.evaluate(
                    "getComputedStyle(document.body).backgroundColor"
                )
            )
            self.check_widths(1000, 400)
        self.assertEqual(2, len(colours))

    def test_our_frame_of_curves_in_rallys_page(self):
        """It is whole, and has the room it needs."""
        self.browser.open(self.write(reports.rallys()))
        self.browser.go("#/VMPerf.density/output/additive")
        self.check_shown(self.browser.text(), "script_ended", "angular")
        frame = "document.querySelector('iframe')"
        inside = f"{frame}.contentDocument"
        short = f"{inside}.body.offsetHeight - {frame}.clientHeight"
        self.assertLess(self.browser.evaluate(short), 50)
        drawn = f"{inside}.querySelectorAll('{DRAWINGS}').length"
        self.assertEqual(10, self.browser.evaluate(drawn))
        self.browser.go("#/VMPerf.density/output/complete")
        self.assertIn("guests at once", self.browser.text())
        self.assertEqual([], self.browser.misdeeds())

    def test_rallys_page(self):
        """Not in any of its places; our frame is whole, and has its room."""
        self.browser.open(self.write(reports.rallys()))
        for place, text in chromium.RALLYS_PLACES.items():
            with self.subTest(place):
                self.browser.go(place)
                self.assertIn(text, self.browser.text())
                self.assertEqual([], self.browser.misdeeds())
        title = self.browser.evaluate("document.title")
        self.assertEqual("Rally | Rally Task Report", title)

    def test_our_frame_in_rallys_page(self):
        """It is complete, has the height it needs, and one script."""
        self.browser.open(self.write(reports.rallys()))
        self.browser.go("#/VMPerf.overhead/output/additive")
        self.check_shown(self.browser.text(), "script_ended", "angular")
        frame = "document.querySelector('iframe')"
        inside = f"{frame}.contentDocument"
        scripts = f"{inside}.querySelectorAll('script').length"
        self.assertEqual(1, self.browser.evaluate(scripts))
        short = f"{inside}.body.offsetHeight - {frame}.clientHeight"
        self.assertLess(self.browser.evaluate(short), 50)
        drawn = f"{inside}.querySelectorAll('{DRAWINGS}').length"
        self.assertEqual(4, self.browser.evaluate(drawn))
        self.assertEqual([], self.browser.misdeeds())

    def test_the_policy_of_our_frame(self):
        """Were something not escaped, it would not run all the same."""
        source = reports.rallys()
        hole = "<h3>Missing results"
        self.assertEqual(2, source.count(hole))
        for name in ("image", "image_fetched", "svg"):
            self.browser.open(
                self.write(source.replace(hole, f"<h3>{attacks.WORDS[name]}"))
            )
            self.browser.go("#/VMPerf.overhead/output/additive")
            self.assertEqual([], self.browser.misdeeds())
            script = "document.querySelector('iframe').contentDocument"
            script += ".querySelector('h3 > img, h3 > svg') !== null"
            self.assertTrue(self.browser.evaluate(script))

    def test_every_failure_can_be_unfolded(self):
        """Rally shows each error with its trace."""
        self.browser.open(self.write(reports.rallys()))
        self.browser.go("#/VMPerf.overhead/failures")
        self.browser.evaluate(
            "document.querySelectorAll('tr.expandable')"
            ".forEach(one => one.click())"
        )
        self.browser.rest()
        text = self.browser.text()
        self.assertIn("Defect", text)
        # As Rally's page has them unescaped, errors hold look-alikes.
        for name in ("angular", "csv"):
            self.assertIn(sanitize.text(attacks.WORDS[name]), text)
        self.assertEqual([], self.browser.misdeeds())

    def test_contexts_failed(self):
        """Rally shows each error in a sentence of its own."""
        logging.disable()
        self.addCleanup(logging.disable, logging.NOTSET)
        errors = contexts.failed()
        source = reports.rallys_failed(errors.values())
        self.browser.open(self.write(source), "#/VMPerf.overhead/overview")
        text = self.browser.text()
        self.assertEqual(len(errors), text.count("Unexpected error: "))
        for name, error in errors.items():
            self.assertIn("PWNED", str(error), name)
            self.assertIn(" ".join(str(error).split())[:300], text, name)
        self.assertEqual([], self.browser.misdeeds())
