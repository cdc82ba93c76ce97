"""Machines: where commands run, by SSH or locally, many at once."""

import logging

# At INFO asyncssh tells every command line whole; no log is the better for it.
logging.getLogger("asyncssh").setLevel(logging.WARNING)
