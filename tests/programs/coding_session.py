# A session of work, as a process of its own: a study is made in a new folder, two coders code, one of
# them in a copy as well, which is merged; the codebook is revised; a third works on a hand-out and hands
# it in, a fourth in a coding sheet; the study is archived and restored; a participant withdraws, and the
# copy, which still has their words, is merged once more. Each step is acknowledged in a line of JSON
# right after it returned. `round` names a batch and its size, so that a torn one would show.
import json
import os
import random
import sys
import uuid
from dataclasses import replace
from pathlib import Path

import pandas as pd
from openpyxl import load_workbook

from sense7_qual import acts, exchange
from sense7_qual.codebook import Code, Codebook
from sense7_qual.store import Store
from sense7_qual.store._stored import acts_files

root, seed, n_batches = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
acts_files.PRAGMAS["synchronous"] = int(sys.argv[4])
dice = random.Random(seed)
CODEBOOK = Codebook(name="small", codes=(Code(id="interest", label="Interest"),))
TEXTS = ["It listened to me, mostly. " * 40, "Quokka! " * 130]
said = os.open(root / "acknowledged", os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o600)


def say(step, **what):
    os.write(said, (json.dumps({"step": step, **what}) + "\n").encode())


def code(store, coder, *, is_said=True):
    size = dice.choice((1, 1, 1, 7, 30))
    name, named = f"{uuid.uuid4()}-{size}", {"coder": coder, "codebook": store.codebook}
    there = list(store.units["unit_id"])
    batch = [
        acts.apply(
            unit_id=dice.choice(there),
            code="interest",
            start=(at := dice.randrange(500)),
            end=at + dice.randrange(15, 500),
            round=name,
            **named,
        )
        for _ in range(size)
    ]
    if dice.random() < 0.2 and "m19" in there:  # of more than one page
        batch.append(acts.memo(unit_id="m19", text="Quokka, they said. " * dice.randrange(600), **named))
    store.append(batch)
    ids = [act.act_id for act in batch]
    if is_said:
        say("append", study=str(store.path.relative_to(root)), acts=ids)
    return ids


def handed_in(store, coder):
    out, back = root / "copies" / f"{coder}.zip", root / "copies" / f"{coder}-back.zip"
    store.copies.hand_out(None, coder, out)
    say("hand_out", file=f"copies/{coder}.zip")
    home = Store.restore(out, root / coder)
    made = [act_id for _ in range(2) for act_id in code(home, coder, is_said=False)]
    home.copies.hand_in(back)
    say("hand_in", file=f"copies/{coder}-back.zip")
    store.copies.merge(back)
    say("merge", study="lab/studies/pilot", acts=made)


def read_sheet(store, coder):
    (path,) = exchange.write_coding_sheets(store, root / "copies" / "sheets", coders=[coder])
    say("sheet", file=f"copies/sheets/{coder}.xlsx")
    book = load_workbook(path)
    rows = book["coding"]
    columns = {cell.value: cell.column for cell in rows[2]}
    for row in range(3, 9):
        for column in ("Interest", "finished"):
            rows.cell(row, columns[column]).value = 1
    book.save(path.with_name("filled in.xlsx"))
    made = exchange.read_coding_sheets(store, path.with_name("filled in.xlsx"))
    store.append(made)
    say("read sheet", study="lab/studies/pilot", acts=[act.act_id for act in made])


units = pd.DataFrame(
    {
        "unit_id": [f"m{i}" for i in range(20)],
        "text": [TEXTS[i > 12] for i in range(20)],
        "document_id": "d1",
        "case_id": ["p2" if i > 12 else "p1" for i in range(20)],
        "position": range(20),
    }
)
store = Store.create(root / "lab" / "studies" / "pilot", units=units, codebook=CODEBOOK)
say("create", study="lab/studies/pilot")
for _ in range(n_batches):
    code(store, dice.choice(("ana", "ana", "ben")))
before = [act.act_id for act in store.acts()]
store.copies.backup(root / "copies" / "pilot")
say("backup", study="copies/pilot", acts=before)
copy = Store(root / "copies" / "pilot")
apart = [act_id for coder in ("ana", "ben", "cy", "ana") for act_id in code(copy, coder)]
code(store, "ana")
store.copies.merge(copy)
say("merge", study="lab/studies/pilot", acts=apart)
revised = replace(CODEBOOK, codes=(*CODEBOOK.codes, Code(id="warmth", label="Warmth")))
store.revise(revised, why="A second code.", coder="ana")
say("revise", study="lab/studies/pilot", codebook=revised.fingerprint)
store.assign(coders=["eve", "fay"], overlap=1.0, seed=1, coder="lead")
handed_in(store, "eve")
read_sheet(store, "fay")
code(store, "ana")
store.copies.archive(root / "copies" / "pilot.zip")
say("archive", file="copies/pilot.zip")
before = [act.act_id for act in store.acts()]
Store.restore(root / "copies" / "pilot.zip", root / "again")
say("restore", study="again", acts=before)
store.forget("p2", why="They asked for it.")
say("forget", study="lab/studies/pilot", acts=before, forgotten=True)
code(store, "ben")
apart = [act_id for coder in ("ana", "dan") for act_id in code(copy, coder)]
store.copies.merge(copy, coders=["ana", "dan"])  # named, since something was handed out
say("merge", study="lab/studies/pilot", acts=apart)
for _ in range(n_batches // 4):
    code(store, dice.choice(("ana", "ben")))
