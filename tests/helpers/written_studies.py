"""Studies of every kind that a text is written of: with and without rounds, coders, agreement, AI."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pandas as pd

from sense7_qual import acts, rounds
from sense7_qual.acts import Act
from sense7_qual.acts.contents import Suggestion
from sense7_qual.codebook import Code, Codebook
from sense7_qual.store import Store
from tests.helpers.hostile_strings import HOSTILE
from tests.helpers.reviewed_study import study

N = 24
BOOK = Codebook(name="book", codes=(Code(id="warm", label="Warmth"), Code(id="cold", label="Coldness")))


def units(n: int = N, *, cases: bool = True) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "unit_id": [f"m{i}" for i in range(n)],
            "text": [f"Words of text {i}." for i in range(n)],
            "document_id": [f"d{i % 12}" for i in range(n)],
            "case_id": [f"p{i % 12}" if cases else None for i in range(n)],
            "position": range(n),
            "Rating": [i % 5 + 1 for i in range(n)],
        }
    )


def empty(path: Path) -> Store:
    """Nobody has coded anything, and texts name no participant."""
    return Store.create(path, units=units(cases=False), codebook=BOOK)


def alone(path: Path) -> Store:
    """One coder, whose codebook grew while coding, with memos, a proposal and texts that were redacted."""
    frame = units()
    frame.loc[:2, "text"] = "It asked [NAME-1] and [EMAIL-2]."
    store = Store.create(path, units=frame, codebook=BOOK)
    book = store.codebook
    store.append(_coded("ana", frame["unit_id"][:8], book, every=2))
    grown = replace(book, codes=(*book.codes, *(Code(id=f"new{i}", label=f"New {i}") for i in range(4))))
    store.revise(grown, why="seen in texts", coder="ana")
    book = store.codebook
    store.append(
        [acts.apply(coder="ana", unit_id=f"m{i}", code=f"new{i % 4}", codebook=book) for i in range(8, 20, 3)]
    )
    store.append(_coded("ana", frame["unit_id"], book, every=3))
    store.append(
        [
            acts.memo(
                coder="ana", text="I come to these texts as a nurse.", target_kind="study", codebook=book
            ),
            acts.memo(coder="ana", text="Close to warm?", target_kind="code", code="cold", codebook=book),
            acts.propose(coder="ana", label="Hope", unit_id="m3", start=0, end=5, codebook=book),
        ]
    )
    return store


def discussed(path: Path) -> Store:
    """Two coders in a blind round, a discussion of it, rulings with reasons, and both readings once."""
    store = Store.create(path, units=units(), codebook=BOOK)
    store.assign(coders=["ana", "ben"], overlap=0.5, coder="lead", seed=3, calibration=4)
    ids = [f"m{i}" for i in range(N)]
    named = {"coder": "lead", "codebook": BOOK}
    store.append([rounds.open_round("one", units=ids, coders=["ana", "ben"], **named)])
    for coder, every in (("ana", 2), ("ben", 3)):
        store.append(_coded(coder, ids, BOOK, every=every, round="one"))
    store.append([rounds.unblind("one", **named)])
    talk = {"units": ids[2:6], "coders": ["ana", "ben"], "discusses": "one"}
    store.append([rounds.open_round("one, discussed", **talk, **named)])
    store.append(_coded("ana", ids[2:6], BOOK, every=3, round="one, discussed"))
    for unit, applied, reason in (
        ("m8", True, "slip"),
        ("m9", False, "unclear_rule"),
        ("m10", None, "different_reading"),
    ):
        store.append([acts.rule(unit_id=unit, code="warm", applied=applied, reason=reason, **named)])
    return store


def suggested(path: Path) -> Store:
    """Two coders who never differ, and were shown what a model suggests: after finishing, or before."""
    store = Store.create(path, units=units(), codebook=BOOK)
    ids = [f"m{i}" for i in range(N)]
    for coder, when in (("ana", "finished"), ("ben", "shown")):
        batch: list[Act] = []
        for place, unit in enumerate(ids):
            mine = {"coder": coder, "unit_id": unit, "codebook": BOOK}
            shown = acts.contents.show_suggestions(
                **mine,
                model="a model",
                when=when,
                withheld=place % 7 == 0,
                suggestions=[] if place % 7 == 0 else [Suggestion(code=("warm", "cold")[place % 2])],
            )
            done = _coded(coder, [unit], BOOK, every=1 + place % 2)
            batch += [*done, shown] if when == "finished" else [shown, *done]
            if place % 4 == 1 and place % 7:
                batch.append(acts.contents.reject_suggestion(**mine, code="cold"))
        store.append(batch)
    return store


def hostile(path: Path) -> Store:
    """Labels, rounds and variables full of what breaks a document."""
    texts = [
        *(one for one in HOSTILE if one.isprintable()),
        "αβγ 👩‍👩‍👧 שלום كان {n} {} 100% $x_1$ <b>",
        "{label}",
    ]
    codes = tuple(
        Code(id=f"c{i}", label=" ".join(text.split())[:80] or "blank") for i, text in enumerate(texts)
    )
    book = Codebook(name="hostile", title="50% {of} & _all_ \\input{x} <i>", codes=codes)
    frame = units(12).rename(columns={"Rating": "Rat{ing}_\"'&"})
    store = Store.create(path, units=frame, codebook=book)
    ids = frame["unit_id"].tolist()
    store.append(
        [rounds.open_round("r{0} & <1>", units=ids, coders=["ana", "ben"], coder="lead", codebook=book)]
    )
    for coder, every in (("ana", 2), ("ben", 3)):
        store.append(_coded(coder, ids, book, every=every, round="r{0} & <1>"))
    return store


def flawed(flaw: str) -> Callable[[Path], Store]:
    return lambda path: study(path, seed=11, flaw=flaw)


STUDIES: dict[str, Callable[[Path], Store]] = {
    "empty": empty,
    "alone": alone,
    "discussed": discussed,
    "suggested": suggested,
    "hostile": hostile,
    "no_participant": flawed("no_participant"),
    "stale_open": flawed("stale_open"),
}
#: Further ones, of which one sentence is looked for.
FLAWED: dict[str, Callable[[Path], Store]] = {"flawless": lambda path: study(path, seed=11)} | {
    flaw: flawed(flaw)
    for flaw in ("finished_after_unblinding", "changed_after_unblinding", "rating_seen", "ruled_own")
}


def _coded(coder: str, ids: object, book: Codebook, *, every: int, round: str | None = None) -> list[Act]:
    batch: list[Act] = []
    for place, unit in enumerate(list(ids)):  # type: ignore[call-overload]
        mine = {"coder": coder, "unit_id": unit, "codebook": book, "round": round}
        for number, code in enumerate(book.codable[:3]):
            if (int(unit[1:]) + number) % every == 0:
                words = {"start": 0, "end": 5} if place % 2 else {}
                batch.append(acts.apply(code=code.id, **mine, **words))
        batch.append(acts.finish(**mine))
    return batch
