# SPDX-License-Identifier: Apache-2.0
"""The first login to a cloud, and what the cloud offers to guests."""
