"""One study with everything that decides which decisions count: what every number must say that it rests on.

Texts t00 to t23, two of each participant. Training (t00, t01); a blind round "main" (t00 to t15: ana and ben;
t00 to t03: chi, who then leaves); on t10 ben follows a suggestion; t16 to t23 by ana alone; a model on all.
Unblinded. Then ben takes *warm* from t01; a round "again" (t00 to t07), in which he copies ana; a discussion,
in which *warm* is applied to t07; t04 is ruled absent. Then *cold* is narrowed, *help* is added, and ana
reviews t00 to t05.

*warm* is on the even texts, except that ben differs on 1, 4, 7, 10 and 13; *cold* on every third text, by ben
not on 3.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from sense7_qual import acts, rounds
from sense7_qual.acts import Act
from sense7_qual.acts.contents import Suggestion, show_suggestions
from sense7_qual.codebook import Code, Codebook
from sense7_qual.store import Store

N = 24
BOOK = Codebook(
    name="basis",
    codes=(
        Code(id="warm", label="Warm", definition="It is warm."),
        Code(id="cold", label="Cold", definition="It is cold."),
    ),
)
OTHERWISE = (1, 4, 7, 10, 13)
RATING = "Empathy"


def unit(place: int) -> str:
    return f"t{place:02}"


def units() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "unit_id": [unit(place) for place in range(N)],
            "text": [f"Text number {place} says how it was." for place in range(N)],
            "document_id": [unit(place) for place in range(N)],
            "case_id": [f"p{place // 2:02}" for place in range(N)],
            "position": 0,
            RATING: [float(1 + (3 * place + place // 5) % 5) for place in range(N)],
            "site": ["lab" if place % 3 else "home" for place in range(N)],
        }
    )


class Clock:
    """A minute goes by with every act."""

    def __init__(self, day: str) -> None:
        self.now = pd.Timestamp(f"{day}T09:00:00Z")

    def __call__(self) -> str:
        self.now += pd.Timedelta(minutes=1)
        return self.now.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def warm(coder: str, place: int) -> bool:
    even = place % 2 == 0
    return not even if coder == "ben" and place in OTHERWISE else even


def cold(coder: str, place: int) -> bool:
    return place % 3 == 0 and not (coder == "ben" and place == 3)


class Study:
    """The study while it is made."""

    def __init__(self, path: Path) -> None:
        self.store, self.tick = Store.create(path, units=units(), codebook=BOOK), Clock("2026-03-02")

    def named(self, coder: str, place: int, round: str | None) -> dict[str, Any]:
        known = {"coder": coder, "unit_id": unit(place), "round": round, "codebook": self.store.codebook}
        return known | {"at": self.tick()}

    def code(self, coder: str, place: int, round: str | None, *codes: str) -> Iterator[Act]:
        for code in codes:
            yield acts.apply(code=code, **self.named(coder, place, round))
        yield acts.finish(**self.named(coder, place, round))

    def usual(self, coder: str, place: int, round: str | None) -> Iterator[Act]:
        codes = [name for name, holds in (("warm", warm), ("cold", cold)) if holds(coder, place)]
        return self.code(coder, place, round, *codes)

    def open(self, name: str, places: range, coders: list[str], **more: Any) -> None:
        ids = [unit(place) for place in places]
        opening = rounds.open_round(
            name, units=ids, coders=coders, coder="lead", codebook=self.store.codebook, at=self.tick(), **more
        )
        self.store.append([opening])

    def unblind(self, name: str) -> None:
        ending = rounds.unblind(name, coder="lead", codebook=self.store.codebook, at=self.tick())
        self.store.append([ending])


def blind(path: Path) -> Study:
    """Make the study until its blind round ends."""
    study = Study(path)
    gold = pd.DataFrame({"unit_id": [unit(0), unit(1)], "code": "warm", "applied": [True, False]})
    study.open("training", range(2), ["ana", "ben", "chi"], gold=gold)
    for coder in ("ana", "ben", "chi"):
        for place in range(2):
            study.store.append(list(study.code(coder, place, "training", "warm")))
    study.open("main", range(16), ["ana", "ben", "chi"])
    for coder, n in (("ana", 16), ("ben", 16), ("chi", 4)):
        for place in range(n):
            study.store.append(list(study.usual(coder, place, "main")))
    named = study.named("ben", 10, "main")
    shown = show_suggestions(model="words", suggestions=[Suggestion(code="warm")], **named)
    study.store.append([shown, *study.code("ben", 10, "main", "warm")])
    for place in range(16, N):
        study.store.append(list(study.usual("ana", place, None)))
    for place in range(N):
        coded = list(study.code("model-x", place, None, *(["warm"] if place % 4 == 0 else [])))
        study.store.append(coded)
    return study


def whole(path: Path) -> Store:
    """Make the whole study."""
    study = blind(path)
    store = study.store
    study.unblind("main")
    taken = study.named("ben", 1, "main")
    store.append([acts.remove(code="warm", **taken), acts.finish(**study.named("ben", 1, "main"))])
    study.open("again", range(8), ["ana", "ben"])
    for place in range(8):
        store.append(list(study.usual("ana", place, "again")))
        store.append(list(copied(study, place)))
    study.unblind("again")
    study.open("talk", range(16), ["ana", "ben", "chi"], discusses="main")
    for coder in ("ana", "ben"):
        store.append(list(study.code(coder, 7, "talk", "warm")))
    store.append([ruling(study, 4)])
    revise(store)
    study.tick = Clock("2027-01-04")
    for place in range(6):
        codes = [name for name, holds in (("warm", warm), ("cold", cold)) if holds("ana", place)]
        named = [study.named("ana", place, "main") for _ in codes]
        store.append(
            [
                *(acts.apply(code=code, **one) for code, one in zip(codes, named, strict=True)),
                acts.finish(**study.named("ana", place, "main")),
            ]
        )
    return Store(store.path)


def copied(study: Study, place: int) -> Iterator[Act]:
    """Let ben code as ana does."""
    codes = [name for name, holds in (("warm", warm), ("cold", cold)) if holds("ana", place)]
    return study.code("ben", place, "again", *codes)


def ruling(study: Study, place: int) -> Act:
    named = study.named("lead", place, None)
    del named["round"]
    return acts.rule(code="warm", applied=False, **named)


def revise(store: Store) -> None:
    """Narrow *cold*, then add *help*."""
    narrower = replace(store.codebook["cold"], definition="It is cold, and means it.")
    codes = tuple(narrower if code.id == "cold" else code for code in store.codebook.codes)
    store.revise(
        replace(store.codebook, codes=codes), why="Too wide.", coder="lead", meaning={"cold": "narrow"}
    )
    help_code = Code(id="help", label="Help", definition="It helps.")
    added = replace(store.codebook, codes=(*store.codebook.codes, help_code))
    store.revise(added, why="New.", coder="lead")
