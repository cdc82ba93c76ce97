# SPDX-License-Identifier: Apache-2.0
"""The command that audits the hosts of a cloud."""
