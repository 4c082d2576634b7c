# Does one operation over and over on a fresh copy of a study, each time killed at another of the calls that
# change the disk. After each kill it looks who may read what there is; then the study is opened again, the
# participant is forgotten, the copies that this names are deleted, and what still has their words is told.
# The system's temporary folder and the user's state folder are on that disk too.
import ctypes
import json
import os
import shutil
import stat
import sys
import tempfile
from pathlib import Path

root, operation, n_kills = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
work, base, temporary = root / "work", root / "base", root / "work" / "temporary"
os.environ["XDG_STATE_HOME"], os.environ["TMPDIR"] = str(work / "state"), str(temporary)
import pandas as pd

from sense7_qual import acts, rounds
from sense7_qual.store import Store
from tests.helpers.disk import CHANGES, KILLED, another_computer
from tests.helpers.killed import interrupted
from tests.helpers.withdrawn_words import CODEBOOK

WORD, ALL = b"Numbat", sum(1 << kind for kind in CHANGES)
shim = ctypes.CDLL(None)
os.umask(0o022)
units = pd.DataFrame(
    {
        "unit_id": ["m1", "m2"],
        "text": ["It listened to me. " * 20, "Theirs: Numbat. " * 200],
        "document_id": ["d1", "d2"],
        "case_id": ["p1", "p2"],
        "position": 0,
    }
)


def batch(coder, size, unit_id="m2", **named):
    return [
        acts.apply(
            coder=coder, unit_id=unit_id, code="interest", start=i, end=i + 200, codebook=CODEBOOK, **named
        )
        for i in range(size)
    ]


DO = {
    "create": lambda store: Store.create(work / "there" / "made", units=units, codebook=CODEBOOK),
    "backup": lambda store: store.copies.backup(work / "there" / "made"),
    "archive": lambda store: store.copies.archive(work / "there" / "made"),
    "restore": lambda store: Store.restore(work / "pilot.zip", work / "there" / "made"),
    "hand out": lambda store: store.copies.hand_out("one", "ana", work / "there" / "made"),
    "salvage": lambda store: store.admin.salvage("ana", work / "there" / "made"),
    "merge": lambda store: store.copies.merge(work / "copy"),
    "merge an archive": lambda store: store.copies.merge(work / "copy.zip"),
    "read a journal": lambda store: store.acts(),
}


def fresh():
    shutil.rmtree(work, ignore_errors=True)
    shutil.copytree(base, work)
    temporary.mkdir(mode=0o700)
    tempfile.tempdir = None
    another_computer()
    return Store(work / "pilot")


def killed(number):
    store = fresh()
    child = os.fork()
    if not child:
        try:
            shim.disk_fail(number, KILLED, ALL, False)
            DO[operation](store)
        finally:
            os._exit(0 if sys.exc_info()[0] is None else 3)
    ended = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert ended == (-9 if number else 0), (number, ended)


def open_to_others():
    new = [path for path in work.rglob("*") if not (base / path.relative_to(work)).exists()]
    return [path.name for path in new if not path.is_symlink() and stat.S_IMODE(path.stat().st_mode) & 0o077]


def left():
    store = Store(work / "pilot")
    at_once = [p.relative_to(work).as_posix() for p in work.rglob("*") if building(p) and WORD in content(p)]
    held = store.forget("p2", why="They asked for it.").still_held
    assert not held["what"].str.startswith("unfinished").any(), held
    for name in ("copy", "copy.zip", "pilot.zip", "there/made"):  # what is there as a whole
        path = work / name
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
    assert store.verify()["ok"].all()
    return [*at_once, *(p.relative_to(work).as_posix() for p in work.rglob("*") if WORD in content(p))]


def building(path):
    return any(part.startswith(".") or part == "temporary" for part in path.relative_to(work).parts)


def content(path):
    return path.read_bytes() if path.is_file() else b""


base.mkdir(mode=0o700)
store = Store.create(base / "pilot", units=units, codebook=CODEBOOK)
store.append([rounds.open_round("one", units=["m1", "m2"], coders=["ana"], coder="lead", codebook=CODEBOOK)])
store.append(batch("ana", 5, round="one"))
store.copies.backup(base / "copy")
copy = Store(base / "copy")
copy.append(batch("ana", 3, round="one"))
copy.append(batch("cy", 3))
copy.copies.archive(base / "copy.zip")
store.append(batch("ana", 2, round="one"))
store.copies.archive(base / "pilot.zip")
if operation == "read a journal":
    (root / "journal").mkdir()
    file = base / "pilot" / "acts" / "ana.sqlite"
    torn, journal = interrupted(file, root / "journal")
    file.write_bytes(torn)
    file.with_name("ana.sqlite-journal").touch(mode=0o600)
    file.with_name("ana.sqlite-journal").write_bytes(journal)

store = fresh()
shim.disk_fail(0, 0, ALL, False)
DO[operation](store)
n_calls = shim.disk_calls()
numbers = sorted({1 + round(i * (n_calls - 1) / (n_kills - 1)) for i in range(n_kills)})
found = []
for number in numbers if n_kills < n_calls else range(1, n_calls + 1):
    killed(number)
    found.append([number, n_calls, open_to_others(), left()])
print(json.dumps(found))
