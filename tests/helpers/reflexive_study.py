"""A study of one coder without agreement: how its themes moved, with reasons, memos and a position."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from sense7_qual import acts
from sense7_qual.acts.contents import AnalysisPlan
from sense7_qual.codebook import Code, Codebook
from sense7_qual.store import Store
from sense7_qual.themes import Themes

N = 24
FIRST = Codebook(
    name="first",
    title="What it is like",
    codes=(
        Code(id="heard", label="Being heard", definition="Somebody took it in."),
        Code(id="listened", label="Being listened to", definition="It let me finish."),
        Code(id="pushed", label="Pushed", definition="It told me what to do."),
        Code(id="odd", label="Odd", definition="It felt odd."),
    ),
)
PLAN = AnalysisPlan(
    question="What is it like to be answered by a machine?",
    coders=("ana",),
    codebook="open",
    themes=True,
    with_agreement=False,
    n_boot=20,
    answers={"positionality": "A nurse of twenty years."},
)


def reflexive_study(path: Path) -> Store:
    """Make the study: ana reads, codes, revises four times, and works on themes that a model proposed."""
    units = pd.DataFrame(
        {
            "unit_id": [f"m{i}" for i in range(N)],
            "text": [f"It heard me {i} times." for i in range(N)],
            "document_id": [f"d{i}" for i in range(N)],
            "case_id": [f"p{i % 8}" for i in range(N)],
            "position": range(N),
        }
    )
    store = Store.create(path, units=units, codebook=FIRST)
    store.preregister(PLAN, coder="ana")
    _memos_before(store)
    _coded(store, range(10))
    _revised(store)
    _coded(store, range(N))
    _themes(store, units)
    return store


def _memos_before(store: Store) -> None:
    who = {"coder": "ana", "codebook": store.codebook}
    position = "I come to these texts as a nurse who was told to hurry."
    store.append([acts.memo(text=position, target_kind="study", **who)])


def _coded(store: Store, rows: range) -> None:
    book = store.codebook
    who = {"coder": "ana", "codebook": book}
    done = []
    for row in rows:
        for place, code in enumerate(book.codable):
            if (row + place) % 3 == 0:
                done.append(acts.apply(unit_id=f"m{row}", code=code.id, start=3, end=8, **who))
        done.append(acts.finish(unit_id=f"m{row}", **who))
    done += [
        acts.memo(text="To be heard is not yet to be answered.", target_kind="code", code="heard", **who),
        acts.memo(
            text="She wrote it twice; is it irony?", unit_id="m0", target_kind="span", start=3, end=5, **who
        ),
        acts.memo(text="A short one.", unit_id="m1", **who),
    ]
    store.append(done)


def _revised(store: Store) -> None:
    """Two codes become one, it gets a heading, one is defined anew, one goes, one comes."""
    care = Code(id="care", label="Care", codable=False)
    heard, _, pushed, odd = FIRST.codes
    steps: list[tuple[tuple[Code, ...], str, dict[str, object]]] = [
        ((heard, pushed, odd), "Nobody told them apart.", {"merged": {"listened": "heard"}}),
        ((care, replace(heard, label="Heard", parent="care"), pushed, odd), "Both are about care.", {}),
        (
            (
                care,
                replace(heard, label="Heard", parent="care"),
                replace(pushed, definition="It hurried me."),
            ),
            "Odd was a name for not knowing.",
            {},
        ),
        (
            (
                care,
                replace(heard, label="Heard", parent="care"),
                replace(pushed, definition="It hurried me."),
                Code(id="alone", label="Left alone", definition="It stopped.", parent="care"),
            ),
            "Seen in five texts.",
            {},
        ),
    ]
    for codes, why, told in steps:
        store.revise(replace(FIRST, codes=codes), why=why, coder="ana", **told)  # type: ignore[arg-type]


def _themes(store: Store, units: pd.DataFrame) -> None:
    store.record_themes(_run(units), coder="ana")
    store.edit_theme(0, name="Haste", coder="ana", why="They all count minutes.")
    store.edit_theme(1, merge_into=0, coder="ana", why="Waiting is haste from the other side.")
    store.edit_theme(2, dismissed=True, coder="ana", why="A theme of spelling.")
    store.edit_theme(0, code="pushed", coder="ana", why="It is what Pushed means.")


def _run(units: pd.DataFrame) -> Themes:
    theme = [row % 4 for row in range(N)]
    assignments = pd.DataFrame(
        {"unit_id": units["unit_id"], "theme": theme, "similarity": 0.5, "coarse": theme, "sub": theme}
    )
    summary = pd.DataFrame({"theme": range(4), "stability": 0.8, "dissolved": 0.1, "recovered": 0.7})
    levels = [
        pd.DataFrame({"level": one, "group": range(4), "stability": 0.6})
        for one in ("coarse", "theme", "sub")
    ]
    return Themes(
        assignments=assignments,
        terms=pd.DataFrame(),
        summary=summary,
        quotes=pd.DataFrame(),
        parameters={"seed": 3, "stop_words": "english"},
        hierarchy=pd.concat(levels, ignore_index=True),
        granularities=pd.DataFrame({"granularity": [1.0], "ari": [np.nan], "chosen": [True]}),
    )


__all__ = ["PLAN", "reflexive_study"]
