# SPDX-License-Identifier: Apache-2.0
"""The pages can be read by all, and used with the keyboard alone."""

import ddt

from tests.browser import reports
from tests.browser import test_reports

PAGES = ("ours", "our_curves", "our_variants", "our_comparison")

#: The contrast of text in a drawing with what is painted below it, and the
#: text, worst first.
_DRAWN_CONTRAST = (
    f"(() => {{ {test_reports.CONTRAST}"
    + """
  const numbers = colour => {
    const parts = parse(colour);
    return [...parts.slice(0, 3), parts[3] ?? 1];
  };
  const fill = (element, x, y) => {
    const style = getComputedStyle(element);
    if (!(element instanceof SVGElement)) {
      return numbers(style.backgroundColor);
    }
    if (!(element instanceof SVGGeometryElement)
        || !style.fill.startsWith("rgb")) {
      return [0, 0, 0, 0];
    }
    const point = new DOMPoint(x, y)
      .matrixTransform(element.getScreenCTM().inverse());
    const [r, g, b, alpha] = numbers(style.fill);
    const shown = alpha * style.fillOpacity * style.opacity;
    return [r, g, b, element.isPointInFill(point) ? shown : 0];
  };
  const below = (element, x, y) => {
    const all = document.elementsFromPoint(x, y);
    const layers = all.slice(all.indexOf(element) + 1);
    return layers.reverse().reduce((colour, layer) => {
      const [r, g, b, alpha] = fill(layer, x, y);
      return [r, g, b].map(
        (part, index) => part * alpha + colour[index] * (1 - alpha));
    }, [255, 255, 255]);
  };
  const texts = [...document.querySelectorAll("svg text")].filter(
    text => text.textContent.trim());
  return texts.map(text => {
    text.scrollIntoView({block: "center"});
    const box = text.getBoundingClientRect();
    const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
    const ink = numbers(getComputedStyle(text).fill).slice(0, 3);
    return [contrast(ink, below(text, x, y)), text.textContent.trim()];
  }).sort((one, other) => one[0] - other[0]);
})()
"""
)

#: What can be operated or scrolled, from the top of the page to its end.
_OPERABLE = """
[...document.querySelectorAll("*")].filter(element => {
  if (!element.checkVisibility()) return false;
  if (element.matches("a[href], summary, button, input, select, textarea"))
    return true;
  const overflow = getComputedStyle(element).overflowX;
  return element.hasAttribute("tabindex")
    || ((overflow === "auto" || overflow === "scroll")
        && element.scrollWidth > element.clientWidth);
})
"""

#: The element that has the focus, its place and its ring.
_FOCUSED = f"""
(() => {{
{test_reports.CONTRAST}
  const element = document.activeElement;
  const box = element.getBoundingClientRect();
  const style = getComputedStyle(element);
  return {{
    place: {_OPERABLE}.indexOf(element),
    top: box.top + scrollY, left: box.left,
    seen: box.bottom > 0 && box.top < innerHeight,
    ring: style.outlineStyle, width: parseFloat(style.outlineWidth),
    contrast: contrast(...[
      style.outlineColor, getComputedStyle(document.body).backgroundColor,
    ].map(colour => parse(colour).slice(0, 3))),
  }};
}})()
"""

#: Charts without a role and a name, and regions without one.
_NAMELESS = """
[...document.querySelectorAll("svg, [tabindex]")].filter(element => {
  const named = element.closest("[role=img][aria-label], [role=group]");
  return !named?.getAttribute("aria-label")?.trim();
}).map(element => element.outerHTML.slice(0, 200))
"""


@ddt.ddt
class AccessibilityTestCase(test_reports.BrowserTestCase):
    """Contrast, names and focus."""

    def press(self, key, **parameters):
        """Press a key and release it."""
        for kind in ("keyDown", "keyUp"):
            self.browser.ask(
                "Input.dispatchKeyEvent",
                type=kind,
                key=key,
                code=key,
                **parameters,
            )

    def walk(self):
        """Return what has the focus after each Tab, to the end."""
        count = self.browser.evaluate(f"{_OPERABLE}.length")
        stops = []
        for _ in range(count):
            self.press("Tab", windowsVirtualKeyCode=9)
            stops.append(self.browser.evaluate(_FOCUSED))
        return stops

    @ddt.data(*PAGES)
    def test_text_in_drawings(self, name):
        """It has the contrast of WCAG 2 AA, whatever is painted below."""
        path = self.write(getattr(reports, name)())
        for scheme in self.open_in_schemes(path):
            texts = self.browser.evaluate(_DRAWN_CONTRAST)
            self.assertTrue(texts)
            worst, text = texts[0]
            self.assertGreaterEqual(worst, 4.5, f"{scheme}: {text}")

    @ddt.data(*PAGES)
    def test_focus(self, name):
        """Tab reaches all in the order of reading, with a ring."""
        path = self.write(getattr(reports, name)())
        for _ in self.open_in_schemes(path):
            stops = self.walk()
            self.assertTrue(stops)
            places = [stop["place"] for stop in stops]
            self.assertEqual([*range(len(stops))], places)
            tops = [(stop["top"], stop["left"]) for stop in stops]
            self.assertEqual(sorted(tops), tops)
            for stop in stops:
                self.assertTrue(stop["seen"], stop)
                self.assertEqual("solid", stop["ring"], stop)
                self.assertGreaterEqual(stop["width"], 2, stop)
                self.assertGreaterEqual(stop["contrast"], 3, stop)

    @ddt.data(*PAGES)
    def test_names(self, name):
        """Each chart and each region that scrolls has one, at any width."""
        self.browser.open(self.write(getattr(reports, name)()))
        self.assertEqual([], self.browser.evaluate(_NAMELESS))
        for width in (1300, 1000, 700, 400):
            self.set_width(width)
            without = f"{_OPERABLE}.filter(one => one.tabIndex < 0).length"
            self.assertEqual(0, self.browser.evaluate(without))
        self.browser.ask("Emulation.clearDeviceMetricsOverride")

    def test_keys(self):
        """Sections fold and unfold with them, and links lead on."""
        self.browser.open(self.write(reports.ours()))
        is_open = "document.querySelector('details').open"
        self.browser.evaluate("document.querySelector('summary').focus()")
        for expected in (False, True):
            self.press("Enter", text="\r", windowsVirtualKeyCode=13)
            self.assertIs(expected, self.browser.evaluate(is_open))
        link = "document.querySelector('a[href$=\"-findings\"]')"
        self.browser.evaluate(f"{link}.focus()")
        self.press("Enter", text="\r", windowsVirtualKeyCode=13)
        self.browser.rest()
        target = "document.querySelector(':target')"
        self.assertIn("Findings", self.browser.evaluate(f"{target}.innerText"))
