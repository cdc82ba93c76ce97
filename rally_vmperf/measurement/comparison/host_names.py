"""Names of hosts, which Nova, Placement and systems write differently."""


def same(name: str, other: str) -> bool:
    """Return whether two names are of one host, with or without its domain.

    Nova may use the short name of a host while its system or Placement uses
    the fully qualified one.
    """
    short, long = sorted((name.lower(), other.lower()), key=len)
    return long == short or ("." not in short and long.startswith(short + "."))
