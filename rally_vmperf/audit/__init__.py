# SPDX-License-Identifier: Apache-2.0
"""The audit: each host of a cloud compared with the others of its class."""
