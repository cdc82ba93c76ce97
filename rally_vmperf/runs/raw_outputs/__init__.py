# SPDX-License-Identifier: Apache-2.0
"""Raw outputs of tools that ran elsewhere, and baselines from them."""
