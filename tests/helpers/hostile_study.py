"""A study with hostile strings in every field that somebody can write in, over 200 of them in all."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pandas as pd

from sense7_qual import acts, rounds
from sense7_qual.acts import ANSWERS, Act
from sense7_qual.acts.contents import AnalysisPlan
from sense7_qual.codebook import Code, Codebook
from sense7_qual.store import Store
from tests.helpers.hostile_strings import two_hundred

STRINGS = two_hundred()
LINES = [one for one in STRINGS if one.isprintable() and one == one.strip()]  # what a name of one line may be
TYPED = [
    one for one in STRINGS if not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f]", one)
]  # no control characters
EVERYTHING = " ".join(TYPED)
N_CODES = 6


def shares(n: int, strings: list[str]) -> list[str]:
    """Return the strings as n texts, each a part of them."""
    return [" ".join(strings[i::n]) for i in range(n)]


def book() -> Codebook:
    """Every string in every field of a codebook."""
    parts = list(zip(*(shares(N_CODES, TYPED) for _ in range(4)), strict=True))
    names = [" ".join(one.split())[:190] for one in shares(N_CODES, LINES)]
    codes = tuple(
        Code(
            id=f"c{i}",
            label=names[i],
            definition=parts[i][0],
            source=parts[i][1],
            rules_source=parts[i][2],
            use_when=tuple(TYPED[i::N_CODES]),
            avoid_when=tuple(TYPED[i::N_CODES]),
            examples=tuple(TYPED[i::N_CODES]),
            counter_examples=tuple(TYPED[i::N_CODES]),
        )
        for i in range(N_CODES)
    )
    return Codebook(name="hostile", title=EVERYTHING, description=EVERYTHING, source=EVERYTHING, codes=codes)


def units() -> pd.DataFrame:
    """A text, a participant, a condition and a column's name of each string."""
    n = len(STRINGS)
    names = [" ".join(one.split()) for one in LINES]
    return pd.DataFrame(
        {
            "unit_id": [f"{i} {names[i % len(names)]}" for i in range(n)],
            "text": STRINGS,
            "document_id": [f"{i} {names[i % len(names)]}" for i in range(n)],
            "case_id": [names[i % 40] for i in range(n)],
            "position": range(n),
            '=1+1"</b>\\input{x}': [names[i % 12] for i in range(n)],
            "rating <b> & _%": [i % 5 + 1 for i in range(n)],
            "said": STRINGS,
        }
    )


def hostile_study(path: Path) -> Store:
    """Make the study: planned, coded by two, ruled, revised, with memos and proposals."""
    table, codes = units(), book()
    store = Store.create(path, units=table, codebook=codes)
    plan = AnalysisPlan(
        question=EVERYTHING,
        hypotheses=tuple(TYPED),
        answers=dict.fromkeys(ANSWERS, EVERYTHING),
        n_boot=2,
        rating="rating <b> & _%",
    )
    store.preregister(plan, coder="lead")
    ids, named = table["unit_id"].tolist(), {"coder": "lead", "codebook": codes}
    name = "=1+1 \\x <b>{0} שלום"
    store.append([rounds.open_round(name, units=ids, coders=["ana", "ben"], **named)])
    for coder, every in (("ana", 2), ("ben", 3)):
        store.append(_done(coder, ids, codes, every=every, round=name))
    store.append([rounds.unblind(name, **named)])
    decided = store.decisions().pivot_table(index=["unit_id", "code"], columns="coder", values="applied")
    differ = decided[decided["ana"] != decided["ben"]].index[:40]
    store.append(
        [
            acts.rule(unit_id=unit, code=code, applied=True, reason="slip", note=note, **named)
            for note, (unit, code) in zip(STRINGS, differ, strict=False)
        ]
    )
    changed = replace(codes, codes=(*codes.codes[:-1], replace(codes.codes[-1], label="= new <i>")))
    store.revise(changed, why=EVERYTHING, coder="lead")
    return store


def _done(coder: str, ids: list[str], codes: Codebook, *, every: int, round: str) -> list[Act]:
    batch: list[Act] = []
    for place, unit in enumerate(ids):
        mine = {"coder": coder, "codebook": codes}
        if place % every == 0:
            code = codes.codes[place % N_CODES].id
            batch.append(acts.apply(code=code, unit_id=unit, round=round, **mine))
        batch.append(acts.finish(unit_id=unit, round=round, **mine))
        text = STRINGS[place % len(STRINGS)]
        if every == 2:
            batch.append(acts.memo(text=text, unit_id=unit, **mine))
        elif place % 10 == 0:
            batch.append(acts.memo(text=text, target_kind="code", code=codes.codes[place % 4].id, **mine))
    batch.append(acts.memo(text=EVERYTHING, target_kind="study", **mine))
    batch.append(acts.propose(label=LINES[3], definition=EVERYTHING[:1000], unit_id=ids[0], **mine))
    return batch
