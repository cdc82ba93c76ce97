# SPDX-License-Identifier: Apache-2.0
"""Samples: values, distributions, series, and their units."""
