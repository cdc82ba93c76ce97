# SPDX-License-Identifier: Apache-2.0
"""The container of the embedded cloud: its root, processes and hosts."""
