# Does an operation for each line of its input, is interrupted in it or after it, and tells what happened. The
# exception is kept, as IPython keeps it: what its frames hold is not given free. Then the same must work.
import itertools
import json
import sys
import time
from dataclasses import replace
from pathlib import Path

import pandas as pd

from sense7_qual import acts
from sense7_qual.codebook import Code, Codebook
from sense7_qual.store import Store
from sense7_qual.store._stored import acts_files

acts_files.PRAGMAS["busy_timeout"] = 200  # a lock that is left shows at once
root, n_cases = Path(sys.argv[1]), int(sys.argv[2])
CODEBOOK = Codebook(name="small", codes=(Code(id="interest", label="Interest"),))
units = pd.DataFrame(
    {
        "unit_id": [f"m{i}" for i in range(n_cases)],
        "text": [f"It listened to me, said number {i}." for i in range(n_cases)],
        "document_id": [f"d{i}" for i in range(n_cases)],
        "case_id": [f"p{i}" for i in range(n_cases)],
        "position": 0,
    }
)
store = Store.create(root / "pilot", units=units, codebook=CODEBOOK)
store.copies.backup(root / "copy")
copy, versions, kept, acknowledged, gone = Store(root / "copy"), itertools.count(), None, set(), 0


def batch(coder, n):
    named = {"coder": coder, "unit_id": f"m{n_cases - 1}", "codebook": CODEBOOK}
    return [acts.apply(code="interest", start=i, end=i + 9, **named) for i in range(n)]


def append():
    wanted = batch("ana", 5)
    return lambda: store.append(wanted), lambda: {act.act_id for act in wanted}


def merge():
    wanted = [act for coder in ("ana", "ben") for act in batch(coder, 3)]
    copy.append(wanted[:3])
    copy.append(wanted[3:])
    return lambda: store.copies.merge(copy), lambda: {act.act_id for act in wanted}


def revise():
    name = f"version {next(versions)}"

    def do():
        opened = Store(store.path)
        if opened.codebook.name != name:
            opened.revise(replace(opened.codebook, name=name), why="Another name.", coder="ana")

    def done():
        assert Store(store.path).codebook.name == name
        return set()

    return do, done


def forget():
    case_id = f"p{gone}"

    def done():
        found = Store(store.path)
        assert case_id not in set(found.units["case_id"])
        return set()

    return lambda: store.forget(case_id, why="They asked for it."), done


def check():
    lost = acknowledged - {act.act_id for act in store.acts()}
    report = store.verify()
    return [len(lost), "; ".join(report["problem"][~report["ok"]])]


for line in sys.stdin:
    operation = line.strip()
    if operation == "check":
        print(json.dumps(check()), flush=True)
        continue
    do, done = {"append": append, "merge": merge, "revise": revise, "forget": forget}[operation]()
    took = None
    try:
        print("go", flush=True)
        begin = time.perf_counter()
        do()
        took = time.perf_counter() - begin
        time.sleep(60)
    except KeyboardInterrupt as error:
        kept = error
    left = [path.name for path in root.rglob("*") if path.name[0] == "." or path.name.endswith("-journal")]
    store.append(batch("cy", 1))  # nothing is locked
    if took is None:
        do()
    acknowledged |= done()
    gone += operation == "forget"
    print(json.dumps([took, left]), flush=True)
