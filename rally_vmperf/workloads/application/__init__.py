# SPDX-License-Identifier: Apache-2.0
"""Workloads that are whole applications."""
