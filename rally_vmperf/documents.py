"""Read JSON and YAML that may be damaged or hostile.

An error is one line that names the document, the place and the reason.
"""

import collections
import collections.abc
import functools
import importlib.resources
import json
import math
import os
import pathlib
import typing as t

import yaml

from rally_vmperf import errors
from rally_vmperf import sanitize

if t.TYPE_CHECKING:
    import jsonschema

Json = collections.abc.Mapping[str, t.Any]

#: Bytes of a document, unless its reader says otherwise.
LARGEST = 64 << 20
#: Of YAML, which is slow to read.
_LARGEST_YAML = 1 << 20
#: Lists within lists; a record has ten.
_DEEPEST = 64
#: Values of a document, with what YAML's aliases repeat.
_MOST_VALUES = 20_000_000
_MOST_YAML_VALUES = 100_000
#: Digits of a number: those of 64 bits are 20.
_DIGITS = 40
_LARGEST_NUMBER = 10**_DIGITS


class DocumentError(errors.VMPerfError):
    """A document cannot be read; one line."""


class NoDocumentError(DocumentError):
    """There is no such file."""


def read_json(path: pathlib.Path, largest: int = LARGEST) -> t.Any:
    """Return the content of a JSON file.

    :param largest: bytes of it
    :raises NoDocumentError: where there is none
    :raises DocumentError: where it cannot be read
    """
    return parse_json(_content(path, largest), str(path))


def read_yaml(path: pathlib.Path) -> t.Any:
    """Return the content of a YAML file; errors as of ``read_json``."""
    return parse_yaml(_content(path, _LARGEST_YAML), str(path))


def parse_json(content: bytes | str, origin: str) -> t.Any:
    """Return the value of a JSON text.

    :param origin: what errors call it
    :raises DocumentError: with the place and the reason, in one line
    """
    try:
        text = content if isinstance(content, str) else content.decode()
        found = json.loads(
            text,
            object_pairs_hook=_object,
            parse_int=_integer,
            parse_float=_float,
            parse_constant=_constant,
        )
    except json.JSONDecodeError as error:
        position = f"line {error.lineno} column {error.colno}"
        raise DocumentError(
            f"{origin} is damaged: {position}: {error.msg}"
        ) from None
    except (ValueError, RecursionError) as error:
        raise DocumentError(f"{origin} is damaged: {_why(error)}") from None
    return _checked(found, origin, _MOST_VALUES)


