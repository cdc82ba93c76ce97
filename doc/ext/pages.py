# SPDX-License-Identifier: Apache-2.0
"""The generated pages and pictures that are committed for readers."""

import pathlib

from doc.ext import findings_page
from doc.ext import pictures
from doc.ext import tasks_page

SOURCE = pathlib.Path(__file__).parents[1] / "source"
#: The function that returns a page, by its path.
PAGES = {
    SOURCE / "findings.rst": findings_page.create_page,
    SOURCE / "images" / "pipeline.svg": pictures.draw_pipeline,
    SOURCE / "images" / "verdict.svg": pictures.draw_verdict,
    SOURCE / "tasks.rst": tasks_page.create_page,
}


def write() -> None:
    """Write all pages and pictures."""
    for path, create_page in PAGES.items():
        path.write_text(create_page())
