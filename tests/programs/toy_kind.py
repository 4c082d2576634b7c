# Does everything that a record does with an act of a kind that the package does not have: `star`, which marks
# a text and says why. The package on the path is a copy to which it was added. Prints what came of it.
import json
import sys
import uuid
from pathlib import Path

import pandas as pd

from sense7_qual import acts
from sense7_qual.codebook import Codebook
from sense7_qual.store import Store
from sense7_qual.widgets import CodingWidget

folder, places = Path(sys.argv[1]), sys.argv[2:]
book = Codebook.read("sense7")
theirs = "Yesterday my neighbour Quokkanumbat came over with a cake and stayed."
units = pd.DataFrame(
    {
        "unit_id": ["m1", "m2"],
        "text": ["It listened to me.", theirs],
        "document_id": ["d1", "d2"],
        "case_id": ["p1", "p2"],
        "position": 0,
    }
)


def star(unit_id, text, coder="ana"):
    return acts.star(unit_id=unit_id, text=text, coder=coder, codebook=book)


def through(place):
    store = Store.create(place, units=units, codebook=book)
    stars = [star("m1", "A good one."), star("m2", "Hers."), star("m1", f"As: {theirs}")]
    store.append([*stars, acts.finish(coder="ana", unit_id="m1", codebook=book)])
    store.append([acts.undo(stars[0], codebook=book)])
    standing = [act.act_id for act in acts.standing(store.acts()) if act.kind == "star"]
    result = {"undone": standing == [act.act_id for act in stars[1:]]}
    result["read"] = [act.act_id for act in store.acts(kind="star") if act.kind == "star"] == [
        act.act_id for act in stars
    ]
    store.copies.archive(folder / f"{len(list(folder.iterdir()))}.zip")
    store.forget("p2", why="Withdrew.")
    result["erased"] = [act.text for act in store.acts(kind="star") if act.kind == "star"]
    copy = folder / f"copy{len(list(folder.iterdir()))}"
    store.copies.backup(copy) if "postgresql" not in str(place) else store.copies.archive(
        copy.with_suffix(".zip")
    )
    copied = Store(copy) if copy.exists() else Store.restore(copy.with_suffix(".zip"), copy)
    new = star("m1", "Another good one.")
    copied.append([new])
    result["merged"] = store.copies.merge(copied.path).counts.get("new", 0)
    bundle = folder / f"bundle{len(list(folder.iterdir()))}"
    store.copies.bundle(bundle, texts="withheld", formats=("csv",))
    written = b"".join(file.read_bytes() for file in bundle.rglob("*") if file.is_file())
    result["withheld"] = b"Another good one." not in written and b'"star"' in written
    result["verified"] = bool(store.verify()["ok"].all())
    heard = []
    widget = CodingWidget(store, coder="ana")
    widget.send = lambda content, buffers=None: heard.append(content)

    def ask(**asked):
        widget._receive(widget, {"client": "c", "id": str(uuid.uuid4()), **asked}, [])
        return heard[-1]

    asked = {"kind": "star", "unit_id": "m1", "text": "Fine.", "act_id": str(uuid.uuid4())}
    result["asked"] = ask(type="act", act=asked)["type"]
    rows = ask(type="history", scope="all")["rows"]
    result["history"] = [row["words"] for row in rows if row["kind"] == "star" and row["words"]]
    return result


print(json.dumps([through(folder / "study" if place == "folder" else place) for place in places]))
