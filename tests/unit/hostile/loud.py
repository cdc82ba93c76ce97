# SPDX-License-Identifier: Apache-2.0
"""Has contexts fail with hostile words, and logs it to the terminal."""

from rally.common import cfg
from rally.common import logging

from tests.unit.hostile import contexts

if __name__ == "__main__":
    cfg.CONF([], project="rally", default_config_files=[])
    logging.setup("rally")
    # Rally's engine does so of whatever a context raises.
    engine = logging.getLogger("rally.task.engine")
    for error in contexts.failed().values():
        try:
            raise error
        except Exception:
            engine.exception("Unexpected exception")
