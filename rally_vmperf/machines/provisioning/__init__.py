# SPDX-License-Identifier: Apache-2.0
"""Installation of programs on machines."""
