# SPDX-License-Identifier: Apache-2.0
"""Judges, results and verdicts of all questions, without input or output."""
