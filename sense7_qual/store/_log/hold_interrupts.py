"""Interrupts (■ in Jupyter, Ctrl+C) wait while a file is locked."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["uninterrupted"]


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Let an interrupt wait until the end of this, and raise `KeyboardInterrupt` then.

    In the middle it could come between taking a lock and being able to give it back; and a notebook keeps the
    frames of the last exception, with every cursor in them that still reads.
    """
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield  # interrupts come to the main thread alone
        return
    waiting: list[int] = []
    signal.signal(signal.SIGINT, lambda number, _: waiting.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if waiting:
            before(waiting[0], None)
