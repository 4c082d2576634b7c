# Does one operation over and over on a fresh copy of a study, each time with another of the calls that change
# the disk failing: nine calls for each kind of fault, or in the long version every call for each. A fault
# is either that one call, or that and all later ones until the disk is mended (the first write then cut
# short), or SIGKILL there (in the long version also after half of the write). Tells for each what happened,
# as JSON.
import ctypes
import errno
import itertools
import json
import os
import random
import re
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pyarrow as pa

from sense7_qual import acts
from sense7_qual.codebook import Code, Codebook
from sense7_qual.errors import StoreError
from sense7_qual.store import Store
from sense7_qual.store._stored import study_notes
from tests.helpers.disk import CHANGES, KILLED, RMDIR, TRUNCATE, UNLINK, another_computer

pa.set_cpu_count(1)  # what is read has two rows
root, operation, sentinel, thorough = Path(sys.argv[1]), sys.argv[2], sys.argv[3], sys.argv[4] == "True"
shim = ctypes.CDLL(None)
fail_at, base, work = shim.disk_fail, root / "base", root / "work"
CODEBOOK = Codebook(name="small", codes=(Code(id="interest", label="Interest"),))
REVISED = replace(CODEBOOK, codes=(*CODEBOOK.codes, Code(id="warmth", label="Warmth")))
units = pd.DataFrame(
    {
        "unit_id": ["m1", "m2"],
        "text": [f"It listened to me. {sentinel} " * 20, "Theirs: Numbat. " * 40],
        "document_id": ["d1", "d2"],
        "case_id": ["p1", "p2"],
        "position": 0,
    }
)
FULL = sum(
    1 << kind for kind in CHANGES if kind not in (TRUNCATE, UNLINK, RMDIR)
)  # a full disk still deletes
ALL = sum(1 << kind for kind in CHANGES)
N_CALLS = 9


def batch(coder, size, unit_id="m1"):
    return [
        acts.apply(coder=coder, unit_id=unit_id, code="interest", start=i, end=i + 200, codebook=CODEBOOK)
        for i in range(size)
    ]


def holding(word):  # the files of the study that do
    return [p.name for p in (work / "pilot").rglob("*") if p.is_file() and word in p.read_bytes()]


def ids(path):
    return {act.act_id for act in Store(path).acts()}


def whole(path):
    return problems_of(Store(path))


def problems_of(store):
    report = store.verify()
    return "; ".join(report["file"][~report["ok"]] + ": " + report["problem"][~report["ok"]])


class Append:
    def __init__(self, coder, size):
        self.acts = batch(coder, size)

    def do(self, store):
        store.append(self.acts)

    def done(self):
        return ids(work / "pilot") >= {act.act_id for act in self.acts}


class Merge:
    def do(self, store):
        store.copies.merge(work / "copy")

    def done(self):
        return ids(work / "pilot") >= APART


class Revise:
    def do(self, store):
        store.revise(REVISED, why="A second code.", coder="ana")

    def done(self):
        return Store(work / "pilot").codebook == REVISED


class Forget:
    def do(self, store):
        store.forget("p2", why="They asked for it.")

    def done(self):
        return list(Store(work / "pilot").units["case_id"]) == ["p1"] and not holding(b"Numbat")


class Make:
    target = work / "there" / "made"

    def done(self):
        return self.target.exists() and not whole(self.target)


class Create(Make):
    def do(self, store):
        Store.create(self.target, units=units, codebook=CODEBOOK)


class Restore(Make):
    def do(self, store):
        Store.restore(work / "pilot.zip", self.target)

    def done(self):
        return super().done() and ids(self.target) == BEFORE


def noted(target):  # whether the study knows of a copy, so that a withdrawal can name it
    return str(target) in [copy.place for copy in study_notes.notes(work / "pilot", study_notes.Copy)]


class Backup(Restore):
    def do(self, store):
        store.copies.backup(self.target)

    def done(self):
        return super().done() and noted(self.target)


class Archive(Make):
    def do(self, store):
        store.copies.archive(self.target)

    def done(self):
        same = self.target.exists() and self.target.read_bytes() == (base / "pilot.zip").read_bytes()
        return same and noted(self.target)


