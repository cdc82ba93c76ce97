# SPDX-License-Identifier: Apache-2.0
"""The guest image, and packages of tools for guests and bundles."""
