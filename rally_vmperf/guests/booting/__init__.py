# SPDX-License-Identifier: Apache-2.0
"""Boot, placement, addresses and power state of guests."""
