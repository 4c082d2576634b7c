"""What a lead may see while revising, what becomes stale, and how many hours that is."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from sense7_qual import acts, codings, rounds
from sense7_qual.acts import Act
from sense7_qual.codebook import Codebook
from sense7_qual.errors import CodebookError
from sense7_qual.store import Store
from sense7_qual.widgets._codebook.draft import Draft
from sense7_qual.widgets._codebook.in_use import preview, prices
from sense7_qual.widgets._codebook.saving import revised
from sense7_qual.widgets._lead_view import Seen, pace
from tests.helpers.revised_codebooks import BASE

N = 12
SECONDS = (30, 30, 40, 30, 1_000, 30, 30, 30, 30, 30, 30)  # between one finish and the next


def at(second: int) -> str:
    return f"2026-01-31T{12 + second // 3600:02d}:{second // 60 % 60:02d}:{second % 60:02d}.000Z"


def coded(
    coder: str, *, round: str | None, codes: Sequence[str] = ("warm",), book: Codebook = BASE
) -> list[Act]:
    """Every text with these codes, one after the other."""
    second, made = 0, []
    for place in range(N):
        named: dict[str, Any] = {"coder": coder, "unit_id": f"m{place}", "codebook": book, "round": round}
        made += [acts.apply(code=code, at=at(second), **named) for code in codes]
        made.append(acts.finish(at=at(second), **named))
        second += SECONDS[place] if place < len(SECONDS) else 0
    return made


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """Ana and ben in an unblinded round, cleo in a blind one, dee in none, the lead's own."""
    ids = [f"m{place}" for place in range(N)]
    units = pd.DataFrame(
        {"unit_id": ids, "text": "It listened.", "document_id": "d", "case_id": ids, "position": range(N)}
    )
    store = Store.create(tmp_path / "s", units=units, codebook=BASE)
    for name, coders in {"open": ["ana", "ben", "lead"], "blind": ["cleo", "ben"]}.items():
        opening = rounds.open_round(name, units=ids, coders=coders, coder="chair", codebook=BASE)
        store.append([opening])
    store.append([rounds.unblind("open", coder="chair", codebook=BASE)])
    store.append(coded("ana", round="open"))
    store.append(coded("ben", round="open", codes=("kind",))[:4])
    store.append(coded("cleo", round="blind"))
    store.append(coded("dee", round=None))
    store.append(coded("lead", round="open", codes=("cold",)))
    return store


def foretold(store: Store, *steps: dict[str, Any], viewer: str = "lead", **options: Any) -> tuple[Any, Any]:
    draft = Draft(store.codebook)
    for step in steps:
        draft.do(step)
    sight = Seen(store, viewer=viewer, codebook=store.codebook, **{"without_round": False} | options)
    found = preview(sight, draft.state)
    return found, draft


def counted(frame: pd.DataFrame) -> dict[str, int]:
    return dict(zip(frame["coder"], frame["n_units"], strict=True))


REDEFINE = {"do": "edit", "code": "warm", "values": {"definition": "Other."}}
SPLIT = {"do": "split", "code": "warm", "parts": [{"label": "A"}, {"label": "B"}]}


def test_only_what_may_be_seen_is_counted(store: Store) -> None:
    found, _ = foretold(store, REDEFINE)
    assert counted(found.by_coder) == {"ana": 12, "ben": 2, "lead": 12}
    found, _ = foretold(store, REDEFINE, without_round=True)
    assert counted(found.by_coder) == {"ana": 12, "ben": 2, "dee": 12, "lead": 12}
    found, _ = foretold(store, REDEFINE, viewer="dee")
    assert counted(found.by_coder) == {"ana": 12, "ben": 2, "dee": 12, "lead": 12}
    sight = Seen(store, viewer="lead", codebook=BASE, without_round=False)
    assert (sight.rounds, sight.blind, sight.leaves_out) == (("open",), ("blind",), True)
    words = sight.words(sight.decided)
    assert "because blind: round 'blind'" in words
    assert "without_round=True" in words
    assert set(sight.codings["coder"]) == {"ana", "ben", "lead"}


@pytest.mark.long
def test_what_is_foretold_is_what_is_stale_once_it_is_saved(store: Store) -> None:
    steps = [
        SPLIT,
        {"do": "add", "label": "New"},
        {"do": "merge", "code": "other", "into": "kind"},
        {"do": "edit", "code": "cold", "values": {"label": "Icy"}},
    ]
    found, draft = foretold(store, *steps)
    state = draft.state
    assert set(found.by_code["code"]) == {"a", "b", "new"}
    assert dict(found.by_code.groupby("code")["n_units"].sum()) == {"a": 12, "b": 12, "new": 26}
    store.revise(state.codebook, why="Finer.", coder="lead", merged=state.merged, split=state.split)
    sight = Seen(store, viewer="lead", codebook=store.codebook, without_round=False)
    now = codings.stale(sight.codings, sight.coverage, store.codebook, revisions=sight.revisions)
    assert counted(now.groupby("coder")["unit_id"].nunique().rename("n_units").reset_index()) == counted(
        found.by_coder
    )
    # What waits already is not foretold again.
    again, _ = foretold(store, {"do": "edit", "code": "new", "values": {"definition": "Other."}})
    assert again.by_coder.empty


