"""A study whose first two coders disagree on every text, for the browser tests of settling."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

import sense7_qual as qual
from sense7_qual import acts, rounds


def disputed(folder: Path, texts: list[str]) -> qual.Store:
    """Make a study whose first two coders disagree on one code of each text, in a round that is unblinded."""
    n = len(texts)
    units = pd.DataFrame(
        {"unit_id": [f"t{at:02}" for at in range(n)], "text": texts, "document_id": "d1",
         "case_id": [f"p{at % 7}" for at in range(n)], "position": range(n),
         "context": '[{"role": "user", "text": "Before it."}]'}
    )  # fmt: skip
    book = qual.Codebook.read("sense7")
    store = qual.Store.create(folder, units=units, codebook=book)
    ids, codes = units["unit_id"].tolist(), [code.id for code in book.codable]
    opened = {"units": ids, "coders": ["anabel", "benno"], "coder": "chair", "codebook": book}
    store.append([rounds.open_round("one", **opened)])
    for at, unit_id in enumerate(ids):
        named = {"unit_id": unit_id, "codebook": book, "round": "one"}
        span = {"start": 0, "end": min(6, len(texts[at]))} if at % 2 else {}
        store.append([acts.apply(code=codes[at % 3], coder="anabel", **named, **span)])
        store.append([acts.finish(coder=coder, **named) for coder in ("anabel",)])
        store.append([acts.finish(coder="benno", **named)])
    store.append([rounds.unblind("one", coder="chair", codebook=book)])
    return store


def sentences(n: int) -> list[str]:
    return [f"It listened to me {at} times 👍🏽 and then it lectured me." for at in range(n)]
