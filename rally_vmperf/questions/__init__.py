# SPDX-License-Identifier: Apache-2.0
"""The questions of tasks: criteria, checks, runs and report sections."""
