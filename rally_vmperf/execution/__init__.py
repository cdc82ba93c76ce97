# SPDX-License-Identifier: Apache-2.0
"""Run workloads on machines, for scenarios and the recording of baselines.

The same code measures guests and bare metal, so that a difference between
them is never one of method.
"""
