# SPDX-License-Identifier: Apache-2.0
"""Workloads of the network."""
