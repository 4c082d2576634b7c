# As above, for a study in PostgreSQL: every step is a process of its own, since connections cannot be forked.
import ctypes
import json
import os
import shutil
import sys
from pathlib import Path

root, address = Path(sys.argv[1]), sys.argv[2]
work = root / "work"
os.environ["XDG_STATE_HOME"], os.environ["TMPDIR"] = str(work / "state"), str(work / "temporary")
from sense7_qual import acts
from sense7_qual.store import Store
from tests.helpers.disk import CHANGES, KILLED
from tests.helpers.small_study import CODEBOOK, frame_of

ALL, shim = sum(1 << kind for kind in CHANGES), ctypes.CDLL(None)
units = frame_of()


def begin():
    store = Store.create(address, units=units, codebook=CODEBOOK)
    named = {"coder": "ana", "unit_id": units["unit_id"].iloc[0], "codebook": CODEBOOK}
    store.append([acts.apply(code="interest", **named)])
    store.append([acts.memo(text=units["text"].iloc[0], **named)])
    store.copies.archive(root / "pilot.zip")


DO = {
    "archive": lambda: Store(address).copies.archive(work / "there" / "made"),
    "merge": lambda: Store(address).copies.merge(root / "pilot.zip"),
    "restore": lambda: Store.restore(root / "pilot.zip", f"{address}_{os.getpid()}"),
}


def done(do, number=0):
    child = os.fork()
    if not child:
        try:
            shim.disk_fail(number, KILLED, ALL, False)
            do()
        finally:
            if sys.exc_info()[0] is None and not number:
                (root / "calls").write_text(str(shim.disk_calls()))
            os._exit(0 if sys.exc_info()[0] is None else 3)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def left():
    words, files = units["text"].iloc[0].encode()[:12], [p for p in work.rglob("*") if p.is_file()]
    return [str(p) for p in files if p.name != "made" and words in p.read_bytes()]


def fresh():
    shutil.rmtree(work, ignore_errors=True)
    (work / "temporary").mkdir(parents=True)


assert done(begin) == 0
found = []
for operation, do in DO.items():
    fresh()
    assert done(do) == 0
    n_calls = int((root / "calls").read_text())
    for part in range(1, 7):
        fresh()
        ended = done(do, max(1, n_calls * part // 7))
        (work / "there" / "made").unlink(missing_ok=True)
        before = left()
        assert done(lambda: Store(address)) == 0
        found.append([operation, ended, bool(before), left(), os.listdir(work / "temporary")])
print(json.dumps(found))
