# SPDX-License-Identifier: Apache-2.0
"""Formats of documents: dataclasses with a version, and types of their fields.

pydantic reads the rules when it builds the reader of a format; only then is it
imported. Commands that read no record do not wait for it.
"""

import collections.abc
import contextlib
import dataclasses
import functools
import json
import re
import reprlib
import typing as t

import annotated_types

from rally_vmperf import declaration
from rally_vmperf import documents
from rally_vmperf import errors

if t.TYPE_CHECKING:
    import pydantic

T = t.TypeVar("T")
#: The metadata of a field that the reader derives from other fields.
DERIVED = {"derived": True}
#: The mark of a dataclass whose fields become those of the whole document.
INLINE = "inline"
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


@dataclasses.dataclass(frozen=True)
class Schema:
    """The schema of a type for pydantic.

    :param build: A function that returns it. Its arguments are the module
        ``core_schema`` of pydantic, the type, and pydantic's handler, which
        returns the schemas of other types.
    """

    build: collections.abc.Callable[[t.Any, t.Any, t.Any], t.Any]

    def __get_pydantic_core_schema__(
        self, content: t.Any, handler: t.Any
    ) -> t.Any:
        from pydantic_core import core_schema

        return self.build(core_schema, content, handler)


def form(
    content: t.Any,
    decode: collections.abc.Callable[[t.Any, t.Any], t.Any],
    encode: collections.abc.Callable[[t.Any], t.Any],
) -> Schema:
    """Return the schema of a type that has another form in documents.

    :param content: The type of the form.
    :param decode: A function that returns the value in a form. Its arguments
        are the form and the metrics by name. It raises ValueError.
    :param encode: A function that returns the form of a value.
    """
    return Schema(
        lambda core, _, handler: core.with_info_after_validator_function(
            lambda value, info: decode(value, info.context),
            handler.generate_schema(content),
            serialization=core.plain_serializer_function_ser_schema(encode),
        )
    )


def rule(
    is_valid: collections.abc.Callable[[t.Any], t.Any], text: str
) -> Schema:
    """Return the schema of a type with a rule.

    :param is_valid: A function; its result is true for a valid value.
    :param text: The rule, for messages.
    """

    def check(value: t.Any) -> t.Any:
        """Return a value; reject one that is not valid."""
        if not is_valid(value):
            raise ValueError(f"{value!r:.80}: {text}")
        return value

    return Schema(
        lambda core, content, handler: core.no_info_after_validator_function(
            check, handler(content)
        )
    )


def choice(
    types: collections.abc.Iterable[t.Any],
    text: str,
    encode: collections.abc.Callable[[t.Any], t.Any] = lambda value: value,
) -> Schema:
    """Return the schema of a value of one of several types.

    :param types: The types.
    :param text: The rule, for messages.
    :param encode: A function that returns the form of a value.
    """
    return Schema(
        lambda core, _, handler: core.union_schema(
            [*map(handler.generate_schema, types)],
            # The path of an error would have the name of a type.
            custom_error_type="choice",
            custom_error_message=text,
            serialization=core.plain_serializer_function_ser_schema(encode),
        )
    )


def known_keys(
    types: collections.abc.Mapping[str, t.Any], is_open: bool = False
) -> Schema:
    """Return the schema of a JSON object with known keys.

    :param types: The type of each key.
    :param is_open: Whether it may lack these keys, and have others.
    """
    return Schema(
        lambda core, _, handler: _build_object(
            core,
            {
                key: core.typed_dict_field(
                    handler.generate_schema(kind), required=not is_open
                )
                for key, kind in types.items()
            },
            "allow" if is_open else "forbid",
        )
    )


def round_number(value: float, digits: int) -> float:
    """Return a value with few digits, as an integer if possible.

    :param digits: The number of significant digits.
    """
    short = float(f"{value:.{digits}g}")
    return int(short) if short.is_integer() else short


def number(text: str, *rules: t.Any, digits: int = 0) -> Schema:
    """Return the schema of a number with rules; an integer stays one.

    :param text: The rules, for messages.
    :param rules: At least one rule of ``annotated_types``.
    :param digits: The significant digits that are written, because a document
        has many such numbers; 0 for all.
    """
    encode = functools.partial(round_number, digits=digits)
    return choice(
        [t.Annotated[(kind, *rules)] for kind in (int, float)],
        f"must be a number {text}",
        *([encode] if digits else []),
    )


