# SPDX-License-Identifier: Apache-2.0
"""Ownership and removal of the resources of runs in a cloud."""
