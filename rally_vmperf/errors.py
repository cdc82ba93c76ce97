"""The base of all errors of ours."""

from rally_vmperf import sanitize


class VMPerfError(Exception):
    """Something that the reader can mend; the message says what and how.

    Rally puts errors into its page unescaped, and terminals show them: a
    message is made safe here, whatever it quotes.
    """

    def __init__(self, message: object = "") -> None:
        super().__init__(sanitize.text(message))
