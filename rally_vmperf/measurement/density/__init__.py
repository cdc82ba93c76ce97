# SPDX-License-Identifier: Apache-2.0
"""The degradation of guests that share a host, and their capacity."""
