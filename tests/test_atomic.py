"""A file is written whole or not at all."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from sense7_qual._atomic import save, write
from sense7_qual.errors import StoreError


@pytest.fixture
def synced(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The modes (and kinds) of what was synced so far, in order."""
    modes: list[int] = []
    sync = os.fsync

    def noted(handle: int) -> None:
        modes.append(os.fstat(handle).st_mode)
        sync(handle)

    monkeypatch.setattr(os, "fsync", noted)
    return modes


def test_a_file_and_then_its_name_are_on_the_disk(tmp_path: Path, synced: list[int]) -> None:
    for overwrite in (False, True):
        save(tmp_path / "a.txt", b"some", overwrite=overwrite)
        assert [stat.S_ISDIR(mode) for mode in synced] == [False, True]
        synced.clear()
    write(tmp_path / "a.txt", b"more", overwrite=True, sync=False)
    assert not synced


def test_a_file_is_never_open_to_others_while_it_is_written(tmp_path: Path, synced: list[int]) -> None:
    path = tmp_path / "a.txt"
    for mode in (0o600, 0o666):
        path.write_bytes(b"first")
        path.chmod(mode)
        save(path, b"second", overwrite=True)
        assert (path.read_bytes(), stat.S_IMODE(path.stat().st_mode)) == (b"second", 0o600)
        assert stat.S_IMODE(synced[0]) == 0o600
        synced.clear()


def test_a_file_that_came_meanwhile_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, sync = tmp_path / "a.txt", os.fsync

    def other_first(handle: int) -> None:
        path.write_bytes(b"theirs")
        sync(handle)

    monkeypatch.setattr(os, "fsync", other_first)
    with pytest.raises(StoreError, match=r"the file 'a.txt' already exists"):
        save(path, b"mine", overwrite=False)
    assert [(file.name, file.read_bytes()) for file in tmp_path.iterdir()] == [("a.txt", b"theirs")]
