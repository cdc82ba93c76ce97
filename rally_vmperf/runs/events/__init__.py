# SPDX-License-Identifier: Apache-2.0
"""Events that happen to a guest during a run; one module for each."""
