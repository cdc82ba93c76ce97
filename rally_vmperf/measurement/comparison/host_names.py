"""Names of hosts, which Nova, Placement and systems write differently."""


def same(name: str, other: str) -> bool:
    """Tell whether names are those of one host, one of them with its domain.

    Nova may know a host by its short name that its own system
    or Placement knows by its whole.
    """
    short, long = sorted((name.lower(), other.lower()), key=len)
    return long == short or ("." not in short and long.startswith(short + "."))
