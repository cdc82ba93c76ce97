# SPDX-License-Identifier: Apache-2.0
"""An estimated figure with its error."""

import dataclasses


@dataclasses.dataclass(frozen=True, kw_only=True)
class Approximation:
    """A figure that cannot be negative, with its error.

    :param value: The figure in its unit.
    :param error: The largest error: of a bound, or of an interval with a
        confidence of 95 %.
    """

    value: float
    error: float

    def contains(self, truth: float) -> bool:
        """Return whether a value is within the interval."""
        return self.value - self.error <= truth <= self.value + self.error
