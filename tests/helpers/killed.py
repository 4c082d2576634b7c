"""Processes that are killed, and what they leave behind."""

from __future__ import annotations

import shutil
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path


def wait_until(done: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 120
    while not done():
        assert time.monotonic() < deadline
        time.sleep(0.002)


def interrupted(file: Path, folder: Path) -> tuple[bytes, bytes]:
    """The acts file and its journal as they lie on the disk in the middle of a large write."""
    copied = folder / "writing.sqlite"
    shutil.copyfile(file, copied)
    with closing(sqlite3.connect(copied, isolation_level=None)) as connection:
        connection.execute("PRAGMA cache_size=1")
        connection.execute("BEGIN IMMEDIATE")
        for number in range(300):  # more than the cache holds: pages go to the file before the end
            connection.execute("INSERT INTO texts VALUES (?, 'salt', ?)", (str(number), "word " * 80))
        return copied.read_bytes(), (folder / "writing.sqlite-journal").read_bytes()
