# SPDX-License-Identifier: Apache-2.0
"""Machines that run commands, over SSH or locally, many at a time."""

import logging

# At INFO, asyncssh logs every command line completely.
logging.getLogger("asyncssh").setLevel(logging.WARNING)
