# SPDX-License-Identifier: Apache-2.0
"""Requirements of guests, checked before they are booted."""
