# SPDX-License-Identifier: Apache-2.0
"""Two sides compared: intervals, limits and verdicts."""
