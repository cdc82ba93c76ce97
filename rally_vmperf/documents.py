# SPDX-License-Identifier: Apache-2.0
"""Parsers for JSON and YAML documents that may be damaged or hostile.

An error is one line that names the document, the position and the reason.
"""

import collections
import collections.abc
import datetime
import errno
import functools
import json
import math
import os
import pathlib
import re
import stat
import sys
import typing as t

import yaml

from rally_vmperf import errors
from rally_vmperf import sanitize

if t.TYPE_CHECKING:
    import jsonschema

Json = collections.abc.Mapping[str, t.Any]
#: The arguments of a task, a workload or a criterion, or options by name.
Arguments = collections.abc.Mapping[str, t.Any]
#: The facts that a machine or a cloud reports, by name.
Facts = collections.abc.Mapping[str, t.Any]
#: A JSON Schema.
Schema = dict[str, t.Any]

#: The default maximum size of a document in bytes.
LARGEST = 64 << 20
#: The default maximum number of values in a JSON document. Rally's results of
#: a hundred runs have some millions.
_MOST_VALUES = 50_000_000
#: The maximum size of a YAML document in bytes; YAML is slow to parse.
_LARGEST_YAML = 4 << 20
#: The maximum number of nested levels; a record has ten.
_DEEPEST = 64
#: The maximum number of values in a YAML document, aliases included.
_MOST_YAML_VALUES = 100_000
_LARGEST_NUMBER = sys.float_info.max
#: A string of JSON; one without an end contains the rest of the text.
_STRING = re.compile(r'"(?:[^"\\]++|\\.)*+"?', re.S)
#: Half of a character, which cannot be encoded.
_SURROGATE = re.compile("[\ud800-\udfff]")


class DocumentError(errors.VMPerfError):
    """A document that cannot be read; the message is one line."""


class NoDocumentError(DocumentError):
    """A document that does not exist."""


def read_json(path: pathlib.Path, largest: int = LARGEST) -> t.Any:
    """Return the value in a JSON file; reject an invalid file.

    :param path: The path of the file.
    :param largest: The maximum size of the file in bytes.
    :raises NoDocumentError: If the file does not exist.
    :raises DocumentError: If the file cannot be read.
    """
    return parse_json(_read_content(path, largest), str(path))


def read_yaml(path: pathlib.Path) -> t.Any:
    """Return the value in a YAML file; errors are those of read_json."""
    return parse_yaml(_read_content(path, _LARGEST_YAML), str(path))


def read_text(path: pathlib.Path) -> str:
    """Return the text in a UTF-8 file; errors are those of read_json."""
    try:
        return _read_content(path, _LARGEST_YAML).decode()
    except UnicodeDecodeError as error:
        raise DocumentError(f"{path}: {_format_reason(error)}") from None


def parse_json(
    content: bytes | str, origin: str, most_values: int = _MOST_VALUES
) -> t.Any:
    """Return the value of a JSON text; reject an invalid text.

    :param content: The JSON text.
    :param origin: The name of the document in errors.
    :param most_values: The maximum number of values.
    :raises DocumentError: If the text is not valid; the message contains the
        position and the reason.
    """
    try:
        text = content if isinstance(content, str) else content.decode()
        if may_exceed(text, most_values):
            raise ValueError(f"more than {most_values} values")
        document = json.loads(text, object_pairs_hook=build_mapping)
    except json.JSONDecodeError as error:
        position = f"line {error.lineno} column {error.colno}"
        raise DocumentError(
            f"{origin} is damaged: {position}: {error.msg}"
        ) from None
    except (ValueError, RecursionError) as error:
        raise DocumentError(
            f"{origin} is damaged: {_format_reason(error)}"
        ) from None
    return _check_limits(document, origin, math.inf)


