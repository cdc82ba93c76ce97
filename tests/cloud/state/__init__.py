# SPDX-License-Identifier: Apache-2.0
"""The state that the embedded cloud keeps on disk."""