def parse_yaml(content: bytes | str, origin: str) -> t.Any:
    """Return the value of a YAML text; errors as of ``parse_json``."""
    try:
        text = content if isinstance(content, str) else content.decode()
        if len(text) > _LARGEST_YAML:
            raise ValueError(f"more than {_LARGEST_YAML} characters")
        # Loads no more than yaml.safe_load does.
        found = yaml.load(text, Loader=_Loader)  # noqa: S506
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        position = (
            f"line {mark.line + 1} column {mark.column + 1}" if mark else ""
        )
        raise DocumentError(
            f"{origin} is no YAML: {position}: "
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
        raise DocumentError(f"{origin} is no YAML: {_why(error)}") from None
    return _checked(found, origin, _MOST_YAML_VALUES)


@functools.cache
def own_schema(package: str) -> Json:
    """Return the JSON Schema that a package of ours has beside its code.

    Definitions that several documents share are beside this module.
    """
    schema = _own_json(package, "schema.json")
    shared = _own_json(__package__, "definitions.json")
    return {**schema, "definitions": {**shared, **schema["definitions"]}}


def _own_json(package: str, name: str) -> Json:
    path = importlib.resources.files(package) / name
    return t.cast(Json, json.loads(path.read_text(encoding="utf-8")))


def first_error(
    schema: Json, value: t.Any, *, exact: bool = False
) -> "jsonschema.ValidationError | None":
    """Return what is most at fault in a value, None where nothing is.

    :param exact: whether 1.0 is no integer: it counts nothing in a document
        that a program wrote, and is what a template makes of 10 / 10
    """
    # Rally imports every plugin for a mere list of them.
    import jsonschema

    kind = _exact() if exact else jsonschema.Draft7Validator
    found = kind(schema).iter_errors(value)
    return jsonschema.exceptions.best_match(found)


@functools.cache
def _exact() -> t.Any:
    """Return the class of validators to which 1.0 is no integer."""
    import jsonschema

    checker = jsonschema.Draft7Validator.TYPE_CHECKER.redefine(
        "integer", lambda _, value: type(value) is int
    )
    return jsonschema.validators.extend(
        jsonschema.Draft7Validator, type_checker=checker
    )


def check(schema: Json, value: t.Any, origin: str) -> None:
    """Refuse a value that its schema does not let through.

    :param origin: what errors call it
    :raises DocumentError: with the place and the reason, in one line
    """
    wrong = first_error(schema, value, exact=True)
    if wrong is not None:
        raise DocumentError(
            f"{origin} is damaged: {wrong.json_path}: {wrong.message[:200]}"
        )


def _content(path: pathlib.Path, largest: int) -> bytes:
    try:
        # A pipe in the file's place would be waited for.
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        with os.fdopen(handle, "rb") as stream:
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


def _why(error: BaseException) -> str:
    if isinstance(error, RecursionError):
        return f"more than {_DEEPEST} levels"
    if isinstance(error, UnicodeDecodeError):
        return f"byte {error.start} is not UTF-8"
    return sanitize.line(error)


def _object(pairs: list[tuple[str, t.Any]]) -> dict[str, t.Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError(f"{_twice(key for key, _ in pairs)} twice")
    return found


def _twice(keys: collections.abc.Iterable[t.Any]) -> str:
    ((key, _),) = collections.Counter(keys).most_common(1)
    return f"key {sanitize.line(repr(key), 60)}"


def _integer(text: str) -> int:
    if len(text) > _DIGITS:
        raise ValueError(f"number {text[:20]}... has {len(text)} digits")
    return int(text)


def _float(text: str) -> float:
    value = float(text) if len(text) <= 2 * _DIGITS else math.inf
    if not math.isfinite(value):
        raise ValueError(f"number {text[:20]} is out of range")
    return value


def _constant(text: str) -> t.NoReturn:
    raise ValueError(f"{text} is no number")


class _Loader(yaml.SafeLoader):
    """Takes no key twice; stops where lists are too deep."""

    depth = 0

    def compose_node(self, parent: t.Any, index: t.Any) -> t.Any:
        """Return a node of the document."""
        self.depth += 1
        if self.depth > _DEEPEST:
            raise RecursionError
        node = super().compose_node(parent, index)
        self.depth -= 1
        return node

    def compose_mapping_node(self, anchor: t.Any) -> t.Any:
        """Return a mapping, each key of which is there once."""
        node = super().compose_mapping_node(anchor)
        keys = [
            key.value for key, _ in node.value if isinstance(key.value, str)
        ]
        if len(set(keys)) < len(keys):
            raise yaml.constructor.ConstructorError(
                None, None, f"{_twice(keys)} twice", node.start_mark
            )
        return node


def _checked(found: t.Any, origin: str, limit: int) -> t.Any:
    """Return a document whose depth, size, numbers and texts are usable."""
    left = limit
    # Lists and mappings with the keys that lead to them, as linked pairs.
    open_: list[tuple[t.Any, t.Any, int]] = [([found], None, 0)]
    while open_:
        value, parents, depth = open_.pop()
        left -= len(value)
        if left < 0 or depth > _DEEPEST:
            what = f"{limit} values" if left < 0 else f"{_DEEPEST} levels"
            raise _damaged(origin, parents, f"more than {what}")
        pairs = value.items() if isinstance(value, dict) else enumerate(value)
        for key, one in pairs:
            if isinstance(one, dict | list | tuple | set):
                open_.append((one, (parents, key), depth + 1))
            reason = _unusable(one) or _unusable(key)
            if reason:
                raise _damaged(origin, (parents, key), reason)
    return found


def _unusable(value: t.Any) -> str:
    if isinstance(value, str):
        # Half of a pair of surrogates can be written nowhere.
        half = not value.isascii() and any(
            "\ud800" <= letter <= "\udfff" for letter in value
        )
        return "half a character" if half else ""
    if isinstance(value, int) and abs(value) >= _LARGEST_NUMBER:
        return f"a number of more than {_DIGITS} digits"
    if isinstance(value, float) and not math.isfinite(value):
        return f"{value} is no finite number"
    return ""


def _damaged(origin: str, parents: t.Any, reason: str) -> DocumentError:
    return DocumentError(
        f"{origin} is damaged: at {_json_path(parents)}: {reason}"
    )


def _json_path(parents: t.Any) -> str:
    """Return the beginning of a path, as JSON schemas write it."""
    keys: list[t.Any] = []
    while parents is not None:
        parents, key = parents
        keys.insert(0, key)
    # The document itself stands in a list of one.
    return "$" + "".join(
        f"[{key}]" if isinstance(key, int) else f".{sanitize.line(key, 60)}"
        for key in keys[1:7]
    )
