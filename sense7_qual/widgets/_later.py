"""What takes long is done in a thread of its own, so that nobody's typing waits for it."""

from __future__ import annotations

import threading
from collections.abc import Callable

from sense7_qual.widgets._desk import in_words

__all__ = ["Later"]


class Later:
    """Something that is done later; asked for again meanwhile, it is done once more, with what is known then.

    Attributes
    ----------
    run : callable
        What is done.
    say : callable
        Told in words where that fails: an error in a thread would vanish.
    doing : str
        What it is, for these words.
    """

    def __init__(self, run: Callable[[], object], say: Callable[[str], object], *, doing: str = "it") -> None:
        self._run, self._say, self._doing = run, say, doing
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._again = False

    @property
    def asked_again(self) -> bool:
        """Whether what is being done now will be done once more."""
        return self._again

    def ask(self) -> None:
        """Have it done, and return at once."""
        with self._lock:
            self._again = True
            if self._thread is None:
                self._thread = threading.Thread(target=self._go, daemon=True)
                self._thread.start()

    def join(self) -> None:
        """Wait until nothing is being done any more."""
        thread = self._thread
        if thread is not None:
            thread.join()

    def _go(self) -> None:
        while True:
            with self._lock:
                if not self._again:
                    self._thread = None
                    return
                self._again = False
            try:
                self._run()
            except Exception as error:  # noqa: BLE001 – it would vanish
                self._say(in_words(error, self._doing))