OPERATIONS = {
    "first append": lambda: Append("ben", 1),
    "batch": lambda: Append("ana", 60),
    "create": Create,
    "merge": Merge,
    "revise": Revise,
    "backup": Backup,
    "archive": Archive,
    "restore": Restore,
    "forget": Forget,
}


def fault(number, error, kinds, lasting):
    shutil.rmtree(work, ignore_errors=True)
    shutil.copytree(base, work)
    another_computer()
    each, store, message, problems = OPERATIONS[operation](), Store(work / "pilot"), "", []
    if error == KILLED:
        n_calls = killed(each, store, number, lasting)
    else:
        fail_at(number, error, kinds, lasting)
        try:
            each.do(store)
        except StoreError as refused:
            message = str(refused)
        finally:
            n_calls = shim.disk_calls()
            fail_at(0, 0, 0, 0)
    after = Store(work / "pilot")
    gone = BEFORE - {act.act_id for act in after.acts()}
    if gone:
        problems.append(f"{len(gone)} acts are lost")
    clear = re.search("expected .* – found .* – |reported as saved is safe", message, re.S)
    if message and (sentinel in message or not clear):
        problems.append(f"unclear: {message}")
    interrupted = message or error == KILLED
    if not interrupted and not each.done():
        problems.append("acknowledged and not done")
    problem = problems_of(after)
    # A withdrawal is noted before anything is erased; when it is interrupted, verify asks for it again.
    if problem and not (interrupted and operation == "forget" and "call store.forget again" in problem):
        problems.append(problem)
    left = [
        p.relative_to(work).as_posix()
        for p in work.rglob("*")
        if p.name.startswith(".") or p.name.endswith("-journal")
    ]
    if kinds == FULL and left:
        problems.append(f"left behind: {left}")
    if interrupted and not each.done():
        if isinstance(each, Make) and each.target.exists():
            problems.append("is there and not done")  # half, or a copy that the study does not know of
        each.do(store)
        if not each.done() or whole(work / "pilot"):
            problems.append("does not work again")
    # A second name of an acts file is no second copy of its words: what is erased there is gone here.
    left = [p for p in work.rglob(".*") if p.is_dir() or p.stat().st_nlink == 1]
    left = [
        p.name
        for p in left
        if (set(os.listdir(p)) - {".lock"} if p.is_dir() else sentinel.encode() in p.read_bytes())
    ]
    if error == KILLED and left:
        problems.append(f"texts are left behind: {left}")
    return n_calls, message, problems


def killed(each, store, number, lasting):  # the number, or 0 where the process ended before that call
    child = os.fork()
    if not child:
        try:
            fail_at(number, KILLED, ALL, lasting)
            each.do(store)
        finally:
            os._exit(0 if sys.exc_info()[0] is None else 3)
    return number if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) else 0


store = Store.create(base / "pilot", units=units, codebook=CODEBOOK)
store.append(batch("ana", 5))
store.append(batch("ana", 2, "m2"))
store.copies.backup(base / "copy")
copy = Store(base / "copy")
copy.append(batch("ana", 3))
copy.append(batch("cy", 3))
store.append(batch("ana", 2))
store.copies.archive(base / "pilot.zip")
BEFORE, APART, found = ids(base / "pilot"), ids(base / "copy"), []
if thorough:
    both = itertools.product([(errno.ENOSPC, FULL), (errno.EIO, ALL), (KILLED, ALL)], [True, False])
    faults = [(*each, lasting, itertools.count(1)) for each, lasting in both]
else:  # some of each third of the calls: the first, fourth … find a full disk, others an error or a kill
    three = [(errno.ENOSPC, FULL, True), (errno.EIO, ALL, False), (KILLED, ALL, False)]
    dice, faults = random.Random(7), []
    for first, each in enumerate(three, start=1):
        calls = range(first, fault(0, 0, each[1], False)[0] + 1, 3)
        faults.append((*each, sorted(dice.sample(calls, min(N_CALLS, len(calls))))))
for error, kinds, lasting, numbers in faults:
    for number in numbers:
        n_calls, message, problems = fault(number, error, kinds, lasting)
        if n_calls < number:
            break
        found.append([errno.errorcode.get(error, "KILLED"), lasting, number, message, problems])
print(json.dumps(found))