def parse_yaml(content: bytes | str, origin: str) -> t.Any:
    """Return the value of a YAML text; errors are those of parse_json."""
    try:
        text = content if isinstance(content, str) else content.decode()
        if len(text) > _LARGEST_YAML:
            raise ValueError(f"more than {_LARGEST_YAML} characters")
        # The loader is a subclass of SafeLoader.
        document = yaml.load(text, Loader=_Loader)  # noqa: S506
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        position = (
            f"line {mark.line + 1} column {mark.column + 1}" if mark else ""
        )
        raise DocumentError(
            f"{origin} is not valid YAML: {position}: "
            f"{sanitize.line(error.problem or error.context)}"
        ) from None
    except (
        yaml.YAMLError,
        ArithmeticError,
        AttributeError,
        LookupError,
        TypeError,
        ValueError,
        RecursionError,
    ) as error:
        raise DocumentError(
            f"{origin} is not valid YAML: {_format_reason(error)}"
        ) from None
    return _check_limits(document, origin, _MOST_YAML_VALUES)


def first_error(
    schema: Json, value: t.Any, *, exact: bool = False
) -> "jsonschema.ValidationError | None":
    """Return the most relevant schema violation in a value, or None.

    :param schema: The JSON Schema.
    :param value: The value to validate.
    :param exact: Whether an integer must not be a float such as 1.0. Programs
        write integers into documents; a template renders 10 / 10 as 1.0.
    """
    # Rally imports all plugins even to list them.
    import jsonschema

    validator = (
        _create_exact_validator() if exact else jsonschema.Draft7Validator
    )
    return jsonschema.exceptions.best_match(
        validator(schema).iter_errors(value)
    )


@functools.cache
def _create_exact_validator() -> t.Any:
    """Return a validator class that does not accept 1.0 as an integer."""
    import jsonschema

    checker = jsonschema.Draft7Validator.TYPE_CHECKER.redefine(
        "integer", lambda _, number: type(number) is int
    )
    return jsonschema.validators.extend(
        jsonschema.Draft7Validator, type_checker=checker
    )


def is_time(text: str) -> bool:
    """Return whether a text is a time with a zone, of the years of clouds.

    Other years cannot be converted into every time zone.
    """
    try:
        time = datetime.datetime.fromisoformat(text)
    except ValueError:
        return False
    return time.tzinfo is not None and 1970 <= time.year < 3000


def check(schema: Json, value: t.Any, origin: str) -> None:
    """Reject a value that does not match a schema.

    :param schema: The JSON Schema.
    :param value: The value to validate.
    :param origin: The name of the document in errors.
    :raises DocumentError: If the value does not match; the message contains
        the position and the reason.
    """
    error = first_error(schema, value, exact=True)
    if error is not None:
        raise DocumentError(
            f"{origin} is damaged: {error.json_path}: {error.message[:200]}"
        )


def open_file(path: str | os.PathLike[str]) -> t.BinaryIO:
    """Open a regular file for reading; reject links, pipes and devices.

    :raises OSError: If it cannot be opened, or is not a regular file.
    """
    if os.path.islink(path):
        raise OSError(errno.EINVAL, "is a link; replace it with the file")
    return open(path, "rb", opener=open_regular)


def open_regular(path: str, flags: int) -> int:
    """Open a regular file or a directory, which ``open`` itself rejects.

    This is an ``opener``, which does not wait for a pipe.

    :raises OSError: If it cannot be opened, or is a pipe or a device.
    """
    descriptor = os.open(path, flags | os.O_NONBLOCK)
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISREG(mode) or stat.S_ISDIR(mode):
        return descriptor
    os.close(descriptor)
    raise OSError(errno.EINVAL, "is not a regular file")


def _read_content(path: pathlib.Path, largest: int) -> bytes:
    """Return the bytes of a file; reject a missing or too large file."""
    try:
        with open(path, "rb", opener=open_regular) as stream:
            content = stream.read(largest + 1)
    except FileNotFoundError as error:
        if path.is_symlink():
            raise DocumentError(f"{path} is a broken link") from None
        raise NoDocumentError(f"{path}: {error.strerror}") from None
    except NotADirectoryError as error:
        raise NoDocumentError(f"{path}: {error.strerror}") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise DocumentError(f"{path}: {reason}") from None
    if len(content) > largest:
        raise DocumentError(f"{path} has more than {largest} bytes")
    return content


