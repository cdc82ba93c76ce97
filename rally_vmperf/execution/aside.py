"""A question that is asked in a thread of its own, while others go on."""

import collections.abc
import concurrent.futures
import threading
import typing as t

T = t.TypeVar("T")


class Aside(t.Generic[T]):
    """One call; a caller who is interrupted does not wait for its end.

    :param call: what is called, once
    """

    def __init__(self, call: collections.abc.Callable[[], T]) -> None:
        self._call = call
        self._begun = False
        self._answer = concurrent.futures.Future[T]()

    def begin(self) -> None:
        """Call it, unless it was called before."""
        if not self._begun:
            self._begun = True
            threading.Thread(target=self._run, daemon=True).start()

    def answer(self) -> T:
        """Wait for what the call gives; raise what it raises."""
        self.begin()
        return self._answer.result()

    def _run(self) -> None:
        try:
            self._answer.set_result(self._call())
        except BaseException as error:
            self._answer.set_exception(error)
