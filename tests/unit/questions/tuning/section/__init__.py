# SPDX-License-Identifier: Apache-2.0
"""Tests of the question of tuning."""
