"""Bare sleeping processes: how far apart this computer wakes them."""

import os
import struct
import time


def skew(count, ahead=0.5):
    """Return the seconds between the first to wake up and the last.

    :param count: of processes, which do nothing but sleep
    :param ahead: seconds until the instant
    """
    instant = time.time() + ahead + count * 0.01
    ours, theirs = os.pipe()
    children = []
    for _ in range(count):
        child = os.fork()
        if not child:
            time.sleep(instant - time.time())
            os.write(theirs, struct.pack("d", time.time()))
            os._exit(0)
        children.append(child)
    for child in children:
        os.waitpid(child, 0)
    woken = struct.unpack(f"{count}d", os.read(ours, 8 * count))
    os.close(ours)
    os.close(theirs)
    return max(woken) - min(woken)
