"""What is known of a job: enough to ask for it over any connection."""

import collections.abc
import dataclasses
import re
import secrets


@dataclasses.dataclass(frozen=True, kw_only=True)
class Handle:
    """A started job; plain data, good for any connection to the machine."""

    name: str
    place: str
    timeout: float
    output_limit: int


def new(folder: str, name: str, timeout: float, output_limit: int) -> Handle:
    """Return the handle of a job that is to be started in a folder."""
    label = re.sub(r"[^\w.-]", "_", name)[:60]
    return Handle(
        name=name,
        place=f"{folder}/.job-{label}-{secrets.token_hex(4)}",
        timeout=timeout,
        output_limit=output_limit,
    )


def words(
    handle: Handle,
    folder: str,
    argv: collections.abc.Sequence[str],
    prefix: collections.abc.Sequence[str],
    *,
    armed: bool = False,
    keep_up: bool = False,
) -> tuple[str, ...]:
    """Return what the script that starts a job wants to be told.

    :param armed: have everything ready, and begin only when released
    :param keep_up: go on when it has ended, uncounted, until told enough
    """
    return (
        handle.place,
        folder,
        f"{handle.timeout:.3f}",
        str(handle.output_limit),
        str(int(armed)),
        str(int(keep_up)),
        str(len(prefix)),
        *prefix,
        *argv,
    )
