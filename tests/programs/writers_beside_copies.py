# Forks a writer for each line of its input: "<file> <what> <seed>", and says how each ended. One codes as the
# coder that it is named after and says the ids of each batch right after `append` returned; the others make
# copies of the study and take them in, and let participants withdraw.
import itertools
import os
import random
import sys
import uuid
import warnings
from pathlib import Path

from sense7_qual import acts
from sense7_qual.errors import ActError, StoreError
from sense7_qual.store import Store

root = Path(sys.argv[1])


def code(coder, dice, say):
    store = Store(root / "pilot")
    for number in itertools.count():
        size = (1, 1, 7)[number % 3]
        case = dice.randrange(int(sys.argv[2]))
        named = {"coder": coder, "unit_id": f"m{case}", "codebook": store.codebook}
        batch = [acts.apply(code="interest", start=i, end=i + 60, **named) for i in range(size)]
        batch.append(acts.memo(text="Numbat!" if case else "Nothing.", **named))
        try:
            store.append(batch)
        except ActError:  # of somebody who has withdrawn
            store = Store(root / "pilot")
            continue
        say(" ".join(act.act_id for act in batch))


def copy(_, dice, say):
    store = Store(root / "pilot")
    there = root / "copies"
    while True:
        target = there / str(uuid.uuid4())
        say(target.name)
        what = dice.choice(["backup", "archive", "restore", "merge"])
        done = [path for path in there.iterdir() if not path.name.startswith(".")] if there.exists() else []
        try:
            if what in ("backup", "archive"):
                getattr(store.copies, what)(target)
            elif done and what == "merge":
                store.copies.merge(dice.choice(done))
            elif zips := [path for path in done if path.is_file()]:
                Store.restore(dice.choice(zips), target)
        except StoreError as error:
            if "withdr" not in str(error) and "sound" not in str(error):
                raise


def forget(_, dice, say):
    store = Store(root / "pilot")
    while True:
        case = f"p{dice.randrange(1, int(sys.argv[2]))}"
        say(case)
        try:
            store.forget(case, why="They asked for it.")
        except StoreError as error:
            if "expected a participant" not in str(error):
                raise


warnings.simplefilter("ignore")
Store(root / "pilot").verify()  # imports what each child would import again
for line in sys.stdin:
    children = []
    for each in line.strip().split(";"):
        path, what, seed = each.split()
        child = os.fork()
        if not child:
            try:
                said = os.open(path, os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o600)
                do = {"copy": copy, "forget": forget}.get(what, code)
                do(what, random.Random(int(seed)), lambda line: os.write(said, f"{line}\n".encode()))
            except BaseException:
                import traceback

                traceback.print_exc()
            finally:
                os._exit(1)
        children.append(child)
    print(*children, flush=True)
    print(*[os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children], flush=True)
