"""Signals as a login shell leaves them."""

#: Before a command whose process is told to end.  A shell, nohup or a
#: scheduler may have the tests ignore signals, and what they start inherits
#: that.
DEFAULT = ("env", "--default-signal=HUP,INT,TERM")
