"""A study that does what it had registered, or departs from it in one way: what `report.deviations` reads."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from sense7_qual import acts, rounds
from sense7_qual.acts.contents import AnalysisPlan
from sense7_qual.codebook import Code
from sense7_qual.store import Store
from sense7_qual.themes import Themes
from tests.helpers.reviewed_study import BOOK, CODERS, N_CASES, N_SHARED, N, study

PLAN = AnalysisPlan(
    question="What do people say of it?",
    coders=CODERS,
    rounds=("one",),
    n_units=N,
    n_participants=N_CASES,
    double_coded=N_SHARED / N,
    n_repeated=0,
    level="unit",
    codebook="fixed",
    blind=True,
    new_codes="propose",
    rating_shown="hidden",
    suggestions="never",
    themes=False,
    discussion=False,
    settled_by="rulings",
    coding_until="2026-03-02",
    min_alpha=0.667,
)

LATER = "2026-03-02T22:00:00.000Z"
BEFORE = "2026-03-01T10:00:00.000Z"
NAMED: dict[str, Any] = {"coder": "lead", "codebook": BOOK}


def planned_study(path: Path, *, seed: int = 0, deviation: str | None = None) -> Store:
    """Make the study with the plan that it keeps, or with `deviation`, one of `DEVIATIONS`."""
    if deviation is None:
        return study(path, seed=seed, plan=PLAN)
    if deviation in ("registered_late", "registered_after_unblinding"):
        store = study(path, seed=seed)
        store.append([acts.preregister(PLAN, **NAMED)])
        return store
    planned, flaw = PLANNED_ELSE.get(deviation, {}), FLAW.get(deviation)
    store = study(path, seed=seed, flaw=flaw, plan=replace(PLAN, **planned))
    if deviation in AFTERWARDS:
        AFTERWARDS[deviation](store)
    return store


#: What the plan says that the study does not do.
PLANNED_ELSE: dict[str, dict[str, Any]] = {
    "fewer_texts": {"n_units": 200},
    "more_texts": {"n_units": 150},
    "fewer_participants": {"n_participants": 50},
    "more_participants": {"n_participants": 30},
    "fewer_repeated": {"n_repeated": 10},
    "coder_missing": {"coders": (*CODERS, "dora")},
    "round_missing": {"rounds": ("one", "two")},
    "level": {"level": "span"},
    "suggestions_missing": {"suggestions": "finished"},
    "themes_missing": {"themes": True},
    "discussion_missing": {"discussion": True},
    "settled_otherwise": {"settled_by": "majority"},
    "coded_late": {"coding_until": "2026-03-01"},
    "new_codes_otherwise": {"new_codes": "add"},
}

#: What the study does as one with a flaw.
FLAW = {
    "fewer_double_coded": "overlap_small",
    "suggestions_otherwise": "suggestions_first",
    "left_unsettled": "unsettled",
    "alpha_missed": "low_agreement",
    "unblinded_early": "unfinished",
    "coder_added": "coder_is_participant",
}


def _revised(**changed: Any) -> Callable[[Store], None]:
    def revise(store: Store) -> None:
        first = replace(BOOK.codes[0], **changed)
        store.revise(replace(BOOK, codes=(first, *BOOK.codes[1:])), why="It was not clear.", coder="lead")

    return revise


def _added(store: Store) -> None:
    new = Code(id="hope", label="Hope", definition="Looks forward.")
    store.revise(replace(BOOK, codes=(*BOOK.codes, new)), why="It was missing.", coder="lead")


def _merged(store: Store) -> None:
    store.revise(replace(BOOK, codes=BOOK.codes[1:]), merged={"c0": "c1"}, why="Alike.", coder="lead")


def _retired(store: Store) -> None:
    store.revise(replace(BOOK, codes=BOOK.codes[1:]), why="Not needed.", coder="lead")


def _amended(store: Store) -> None:
    store.append([acts.preregister(replace(PLAN, n_units=100), at=LATER, **NAMED)])


def _another_round(store: Store) -> None:
    store.append([rounds.open_round("extra", units=["m150"], coders=["ana"], at=LATER, **NAMED)])


def _discussed(store: Store) -> None:
    named = {"units": ["m1"], "coders": ["ana", "ben"], "discusses": "one"}
    store.append([rounds.open_round("talk", **named, at=LATER, **NAMED)])


def _rating_shown(store: Store) -> None:
    settled = {"kind": "set_options", "text": '{"rating": "shown"}'}
    store.append([acts.Act(**settled, **acts.stamp("lead", BOOK, None, "2026-03-02T11:00:00.000Z"))])


def _themes(store: Store) -> None:
    placed = {"theme": 0, "similarity": 0.7, "coarse": 0, "sub": 0}
    found = Themes(
        terms=pd.DataFrame(),
        quotes=pd.DataFrame(),
        parameters={"seed": 0},
        summary=pd.DataFrame({"theme": [0], "stability": 0.8, "dissolved": 0.0, "recovered": 0.9}),
        assignments=pd.DataFrame({"unit_id": ["m0", "m1"], **placed}),
        hierarchy=pd.DataFrame({"level": ["theme"], "group": [0], "stability": [0.8]}),
    )
    store.record_themes(found, coder="lead")


AFTERWARDS: dict[str, Callable[[Store], None]] = {
    "amended": _amended,
    "codes_added": _added,
    "codes_redefined": _revised(definition="Something else altogether."),
    "codes_merged_or_split": _merged,
    "codes_retired": _retired,
    "codes_reworded": _revised(label="Nought"),
    "round_added": _another_round,
    "discussion_added": _discussed,
    "rating_otherwise": _rating_shown,
    "themes_added": _themes,
}

DEVIATIONS = ("registered_late", "registered_after_unblinding", *PLANNED_ELSE, *FLAW, *AFTERWARDS)
