# SPDX-License-Identifier: Apache-2.0
"""The start skew of machines, and their cost for the controller.

It is not a test: it prints tables.  ``make bench-density`` runs it.
"""

import argparse
import sys

from tests.bench import table
from tests.bench.density import scale
from tests.bench.density import skew


def main() -> int:
    """Print both tables."""
    options = _arguments()
    if "skew" not in options.without:
        print("Skew and overlap, by the number of machines (medians)")
        rows = skew.rows(
            options.skew, options.rounds, options.seconds, options.size
        )
        _print(skew.HEADER, rows)
    if "scale" not in options.without:
        print("Cost of a machine to the controller, by their number")
        _print(scale.HEADER, scale.rows(options.scale, options.processes))
    return 0


def _print(header, rows) -> None:
    for line in table.padded([header, *rows]):
        print(line)
    print(flush=True)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="tests.bench.density", description=__doc__
    )
    many = {"type": int, "nargs": "+"}
    parser.add_argument("--skew", **many, default=[2, 8, 32])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--size", type=int, default=300000)
    parser.add_argument("--scale", **many, default=[10, 100, 500, 1000])
    parser.add_argument(
        "--processes", type=int, default=4, help="that simulate machines"
    )
    parser.add_argument(
        "--without", action="append", default=[], choices=["skew", "scale"]
    )
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
