"""Rally's plugins; importing them has Rally tell our errors in one line."""

import logging

from rally.common import logging as rally_logging


class OneLine(logging.Filter):
    """Takes the traceback away that Rally shows beside an error of ours.

    The error says the cause and the way out, and oslo.log puts its first line
    at the end of the message; further lines quote a guest's console. With
    --debug the traceback stays.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        """Let every record pass, one about an error of ours without it."""
        error = record.exc_info[1] if record.exc_info else None
        ours = type(error).__module__.startswith(f"{__name__.split('.')[0]}.")
        if ours and not rally_logging.is_debug():
            record.exc_info = None
            record.exc_text = str(error).partition("\n")[2] or None
        return True


#: Of Rally's engine, and of what sets contexts up and cleans them.
for _name in ("rally.task.engine", "rally.task.context"):
    logging.getLogger(_name).addFilter(OneLine())
