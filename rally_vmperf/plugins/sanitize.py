"""Texts that Rally's reports cannot be made to execute.

Rally puts details of SLAs and errors of iterations, as JSON, into a script
element of its report, where ``</script>`` would end it.  Some of our texts
quote guests, which are not to be trusted.
"""

from rally_vmperf.report import text


def sanitize(said: str) -> str:
    """Return a text without control characters and without ``<``."""
    kept = (c if c.isprintable() or c == "\n" else "?" for c in said)
    return text.untagged("".join(kept))
