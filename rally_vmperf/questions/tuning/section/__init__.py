# SPDX-License-Identifier: Apache-2.0
"""The section of tuning runs in the report."""
