# SPDX-License-Identifier: Apache-2.0
"""The gain or loss of guests with other settings."""
