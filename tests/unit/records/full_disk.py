# SPDX-License-Identifier: Apache-2.0
"""A limit on file sizes that simulates a full disk."""

import resource
import signal


def limit(case, size):
    """Let no file of this process grow beyond so many bytes, for one test."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    case.addCleanup(signal.signal, signal.SIGXFSZ, handler)
    case.addCleanup(resource.setrlimit, resource.RLIMIT_FSIZE, (soft, hard))
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