def _format_reason(error: BaseException) -> str:
    """Return the reason of a parser's error as one line."""
    if isinstance(error, RecursionError):
        return f"more than {_DEEPEST} levels"
    if isinstance(error, UnicodeDecodeError):
        return f"byte {error.start} is not UTF-8"
    return sanitize.line(error)


def build_mapping(pairs: list[tuple[str, t.Any]]) -> dict[str, t.Any]:
    """Return the pairs of a JSON object as a dict; reject duplicate keys."""
    mapping = dict(pairs)
    if len(mapping) < len(pairs):
        duplicate = _format_duplicate(key for key, _ in pairs)
        raise ValueError(f"{duplicate} is duplicated")
    return mapping


def _format_duplicate(keys: collections.abc.Iterable[t.Any]) -> str:
    """Return the text ``key NAME`` for the most frequent key."""
    ((key, _),) = collections.Counter(keys).most_common(1)
    return f"key {sanitize.line(repr(key), 60)}"


class _Loader(yaml.SafeLoader):
    """A YAML loader that rejects duplicate keys."""

    def compose_mapping_node(self, anchor: t.Any) -> t.Any:
        """Return a YAML mapping node; reject duplicate keys."""
        node = super().compose_mapping_node(anchor)
        keys = [
            key.value for key, _ in node.value if isinstance(key.value, str)
        ]
        if len(set(keys)) < len(keys):
            raise yaml.constructor.ConstructorError(
                None,
                None,
                f"{_format_duplicate(keys)} is duplicated",
                node.start_mark,
            )
        return node


def _check_limits(document: t.Any, origin: str, limit: float) -> t.Any:
    """Return a document; reject too deep, large or invalid ones."""
    invalid = find_invalid(document, limit)
    if invalid is not None:
        keys, reason = invalid
        raise DocumentError(
            f"{origin} is damaged: at {format_path(keys)}: {reason}"
        )
    return document


def may_exceed(text: str, limit: int) -> bool:
    """Return whether a JSON text may have more values than a limit.

    Values take up to 64 times the memory of their text, so that they are
    counted before they are parsed.
    """
    if _count_values(text) <= limit:
        return False
    return _count_values(_STRING.sub("", text)) > limit


def _count_values(text: str) -> int:
    """Return an upper bound of the number of values in a JSON text.

    Separators in strings count, too.
    """
    return text.count(",") + text.count("[") + text.count("{") + 1


def find_invalid(
    document: t.Any, limit: float = _MOST_YAML_VALUES
) -> tuple[tuple[t.Any, ...], str] | None:
    """Return the keys that lead to an invalid value and the reason, or None.

    :param document: The document, which may be too deep or too large, too.
    :param limit: The maximum number of values; infinity disables it.
    """
    budget = limit
    # The document itself is the only child of a list.
    pending: list[tuple[t.Any, tuple[t.Any, ...]]] = [([document], ())]
    while pending:
        container, keys = pending.pop()
        budget -= len(container)
        if budget < 0 or len(keys) > _DEEPEST:
            excess = f"{limit} values" if budget < 0 else f"{_DEEPEST} levels"
            return keys[1:], f"more than {excess}"
        pairs = (
            container.items()
            if isinstance(container, dict)
            else enumerate(container)
        )
        for key, child in pairs:
            if isinstance(child, dict | list | tuple | set):
                pending.append((child, (*keys, key)))
            reason = _rejection_reason(child) or _rejection_reason(key)
            if reason:
                return (*keys, key)[1:], reason
    return None


def _rejection_reason(value: t.Any) -> str:
    """Return the reason why a value must not be in a document, or ""."""
    if isinstance(value, str) and _SURROGATE.search(value):
        return "a lone surrogate"
    # Python cannot print an integer with thousands of digits.
    if isinstance(value, int | float) and not abs(value) <= _LARGEST_NUMBER:
        number = f"{value}: " if isinstance(value, float) else ""
        return f"{number}must be a finite number"
    return ""


def format_path(keys: collections.abc.Sequence[t.Any]) -> str:
    """Return the first levels of a path as text, such as ``$.a[0]``."""
    return "$" + "".join(
        f"[{key}]" if isinstance(key, int) else f".{sanitize.line(key, 60)}"
        for key in keys[:6]
    )
