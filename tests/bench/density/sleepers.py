# SPDX-License-Identifier: Apache-2.0
"""Bare sleeping processes: how far apart this computer wakes them."""

import os
import struct
import time


def skew(count, ahead=0.5):
    """Return the seconds between the first to wake up and the last.

    :param count: The number of processes, which do nothing but sleep.
    :param ahead: The seconds until the instant.
    """
    instant = time.time() + ahead + count * 0.01
    reading_end, writing_end = os.pipe()
    children = []
    for _ in range(count):
        child = os.fork()
        if not child:
            time.sleep(instant - time.time())
            os.write(writing_end, struct.pack("d", time.time()))
            os._exit(0)
        children.append(child)
    for child in children:
        os.waitpid(child, 0)
    woken = struct.unpack(f"{count}d", os.read(reading_end, 8 * count))
    os.close(reading_end)
    os.close(writing_end)
    return max(woken) - min(woken)
