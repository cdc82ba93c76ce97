# SPDX-License-Identifier: Apache-2.0
"""Machines reached over SSH."""