def test_nothing_becomes_stale_where_no_meaning_changes(store: Store) -> None:
    found, _ = foretold(store)
    assert found.by_code.empty
    found, _ = foretold(store, {"do": "edit", "code": "warm", "values": {"label": "Warmth", "key": "9"}})
    assert found.by_code.empty


def test_hours_are_texts_at_the_median_time_between_two_finishes(store: Store) -> None:
    found, _ = foretold(store, REDEFINE)
    hours = dict(zip(found.by_coder["coder"], found.by_coder["hours"], strict=True))
    assert hours["ana"] == pytest.approx(12 * 30 / 3600)
    assert pd.isna(hours["ben"])  # three times between finishes say too little


@pytest.mark.parametrize(
    ("gaps", "seconds"),
    [
        ((20, 20, 40, 60, 60), 40),
        ((20,) * 5 + (301,), 20),
        ((20,) * 4 + (300,), 20),
        ((20,) * 4 + (301,), None),
        ((), None),
    ],
)
def test_pauses_are_no_pace(gaps: tuple[int, ...], seconds: float | None) -> None:
    seconds_at = [sum(gaps[:place]) for place in range(len(gaps) + 1)]
    done = [acts.finish(coder="ana", unit_id="m", codebook=BASE, at=at(second)) for second in seconds_at]
    assert pace(reversed(done)).get("ana") == seconds


@pytest.mark.long
def test_training_and_who_withdrew_are_left_out(store: Store) -> None:
    gold = pd.DataFrame({"unit_id": ["m0"], "code": ["warm"], "applied": [True]})
    opening = rounds.open_round(
        "learn", units=["m0"], coders=["eve"], coder="chair", codebook=BASE, gold=gold
    )
    store.append([opening, rounds.unblind("learn", coder="chair", codebook=BASE)])
    store.append([acts.finish(coder="eve", unit_id="m0", round="learn", codebook=BASE)])
    store.forget("m1", why="asked to")
    found, _ = foretold(store, REDEFINE)
    assert counted(found.by_coder) == {"ana": 11, "ben": 1, "lead": 11}


def test_each_claim_about_a_meaning_has_its_price_and_saving_costs_what_was_shown(store: Store) -> None:
    _, draft = foretold(store, REDEFINE)
    sight = Seen(store, viewer="lead", codebook=store.codebook, without_round=False)
    (found,) = prices(sight, draft.state)
    shown = {one["kind"]: (one["n"], one["hours"]) for one in found["choices"]}
    numbers = {kind: n for kind, (n, _) in shown.items()}
    # Ana had applied it to her 12 texts, ben to none of his 2, the lead to none of 12; ben's pace is unknown.
    assert numbers == {"redefine": 26, "narrow": 12, "widen": 14, "reword": 0}
    assert shown["narrow"][1] == "6 min"
    assert shown["widen"][1] is None
    for kind, (n, _) in shown.items():
        draft.do({"do": "mean", "code": "warm", "kind": kind, "why": "So."})
        assert preview(sight, draft.state).by_code["n_units"].sum() == n
    draft.do({"do": "mean", "code": "warm", "kind": "narrow", "why": "Without thanks."})
    revised(store, draft.state.codebook, draft.state, why="Narrower.", coder="lead")
    assert [(one.kind, one.why) for one in store.revisions[0].changes] == [("narrow", "Without thanks.")]
    now = Seen(store, viewer="lead", codebook=store.codebook, without_round=False)
    left = codings.stale(now.codings, now.coverage, store.codebook, revisions=now.revisions)
    assert (len(left), set(left["coder"]), set(left["reason"])) == (12, {"ana"}, {"narrow"})


def test_a_claim_needs_its_own_reason_and_goes_with_the_change(store: Store) -> None:
    _, draft = foretold(store, REDEFINE, {"do": "mean", "code": "warm", "kind": "reword", "why": ""})
    with pytest.raises(CodebookError, match="meaning of “Warm” needs its own reason"):
        revised(store, draft.state.codebook, draft.state, why="Clearer.", coder="lead")
    with pytest.raises(CodebookError, match="expected one of reword"):
        draft.do({"do": "mean", "code": "warm", "kind": "rephrase", "why": "So."})
    draft.leave_out(0)  # the definition is as it was: nothing is claimed any more
    assert draft.state.changes() == ()
    assert prices(Seen(store, viewer="lead", codebook=BASE, without_round=False), draft.state) == []
