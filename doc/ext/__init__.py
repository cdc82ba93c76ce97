# SPDX-License-Identifier: Apache-2.0
"""Generators of reference pages from the package."""
