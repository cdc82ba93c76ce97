# SPDX-License-Identifier: Apache-2.0
"""Formats of documents: dataclasses with a version, checked by pydantic."""

import collections.abc
import contextlib
import dataclasses
import functools
import json
import re
import reprlib
import typing as t

from rally_vmperf import documents
from rally_vmperf import errors
from rally_vmperf import fields

if t.TYPE_CHECKING:
    import pydantic

T = t.TypeVar("T")

#: The maximum number of errors in a document of which the first is described.
_MAX_ERRORS = 10_000
#: The errors of values that contradict each other.
_INVALID = (
    ArithmeticError,
    AttributeError,
    LookupError,
    TypeError,
    ValueError,
)


class FormatError(errors.VMPerfError):
    """A document is not valid; with the position of the error."""


class VersionError(FormatError):
    """A document has the format of another version; one line."""


@dataclasses.dataclass(frozen=True)
class Format(t.Generic[T]):
    """The format of the documents of a dataclass.

    :param name: The noun for a document.
    :param version: The version; documents of others are rejected.
    :param remedy: The way to replace a document of an earlier version.
    """

    content: type[T]
    name: str
    version: int
    remedy: str

    @functools.cached_property
    def adapter(self) -> "pydantic.TypeAdapter[T]":
        """The reader and writer of documents, without their version."""
        return create_adapter(self.content)

    def encode(self, instance: T) -> dict[str, t.Any]:
        """Return an instance as a document, with numbers of few digits."""
        # A value of another type is written as it is: a record that cannot be
        # read says where, and one that is not written is lost.
        document = self.adapter.dump_python(
            instance, mode="json", exclude_defaults=True, warnings="none"
        )
        return {"version": self.version, **document}

    def decode(self, document: t.Any) -> T:
        """Return the instance in a document; reject an invalid document.

        :raises VersionError: If it has the format of another version.
        :raises FormatError: If it is not valid; with position and reason.
        """
        self.check_version(document)
        if not isinstance(document, dict):
            raise FormatError(f"not a {self.name}: $: must be an object")
        content = {**document}
        version = content.pop("version", None)
        if type(version) is not int or version != self.version:
            raise FormatError(
                f"not a {self.name}: $.version: must be {self.version}"
            )
        try:
            with describe_errors():
                # Only the reader of JSON accepts an array for a tuple.
                text = json.dumps(content)
                return self.adapter.validate_json(text, context={})
        except FormatError as error:
            raise FormatError(f"not a {self.name}: {error}") from error

    def check_version(self, document: t.Any) -> None:
        """Reject a document of another version.

        :raises VersionError: If it is one; with the solution, in one line.
        """
        is_mapping = isinstance(document, dict)
        version = document.get("version") if is_mapping else None
        if type(version) is not int or version == self.version:
            return
        if 0 < version < self.version:
            raise VersionError(
                f"a {self.name} has version {version}, which this release "
                f"does not read; {self.remedy}"
            )
        if version > self.version:
            raise VersionError(
                f"a {self.name} has version {version}, of a later release of "
                "rally_vmperf; use that release"
            )


def create_adapter(content: t.Any) -> "pydantic.TypeAdapter[t.Any]":
    """Return the reader and writer of a type.

    It accepts neither unknown keys nor values of other types.
    """
    import pydantic

    # pydantic does not accept options for a dataclass itself.
    schema = fields.Schema(
        lambda _core, _, handler: handler.generate_schema(content)
    )
    return pydantic.TypeAdapter(
        t.Annotated[t.Any, schema],
        config=pydantic.ConfigDict(
            extra="forbid", strict=True, allow_inf_nan=False
        ),
    )


@contextlib.contextmanager
def describe_errors() -> collections.abc.Iterator[None]:
    """Describe the first error of a document in one line.

    :raises FormatError: If it is not valid; with position and reason.
    """
    import pydantic

    try:
        yield
    except pydantic.ValidationError as error:
        raise FormatError(_describe(error)) from None
    except (RecursionError, *_INVALID) as error:
        raise FormatError(f"$: {error!s:.200}") from error


def _describe(error: "pydantic.ValidationError") -> str:
    """Return the position and the reason of the first error as text."""
    if error.error_count() > _MAX_ERRORS:
        return f"$: {error.error_count()} values are not valid"
    first, *_ = error.errors(include_url=False)
    keys = [key for key in first["loc"] if key != "[key]"]
    return f"{documents.format_path(keys)}: {_format_reason(first)}"


def _format_reason(line: t.Any) -> str:
    """Return the reason of an error of pydantic as text."""
    if line["type"] == "missing":
        return "is required"
    if line["type"] in ("extra_forbidden", "unexpected_keyword_argument"):
        return "is not a known key"
    if line["type"] == "value_error":
        return f"{line['ctx']['error']!s:.200}"
    value = reprlib.repr(line["input"])
    reason = re.sub(r"^\w+ should", "must", line["msg"])
    return f"{value:.80}: {reason:.200}"
