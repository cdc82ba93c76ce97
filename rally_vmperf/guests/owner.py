"""The names by which a task's resources are told from all others."""

import collections.abc
import dataclasses
import re

#: Names that Rally gives: contexts (c_), scenarios (s_), owner, random part.
_RALLY_NAME = re.compile(
    r"(?P<prefix>[cs]_rally_(?P<owner>[0-9a-zA-Z]{8}))_[0-9a-zA-Z]{8}(-\d+)?"
)


@dataclasses.dataclass(frozen=True)
class Owner:
    """Whose resources: everything named with this prefix.

    :param prefix: such as ``c_rally_1b2c3d4e``
    """

    prefix: str

    def owns(self, name: str | None) -> bool:
        """Tell whether a resource of this name belongs to the owner."""
        pattern = re.escape(self.prefix) + r"[^0-9a-zA-Z][0-9a-zA-Z]{3,}"
        return bool(re.fullmatch(pattern, name or ""))


def of_names(
    identifier: str, new_name: collections.abc.Callable[[], str]
) -> Owner:
    """Return the owner behind names that Rally generates.

    :param identifier: the UUID that Rally puts a part of into each name
    :param new_name: gives such a name
    """
    name, digits = new_name(), identifier.replace("-", "")
    for length in range(len(digits), 2, -1):
        position = name.find(digits[:length])
        if position >= 0:
            return Owner(name[: position + length])
    raise ValueError(
        f"name {name!r} holds no part of {identifier}; set "
        "context_resource_name_format back to its default"
    )


def rally_owner(name: str | None) -> str | None:
    """Return the eight characters of the owner in one of Rally's names."""
    match = _RALLY_NAME.fullmatch(name or "")
    return match["owner"] if match else None
