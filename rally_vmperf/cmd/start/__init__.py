# SPDX-License-Identifier: Apache-2.0
"""Commands for the first run: init and run."""
