"""A study beside files that are broken at random: it stays as it is, byte for byte, whatever comes in.

What may come from outside is a codebook, an acts file or an archive to merge, an archive to restore, and a
study folder out of a sync client. Each is broken as the imports are (`test_fuzzed_imports`), or from within:
a value of another kind in an act, in `study.json`, in a member of the archive whose manifest is put right.
All must end in an error of the package, or in a sound study.
"""

from __future__ import annotations

import os
import random
import shutil
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from sense7_qual.codebook import Codebook
from sense7_qual.errors import QualError
from sense7_qual.store import Store
from tests.helpers.broken_files import (
    CODEBOOK,
    YAML,
    Study,
    broken,
    broken_acts,
    broken_archive,
    broken_json,
    check,
    peak_megabytes,
)

pytestmark = pytest.mark.nightly


def read_codebook(r: random.Random, study: Study) -> str:
    suffix = r.choice([".yaml", ".csv"])
    path = study.folder / f"codebook{suffix}"
    packed = (
        CODEBOOK.to_yaml()
        if suffix == ".yaml"
        else b"id,label,definition\ninterest,Interest,So\ncare,Care,\n"
    )
    for _ in range(r.choice([1, 1, 3])):
        packed = broken(r, packed, r.choice(YAML))
        if r.random() < 0.4:
            at = r.randrange(len(packed) + 1)
            packed = packed[:at] + r.choice(YAML) + packed[at:]
    path.write_bytes(packed)
    Codebook.read(path)
    return f"{suffix} read"


def merge(r: random.Random, study: Study) -> str:
    """Merge a broken acts file or archive: what is refused has changed nothing, what is new is sound."""
    what = r.choice(["ana", "cleo", "archive"])
    if what == "archive":
        path = study.folder / "other.archive"
        path.write_bytes(broken_either(r, study.archive, broken_archive))
    else:
        path, source = study.folder / f"{what}.sqlite", study.folder / "copy" / "acts" / f"{what}.sqlite"
        packed = source.read_bytes()
        scratch = study.folder / "scratch.sqlite"
        path.write_bytes(broken(r, packed, packed) if r.random() < 0.5 else broken_acts(r, source, scratch))
    Store(study.path).copies.merge(path)
    if not study.unchanged():
        if not is_sound_with_more(study):
            raise AssertionError("what was merged is not sound")
        study.put_back()
    return f"{what} merged"


def broken_either(r: random.Random, packed: bytes, within: Callable[[random.Random, bytes], bytes]) -> bytes:
    return within(r, packed) if r.random() < 0.6 else broken(r, packed, packed)


def is_sound_with_more(study: Study) -> bool:
    store = Store(study.path)
    now = store.acts()
    return [act for act in now if act.coder != "cleo"] == study.acts and bool(store.verify()["ok"].all())


def restore(r: random.Random, study: Study) -> str:
    """Restore a broken archive: nothing is left where it is refused, and a sound study where it is not."""
    path, target = study.folder / "other.archive", study.folder / "restored"
    path.write_bytes(broken_either(r, study.archive, broken_archive))
    beside = set(study.folder.iterdir())
    try:
        store = Store.restore(path, target)
    except QualError:
        if set(study.folder.iterdir()) != beside:
            raise AssertionError("something was left of what was refused") from None
        raise
    sound = bool(store.verify()["ok"].all())
    shutil.rmtree(target)
    if not sound:
        raise AssertionError("a study that is not sound was restored")
    return "restored"


def open_study(r: random.Random, study: Study) -> str:
    """Open and read a copy of the study with a broken file: reading changes nothing in it."""
    path = study.folder / "broken"
    shutil.copytree(study.path, path)
    try:
        file = r.choice(sorted(each for each in path.rglob("*") if each.is_file() and each.stat().st_size))
        packed = file.read_bytes()
        if file.suffix == ".sqlite" and r.random() < 0.6:
            file.write_bytes(broken_acts(r, file, study.folder / "scratch.sqlite"))
        elif file.suffix == ".json" and r.random() < 0.6:
            file.write_bytes(broken_json(r, packed))
        else:
            file.write_bytes(broken(r, packed, packed))
        before = words(path)
        try:
            store = Store(path)
            store.verify()  # reports, and raises nothing
            store.acts(), store.codings(), store.memos()
        finally:
            if words(path) != before:
                raise AssertionError("reading changed it")
        return "opened"
    finally:
        shutil.rmtree(path)


def words(path: Path) -> dict[str, bytes]:
    """Return what stands in the files, but for where SQLite says how it keeps its journal and who wrote last.

    A file that was left in the mode of write-ahead logging is put back into that of the study on reading.
    """
    found = {each.name: bytearray(each.read_bytes()) for each in path.rglob("*") if each.is_file()}
    for name, packed in found.items():
        if name.endswith(".sqlite"):
            for start, end in ((18, 20), (24, 28), (92, 100)):
                packed[start:end] = bytes(end - start)
    return {name: bytes(packed) for name, packed in found.items()}


DOORS: list[Callable[[random.Random, Study], str]] = [read_codebook, merge, restore, open_study]


def fuzz(first: int, count: int) -> dict[str, object]:
    """Hand `count` broken files in; return how each ended, what was no error of ours, and the peak memory."""
    ends: Counter[str] = Counter()
    strange: list[str] = []
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a study of a later version opens with one
        study = Study(Path(folder))
        for seed in range(first, first + count):
            door = DOORS[seed % len(DOORS)]
            try:
                ends[f"{door.__name__} {door(random.Random(seed), study)}"] += 1
            except QualError as refused:
                ends[f"{door.__name__} {type(refused).__name__}"] += 1
            except BaseException as error:  # noqa: BLE001  what must not happen is what is looked for
                strange.append(f"seed {seed} ({door.__name__}): {type(error).__name__} {error}"[:300])
            if not study.unchanged():
                strange.append(f"seed {seed} ({door.__name__}): the study was changed")
                study.put_back()
    return {
        "ends": dict(ends),
        "strange": strange,
        "peak": peak_megabytes(),
    }


@pytest.mark.long
def test_a_study_stays_as_it_is_beside_some_broken_files() -> None:
    """And every door refuses some."""
    ends = check("tests.slow.test_fuzzed_studies", 1_000_000, 80)
    for door in DOORS:
        assert sum(n for end, n in ends.items() if end.startswith(door.__name__) and "Error" in end) > 5, door


@pytest.mark.crash
def test_a_study_stays_as_it_is_beside_many_broken_files() -> None:
    count = 1_000 if os.environ.get("SOAK") else 200
    ends = check("tests.slow.test_fuzzed_studies", 0, count)
    assert sum(n for end, n in ends.items() if "Error" not in end) > count / 25
