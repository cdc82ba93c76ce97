"""How a report shows the runs of a question."""

import collections.abc
import dataclasses
import typing as t

import jinja2

from rally_vmperf.report import run as runs
from rally_vmperf.report import setting

RunT = t.TypeVar("RunT", bound=runs.Run)
#: Gives the templates of those who have none of their own.
NO_TEMPLATES = jinja2.DictLoader({})


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class Section(t.Generic[RunT]):
    """The part of a page that is the question's own.

    :param title: of a page with runs of this question only
    :param subject: what is shown of guests, for the title of a mixed page
    :param make: makes a run of its fields
    :param compared: returns facts about what guests are compared with
    :param functions: for the templates, by their names there
    :param template: of one run, which extends ``section.html.j2``
    :param overview: template of several runs side by side, if there is one
    :param loader: of the templates that are not the report's own
    """

    title: str
    subject: str
    make: type[RunT]
    compared: t.Callable[[RunT], setting.Facts] = lambda run: []
    functions: collections.abc.Mapping[str, t.Any] = dataclasses.field(
        default_factory=dict
    )
    template: str = "section.html.j2"
    overview: str = ""
    loader: jinja2.BaseLoader = NO_TEMPLATES
