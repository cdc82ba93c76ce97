# SPDX-License-Identifier: Apache-2.0
"""Commands for baselines: record, import, show, compare."""
