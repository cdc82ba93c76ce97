# SPDX-License-Identifier: Apache-2.0
"""Machines with their part in a run: reached, watched, clocks compared."""
