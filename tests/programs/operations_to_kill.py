# Forks a worker for each line on its input ("seed file"): it does one operation after another on a study,
# drawn by the seed, and writes a line into the file right after each that returned: what it was, and what it
# promised. All that is written beside the study goes into the folder of copies. A worker is killed at any
# moment.
import itertools
import os
import random
import sys
import traceback
import uuid
from dataclasses import replace
from pathlib import Path

from openpyxl import load_workbook

from sense7_qual import acts, exchange, rounds
from sense7_qual.acts.contents import AnalysisPlan
from sense7_qual.store import Store

STUDY, COPIES = Path(sys.argv[1]), Path(sys.argv[2])
PLAN = AnalysisPlan(question="What is said?", settled_by="nothing", with_agreement=False, n_boot=20)
for name in ("report", "bundle"):  # imported once, before forking
    __import__({"report": "sense7_qual.report", "bundle": "sense7_qual.store._bundle"}[name])


def batch(store, coder, dice, round=None):
    units = dice.sample(list(store.units["unit_id"]), 3)
    who = {"coder": coder, "codebook": store.codebook, "round": round}
    made = [
        acts.apply(unit_id=unit, code="interest", start=0, end=dice.randint(1, 9), **who) for unit in units
    ]
    return [*made, acts.finish(unit_id=units[0], **who)]


def append(store, dice):
    done = batch(store, "ana", dice)
    store.append(done)
    return [act.act_id for act in done]


def merge(store, dice):
    place = COPIES / str(uuid.uuid4())
    store.copies.backup(place)
    copy = Store(place)
    done = batch(copy, "ben", dice)
    copy.append(done)
    store.copies.merge(place, coders=["ben"])  # named, as after any hand-out
    return [act.act_id for act in done]


def forget(store, dice):
    case = dice.choice(sorted(set(store.units["case_id"])))
    store.forget(case, why="Withdrew.")
    return [case]


def bundle(store, dice):
    place = COPIES / str(uuid.uuid4())
    store.copies.bundle(place, texts="withheld", analysis_plan=PLAN, formats=("csv",))
    return [place]


def archive(store, dice):
    place = COPIES / f"{uuid.uuid4()}.zip"
    store.copies.archive(place)
    return [place]


def backup(store, dice):
    place = COPIES / str(uuid.uuid4())
    store.copies.backup(place)
    return [place]


def revise(store, dice):
    book = store.codebook
    new = replace(book.codes[0], definition=f"Said {dice.random()}.")
    made = store.revise(replace(book, codes=(new, *book.codes[1:])), why="It was vague.", coder="lead")
    return [made.fingerprint]


def hand_out(store, dice):
    name, place = f"r{uuid.uuid4().hex[:8]}", COPIES / str(uuid.uuid4())
    units = dice.sample(list(store.units["unit_id"]), 3)
    lead = {"coder": "lead", "codebook": store.codebook}
    store.append([rounds.open_round(name, units=units, coders=["cy"], **lead)])
    store.copies.hand_out(name, "cy", place)
    copy = Store(place)
    who = {"coder": "cy", "codebook": copy.codebook, "round": name}
    done = [acts.apply(unit_id=unit, code="interest", **who) for unit in units]
    done += [acts.finish(unit_id=unit, **who) for unit in units]
    copy.append(done)
    store.copies.merge(place)
    return [act.act_id for act in done]


def hand_in(store, dice):
    name, place = f"r{uuid.uuid4().hex[:8]}", COPIES / str(uuid.uuid4())
    units = dice.sample(list(store.units["unit_id"]), 3)
    lead = {"coder": "lead", "codebook": store.codebook}
    store.append([rounds.open_round(name, units=units, coders=["dee"], **lead)])
    out, back = place.with_suffix(".out.zip"), place.with_suffix(".back.zip")
    store.copies.hand_out(name, "dee", out)
    copy = Store.restore(out, place)
    who = {"coder": "dee", "codebook": copy.codebook, "round": name}
    done = [acts.finish(unit_id=unit, **who) for unit in units]
    copy.append(done)
    copy.copies.hand_in(back)
    store.copies.merge(back)
    return [act.act_id for act in done]


def sheet(store, dice):
    name, folder = f"r{uuid.uuid4().hex[:8]}", COPIES / str(uuid.uuid4())
    units = dice.sample(list(store.units["unit_id"]), 3)
    lead = {"coder": "lead", "codebook": store.codebook}
    store.append([rounds.open_round(name, units=units, coders=["eve"], **lead)])
    (path,) = exchange.write_coding_sheets(store, folder, round=name, coders=["eve"])
    book = load_workbook(path)
    rows = book["coding"]
    columns = {cell.value: cell.column for cell in rows[2]}
    for row in range(3, rows.max_row + 1):
        for column in ("Interest", "finished"):
            rows.cell(row, columns[column]).value = 1
    book.save(path)
    done = exchange.read_coding_sheets(store, path)
    store.append(done)
    again = exchange.read_coding_sheets(store, path)
    assert len(done) >= 2 * len(units), len(done)
    assert not again, len(again)
    return [act.act_id for act in done]


def two_computers(store, dice):
    place = COPIES / str(uuid.uuid4())
    store.copies.backup(place)
    copy = Store(place)
    done = batch(copy, "ana", dice)
    copy.append(done)
    here = batch(store, "ana", dice)
    store.append(here)
    store.copies.merge(place, coders=["ana"])
    copy.copies.merge(store, coders=sorted({act.coder for act in store.acts()}))
    assert [act.act_id for act in copy.acts()] == [act.act_id for act in store.acts()]
    return [act.act_id for act in [*done, *here]]


OFTEN = [append] * 3 + [merge, forget, bundle, archive, backup, revise, hand_out]
OFTEN += [hand_in, hand_in, sheet, sheet, two_computers]


def work(seed, file):
    dice, store = random.Random(seed), Store(STUDY)
    said = os.open(file, os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o600)
    for _ in itertools.count():
        operation = dice.choice(OFTEN)
        if operation is forget and store.units["case_id"].nunique() < 4:
            continue
        if operation is bundle and store.coverage().empty:
            continue
        os.write(said, f"begin {operation.__name__}\n".encode())
        promised = operation(store, dice)
        os.write(said, f"{operation.__name__} {' '.join(map(str, promised))}\n".encode())


for line in sys.stdin:
    seed, file = line.split()
    child = os.fork()
    if not child:
        try:
            work(int(seed), file)
        finally:
            traceback.print_exc()
            os._exit(1)
    print(child, flush=True)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
