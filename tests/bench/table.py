# SPDX-License-Identifier: Apache-2.0
"""The table that the benchmark prints."""

import collections.abc
import itertools

from tests.bench import wall_time

_HEADER = ("", "wall", "measuring", "of wall", "of span")


def lines(
    runs: collections.abc.Mapping[str, wall_time.WallTime],
) -> collections.abc.Iterator[str]:
    """Yield a row for each run and, for two, how they compare.

    :param runs: The runs, first the one by the package.
    """
    rows = [_HEADER, *(_row(name, run) for name, run in runs.items())]
    yield from padded(rows)
    if len(runs) == 2:
        product, peer = runs.values()
        yield f"ratio of wall times: {peer.wall / product.wall:.2f}"


def padded(
    rows: collections.abc.Sequence[tuple[str, ...]],
) -> collections.abc.Iterator[str]:
    """Yield rows with their columns aligned; a row may be short."""
    columns = itertools.zip_longest(*rows, fillvalue="")
    widths = [max(map(len, column)) for column in columns]
    for first, *rest in rows:
        cells = [
            cell.rjust(width)
            for cell, width in zip(rest, widths[1:], strict=False)
        ]
        yield "  ".join([first.ljust(widths[0]), *cells])


def _row(name: str, run: wall_time.WallTime) -> tuple[str, ...]:
    share = run.share_of_span
    return (
        name,
        f"{run.wall:.0f} s",
        f"{run.measuring:.1f} s",
        f"{run.share:.0%}",
        "-" if share is None else f"{share:.0%}",
    )
