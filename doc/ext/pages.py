"""The generated pages that are committed, for readers of the repository."""

import pathlib

from doc.ext import findings_page
from doc.ext import tasks_page

SOURCE = pathlib.Path(__file__).parents[1] / "source"
#: The function that returns a page, by its path.
PAGES = {
    SOURCE / "findings.rst": findings_page.create_page,
    SOURCE / "tasks.rst": tasks_page.create_page,
}


def write() -> None:
    """Write all pages."""
    for path, create_page in PAGES.items():
        path.write_text(create_page())
