"""A study without a flaw, or with one that is planted: what `report.review` reads in the tests."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from sense7_qual import acts, rounds
from sense7_qual.acts import Act
from sense7_qual.codebook import Code, Codebook
from sense7_qual.store import Store

N, N_CASES, N_SHARED = 160, 40, 60
CODERS = ("ana", "ben", "cleo")
BOOK = Codebook(
    name="reviewed",
    codes=tuple(Code(id=f"c{i}", label=f"Code {i}", definition=f"It says {i}.") for i in range(4)),
)

#: Each flaw by the objection that finds it.
FLAWS = (
    "unfinished",
    "no_round",
    "finished_after_unblinding",
    "changed_after_unblinding",
    "time_runs_back",
    "revised_after_unblinding",
    "stale_open",
    "suggestions_first",
    "rating_seen",
    "no_participant",
    "few_participants",
    "coder_is_participant",
    "one_participant",
    "code_unused",
    "no_definition",
    "many_unsure",
    "found_by_search",
    "too_fast",
    "same_texts",
    "one_coder",
    "overlap_small",
    "wide_intervals",
    "low_agreement",
    "pooled_coders",
    "used_by_one",
    "unsettled",
    "ruled_own",
    "swapped_axes",
    "links_without_clusters",
    "rating_out_of_scale",
    "rating_ceiling",
    "rating_missing",
    "rating_missing_by_condition",
    "one_condition",
    "participant_dominates",
    "same_text_coded_apart",
    "codes_together",
    "code_always",
    "one_second",
    "faster_than_reading",
    "coder_names_alike",
    "copied",
    "overlap_not_random",
    "training_counted",
    "one_side",
)


class Clock:
    """Times that go on by so many seconds."""

    def __init__(self, seconds: float) -> None:
        self.now, self.seconds = pd.Timestamp("2026-03-02T09:00:00Z"), seconds

    def __call__(self) -> str:
        self.now += pd.Timedelta(seconds=self.seconds)
        return self.now.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def study(
    path: Path, *, seed: int = 0, flaw: str | None = None, plan: acts.contents.AnalysisPlan | None = None
) -> Store:
    """Make a study of 160 texts by 40 participants: 60 coded by three blind to each other, then settled.

    The plan is registered the day before.
    """
    rng, tick = (
        np.random.default_rng(seed),
        Clock({"too_fast": 1.0, "one_second": 0.0, "faster_than_reading": 1.6}.get(str(flaw), 40.0)),
    )
    book = BOOK
    if flaw == "no_definition":
        book = replace(BOOK, codes=(replace(BOOK.codes[0], definition=""), *BOOK.codes[1:]))
    units = _units(flaw)
    store = Store.create(path, units=units, codebook=book)
    if flaw == "links_without_clusters":
        plan = acts.contents.AnalysisPlan(
            question="Why?", rating="Warmth", cluster="Message", adjust="bh", settled_by="rulings"
        )
    if plan is not None:
        store.append([acts.preregister(plan, coder="lead", codebook=book, at="2026-03-01T09:00:00.000Z")])
    truth = rng.random((N, 4)) < 0.35
    if flaw == "code_unused":
        truth[:, 3] = False
    if flaw == "code_always":
        truth[:, 3] = True
    if flaw == "codes_together":
        truth[:, 3] = truth[:, 2]
    if flaw == "one_participant":
        truth[:, 3] = units["case_id"].eq("p0").to_numpy() & (np.arange(N) % 40 == 0)
        truth[:8, 3] = True
    ids, named = units["unit_id"].tolist(), {"coder": "lead", "codebook": book}
    n_shared = {"overlap_small": 10, "wide_intervals": 18}.get(str(flaw), N_SHARED)
    shared, coders = ids[:n_shared], ["p1", "ben", "cleo"] if flaw == "coder_is_participant" else [*CODERS]
    if flaw == "swapped_axes":
        coders = ["m150", "m151", "m152"]
    if flaw == "coder_names_alike":
        coders = ["maria", "ben", "mariah"]
    if flaw == "one_coder":
        coders, shared = ["ana"], []
    if flaw == "training_counted":
        gold = pd.DataFrame({"unit_id": shared[:5], "coder": "lead", "code": "c0", "applied": True})
        store.append(
            [rounds.open_round("training", units=shared[:5], coders=coders, gold=gold, at=tick(), **named)]
        )
    if shared and flaw != "no_round":
        store.append([rounds.open_round("one", units=shared, coders=coders, at=tick(), **named)])
    if flaw == "rating_seen":
        store.set_options(rating="shown", coder="lead")
    round_name = None if flaw == "no_round" else "one"
    _code(store, book, coders, shared, ids, truth, round_name, rng, tick, flaw)
    if shared and flaw != "no_round":
        store.append([rounds.unblind("one", at=tick(), **named)])
    _afterwards(store, book, shared, ids, tick, flaw)
    return store


def _units(flaw: str | None) -> pd.DataFrame:
    n_cases = 6 if flaw == "few_participants" else N_CASES
    texts = [
        f"Text {i:03} says at length what participant {i % 40:02} had to say of it{' again' * (i * 7 % 5)}."
        for i in range(N)
    ]
    if flaw == "faster_than_reading":
        texts = [f"{text} {'and more ' * 100}" for text in texts]
    if flaw == "overlap_not_random":
        texts = [text * 4 if i < N_SHARED else text for i, text in enumerate(texts)]
    if flaw in ("same_texts", "same_text_coded_apart"):
        texts = [texts[i // 2] for i in range(N)]
    cases = [f"p{i % n_cases}" for i in range(N)]
    if flaw == "one_participant":
        cases[:8] = ["p0"] * 8
    if flaw == "participant_dominates":
        cases[:90] = ["p0"] * 90
    frame = pd.DataFrame(
        {
            "unit_id": [f"m{i}" for i in range(N)],
            "text": texts,
            "document_id": "d",
            "case_id": cases,
            "position": range(N),
            "System": [("a", "b")[i % n_cases % 2] for i in range(N)],
            "Stars": np.random.default_rng(N).integers(1, 6, N).astype(float),
        }
    )
    if flaw == "rating_out_of_scale":
        frame.loc[::20, "Stars"] = -99
    if flaw == "rating_ceiling":
        frame["Stars"] = frame["Stars"].where(np.arange(N) % 6 == 0, 5)
    if flaw == "rating_missing":
        frame["Stars"] = frame["Stars"].mask(np.arange(N) % 7 == 0)
    if flaw == "rating_missing_by_condition":
        frame["Stars"] = frame["Stars"].mask(frame["System"].eq("b") & (np.arange(N) % 5 < 4))
    if flaw == "links_without_clusters":
        frame = frame.assign(Warmth=np.arange(N) % 5 + 1, Message=frame["unit_id"])
    if flaw == "no_participant":
        frame["case_id"] = frame["case_id"].mask(np.arange(N) < 5)
    return frame


def _code(
    store: Store,
    book: Codebook,
    coders: list[str],
    shared: list[str],
    ids: list[str],
    truth: Any,
    round_name: str | None,
    rng: np.random.Generator,
    tick: Clock,
    flaw: str | None,
) -> None:
    wrong = {"low_agreement": 0.25, "copied": 0.04, "one_side": 0.06}.get(str(flaw), 0.02)
    first: dict[tuple[str, int], bool] = {}
    for number, coder in enumerate(coders):
        own = [*shared, *ids[len(shared) + number :: len(coders)]]
        if flaw == "one_condition":
            own = [unit for unit in own if number != 1 or int(unit[1:]) % 2]
        if flaw == "coder_names_alike" and number != 1:
            own = [unit for unit in own if unit not in shared or (int(unit[1:]) % 2) == number / 2]
        batch: list[Act] = []
        for place, unit_id in enumerate(own):
            if flaw == "unfinished" and coder == "ana" and place < 4:
                continue
            in_round = round_name if unit_id in shared else None
            mine: dict[str, Any] = {"coder": coder, "unit_id": unit_id, "codebook": book, "round": in_round}
            if flaw == "suggestions_first" and place < 30:
                batch.append(acts.contents.show_suggestions(**mine, model="words", when="shown", at=tick()))
            for at, code in enumerate(book.codes):
                applied = truth[ids.index(unit_id), at] ^ (rng.random() < wrong)
                if flaw == "pooled_coders" and number == 2 and at == 0 and place % 6 == 0:
                    applied = not applied
                if flaw == "used_by_one" and number == 1 and at == 1:
                    applied = False
                if flaw == "code_always" and at == 3:
                    applied = True
                if flaw == "codes_together" and at == 3:
                    applied = first[unit_id, 2]
                if flaw == "copied" and number == 1 and unit_id in shared:
                    applied = first[unit_id, at]
                if flaw == "code_unused" and at == 3:
                    applied = False
                if flaw == "one_participant" and at == 3:
                    applied = bool(truth[ids.index(unit_id), at])
                if flaw != "copied" or number == 0:
                    first[unit_id, at] = bool(applied)
                if applied:
                    unsure = "unsure" if flaw == "many_unsure" and rng.random() < 0.5 else None
                    searched = "search" if flaw == "found_by_search" and at == 1 else None
                    batch.append(
                        acts.apply(code=code.id, confidence=unsure, found_by=searched, at=tick(), **mine)
                    )
            batch.append(acts.finish(at=tick(), **mine))
        store.append(batch)


def _afterwards(
    store: Store, book: Codebook, shared: list[str], ids: list[str], tick: Clock, flaw: str | None
) -> None:
    if flaw == "finished_after_unblinding":
        store.append(
            [
                rounds.open_round(
                    "two", units=ids[60:70], coders=["ana", "ben"], coder="lead", codebook=book, at=tick()
                )
            ]
        )
        store.append([rounds.unblind("two", coder="lead", codebook=book, at=tick())])
        mine = {"coder": "ana", "codebook": book, "round": "two"}
        store.append([acts.finish(unit_id=unit_id, at=tick(), **mine) for unit_id in ids[60:70]])
    if flaw == "changed_after_unblinding":
        mine = {"coder": "ana", "codebook": book, "round": "one", "unit_id": shared[0]}
        code = book.codes[0].id
        has = (store.codings(coder="ana").query("unit_id == 'm0'")["code"] == code).any()
        store.append([(acts.remove if has else acts.apply)(code=code, at=tick(), **mine)])
    if flaw == "time_runs_back":
        mine = {"coder": "ana", "codebook": book, "round": "one", "unit_id": shared[0]}
        store.append([acts.finish(at="2026-03-01T09:00:00.000Z", **mine)])
    decided = store.decisions(settled_by="nothing")
    _settle(store, book, decided, tick, flaw)
    if flaw in ("revised_after_unblinding", "stale_open"):
        first = replace(book.codes[0], definition="Something else altogether.")
        store.revise(replace(book, codes=(first, *book.codes[1:])), why="Sharper.", coder="lead")


def _settle(store: Store, book: Codebook, decided: pd.DataFrame, tick: Clock, flaw: str | None) -> None:
    people = decided.groupby(["unit_id", "code"])["applied"]
    differ = people.agg(["nunique", "mean"]).query("nunique > 1")
    if flaw == "one_side":
        ana = decided[decided["coder"] == "ana"].set_index(["unit_id", "code"])["applied"]
        differ["mean"] = ana.reindex(differ.index).astype(float)
    keys = list(differ["mean"].items())[2 if flaw == "unsettled" else 0 :]
    judge = "ana" if flaw == "ruled_own" else "lead"
    named = {"coder": judge, "codebook": book}
    rulings = [
        acts.rule(unit_id=unit_id, code=code, applied=bool(share > 0.5), at=tick(), **named)
        for (unit_id, code), share in keys
    ]
    store.append(rulings)