def one_of(*texts: str) -> Schema:
    """Return the schema of a text that is one of several."""
    return choice(
        [t.Literal[texts]], f"must be one of: {', '.join(map(repr, texts))}"
    )


Count = t.Annotated[int, annotated_types.Ge(0)]
Positive = t.Annotated[int, annotated_types.Ge(1)]
Number = t.Annotated[float, choice((int, float), "must be a number")]
#: A number of which few digits are written, because a document has many.
Amount = t.Annotated[float, number(">= 0", annotated_types.Ge(0), digits=5)]
Share = t.Annotated[
    float,
    number("from 0 to 1", annotated_types.Ge(0), annotated_types.Le(1)),
]
#: The identifier of a task or of a run.
Identifier = t.Annotated[str, annotated_types.MaxLen(64)]
#: A time with a zone, ISO 8601.
Time = t.Annotated[
    str,
    rule(
        documents.is_time,
        "must be a time with a zone, such as 2026-01-31T12:00:00+00:00",
    ),
]


def text_like(pattern: str) -> Schema:
    """Return the schema of a text that matches a pattern as a whole."""
    return rule(re.compile(pattern).fullmatch, f"must match {pattern}")


#: The name of a baseline or of a class of machines.
Name = t.Annotated[str, text_like(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")]


class Stored:
    """A dataclass whose document does not have a key for each of its fields.

    It lacks fields that are derived, and has the fields of inline dataclasses.
    """

    @classmethod
    def __get_pydantic_core_schema__(cls, _: t.Any, handler: t.Any) -> t.Any:
        from pydantic_core import core_schema

        content = cls.build_object(core_schema, handler)
        return core_schema.no_info_after_validator_function(
            functools.partial(_create, cls),
            content,
            serialization=core_schema.plain_serializer_function_ser_schema(
                cls.list_values, return_schema=content
            ),
        )

    @classmethod
    def build_object(cls, core: t.Any, handler: t.Any) -> t.Any:
        """Return the schema of its document."""
        return build_object(cls, core, handler)

    def list_values(self) -> dict[str, t.Any]:
        """Return the values in its document, a dict by key."""
        return list_values(self)


def build_object(content: type, core: t.Any, handler: t.Any) -> t.Any:
    """Return the schema of the document of a dataclass."""
    keys: dict[str, t.Any] = {}
    for field in list_fields(content):
        if is_inline(field):
            inline = build_object(t.get_args(field.type)[0], core, handler)
            keys |= inline["fields"]
        else:
            keys[field.name] = core.typed_dict_field(
                handler.generate_schema(field.type),
                required=declaration.is_required(field),
            )
    return _build_object(core, keys, "forbid")


def _build_object(core: t.Any, keys: dict[str, t.Any], extra: str) -> t.Any:
    """Return the schema of an object, whose values are not converted."""
    return core.typed_dict_schema(
        keys,
        extra_behavior=extra,
        # The options of a format do not reach the values in an object.
        config=core.CoreConfig(strict=True, allow_inf_nan=False),
    )


def _create(content: type, values: dict[str, t.Any]) -> t.Any:
    """Return the instance of a dataclass with the values of a document."""
    arguments = {
        field.name: _create(t.get_args(field.type)[0], values)
        if is_inline(field)
        else values[field.name]
        for field in list_fields(content)
        if is_inline(field) or field.name in values
    }
    return content(**arguments)


def list_values(instance: t.Any) -> dict[str, t.Any]:
    """Return the values in the document of a dataclass, a dict by key.

    Values that are the default are omitted.
    """
    values: dict[str, t.Any] = {}
    content: t.Any = type(instance)
    for field in list_fields(content):
        value = getattr(instance, field.name)
        if is_inline(field):
            values |= list_values(value)
        elif value != declaration.get_default(field):
            values[field.name] = value
    return values


@functools.cache
def list_fields(content: type) -> "tuple[dataclasses.Field[t.Any], ...]":
    """Return the fields of a dataclass that its document has, as a tuple."""
    return tuple(
        field
        for field in dataclasses.fields(content)
        if "derived" not in field.metadata
    )


def is_inline(field: "dataclasses.Field[t.Any]") -> bool:
    """Return whether the fields of a field's dataclass replace the field."""
    return INLINE in getattr(field.type, "__metadata__", ())


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
    schema = Schema(lambda _core, _, handler: handler.generate_schema(content))
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
