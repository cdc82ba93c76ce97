# SPDX-License-Identifier: Apache-2.0
"""Files of the embedded cloud on its host."""
