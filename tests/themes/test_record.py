"""Themes in the study's record: lasting numbers, and what people make of them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from sense7_qual import acts, themes
from sense7_qual.codebook import Code, Codebook
from sense7_qual.errors import ActError, QualError, StoreError, TableError
from sense7_qual.store import Store
from sense7_qual.store._postgres import server
from sense7_qual.themes import _edit

BOOK = Codebook(name="one", codes=(Code(id="warm", label="Warm"), Code(id="fast", label="Fast")))
WORDS = ["queue slow", "kind warm", "wrong fact", "price cheap"]
N = 40


def units_of(texts: list[str] | None = None) -> pd.DataFrame:
    texts = [f"{WORDS[row % 4]} n{row}" for row in range(N)] if texts is None else texts
    ids = [f"u{row:03}" for row in range(len(texts))]
    cases = [f"p{row % 7}" for row in range(len(texts))]
    return pd.DataFrame(
        {"unit_id": ids, "text": texts, "document_id": "d", "case_id": cases, "position": range(len(texts))}
    )


def run(*members: Iterable[int], units: pd.DataFrame | None = None) -> themes.Themes:
    """Return a run with the given rows of units in each theme; the rest is in none."""
    units = units_of() if units is None else units
    place = {row: number for number, rows in enumerate(members) for row in rows}
    theme = [place.get(row, -1) for row in range(len(units))]
    assignments = pd.DataFrame(
        {"unit_id": units["unit_id"], "theme": theme, "similarity": 0.5, "coarse": theme, "sub": theme}
    )
    summary = pd.DataFrame(
        {"theme": range(len(members)), "stability": 0.8, "dissolved": 0.1, "recovered": 0.7}
    )
    levels = [
        pd.DataFrame({"level": level, "group": range(len(members)), "stability": 0.6})
        for level in ("coarse", "theme", "sub")
    ]
    return themes.Themes(
        assignments=assignments,
        terms=pd.DataFrame(),
        summary=summary,
        quotes=pd.DataFrame(),
        parameters={"seed": 3, "stop_words": "english"},
        hierarchy=pd.concat(levels, ignore_index=True),
        granularities=pd.DataFrame({"granularity": [1.0], "ari": [np.nan], "chosen": [True]}),
    )


def every(first: int, *, of: int = 4, until: int = N) -> list[int]:
    return list(range(first, until, of))


FOUR = [every(0), every(1), every(2), every(3)]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.create(tmp_path / "s", units=units_of(), codebook=BOOK)


def numbers(matched: pd.DataFrame) -> dict[int, int]:
    own = matched.dropna(subset="run_theme")
    return dict(zip(own["run_theme"].astype(int).tolist(), own["theme"].tolist(), strict=True))


def members(now: themes.Themes) -> dict[int, set[int]]:
    rows = now.assignments[now.assignments["theme"] >= 0]
    return {int(str(n)): {int(i[1:]) for i in ids} for n, ids in rows.groupby("theme")["unit_id"]}


@pytest.mark.long
def test_what_was_fitted_comes_back_from_the_record(store: Store) -> None:
    def words(texts: list[str]) -> np.ndarray:
        listed = " ".join(WORDS).split()
        return np.array([[text.split().count(word) for word in listed] for text in texts], dtype=float)

    texts = [f"{WORDS[row % 4]} {WORDS[row % 4]} n{row}" for row in range(80)]
    large = Store.create(Path(store.path).parent / "large", units=units_of(texts), codebook=BOOK)
    fitted = themes.fit(large.units, embed=words, seed=1)
    assert numbers(large.record_themes(fitted, coder="lead")) == {n: n for n in fitted.summary["theme"]}
    now = Store(large.path).themes
    for name in ("assignments", "terms", "quotes", "granularities", "hierarchy"):
        expected, got = getattr(fitted, name), getattr(now, name)
        pd.testing.assert_frame_equal(got, expected, check_dtype=False)
    plain = now.summary.drop(columns=["name", "dismissed", "code", "merged"])
    pd.testing.assert_frame_equal(plain, fitted.summary, check_dtype=False)
    assert {key: now.parameters[key] for key in fitted.parameters} == fitted.parameters
    assert large.verify()["ok"].all()


def test_the_act_holds_no_word_of_a_participant(store: Store) -> None:
    store.record_themes(run(*FOUR), coder="lead")
    [act] = store.acts(kind="record_themes")
    assert not any(word in str(act.text) for word in " ".join(WORDS).split())
    assert store.themes.summary["label"].str.contains("queue").any()


def test_numbers_last_over_runs_and_are_never_used_again(store: Store) -> None:
    store.record_themes(run(*FOUR), coder="lead")
    order = run(every(3), every(1), [*every(0), 2], units=store.units)
    matched = store.record_themes(order, coder="lead")
    assert numbers(matched) == {0: 3, 1: 1, 2: 0}
    ended = matched[matched["run_theme"].isna()]
    assert ended["theme"].tolist() == [2]
    assert ended["jaccard"].tolist() == [pytest.approx(1 / 20)]
    again = store.record_themes(run(*FOUR), coder="lead")
    assert numbers(again) == {0: 0, 1: 1, 2: 4, 3: 3}  # the third is a new one: 2 had ended
    assert again.set_index("theme").loc[4, "is_new"]
    assert members(store.themes)[4] == set(every(2))


def test_a_theme_that_shares_less_than_half_is_another(store: Store) -> None:
    store.record_themes(run(range(10), range(10, 20)), coder="lead")
    half = run(list(range(5)) + list(range(20, 25)), list(range(10, 20)) + list(range(25, 35)))
    matched = themes.match_recorded(half, store.acts()).set_index("run_theme")
    assert list(matched.loc[0, ["is_new", "theme", "nearest"]]) == [True, 2, 0]
    assert matched.loc[0, "jaccard"] == pytest.approx(5 / 15)
    assert list(matched.loc[1, ["is_new", "theme"]]) == [False, 1]
    assert matched.loc[1, "jaccard"] == pytest.approx(0.5)
    assert len(store.acts(kind="record_themes")) == 1


def test_a_pair_below_the_threshold_does_not_take_a_theme_from_its_own_number(store: Store) -> None:
    """Half of one theme is kept; what two pairs too weak to count would share is more than that half."""
    store.record_themes(run([0, 1, 2], [3]), coder="lead")
    store.edit_theme(0, coder="lead", name="Waiting")
    store.edit_theme(0, coder="lead", dismissed=True)
    matched = store.record_themes(run([0, 1, 3], [2]), coder="lead").set_index("run_theme")
    assert matched["theme"].tolist() == [0, 2, 1]
    assert matched["jaccard"].tolist()[:2] == [0.5, 1 / 3]
    kept = store.themes.summary.set_index("theme").loc[0]
    assert kept["name"] == "Waiting"
    assert kept["dismissed"]


def test_themes_keep_the_numbers_that_the_best_pairing_of_pairs_that_count_gives() -> None:
    """Every pairing is tried: none of pairs of .5 or more has a larger sum than the one that is found."""
    rng = np.random.default_rng(4)
    for _ in range(300):
        rows, columns = rng.integers(1, 5, 2)
        similar = np.round(rng.random((rows, columns)), 2)
        found = _edit._pairs(similar, list(range(rows)), list(range(columns)))
        assert all(similar[pair] >= 0.5 for pair in found.items())
        counted = np.pad(np.where(similar >= 0.5, similar, 0), ((0, 0), (0, int(rows))))
        best = max(
            sum(counted[row, column] for row, column in enumerate(chosen))
            for chosen in permutations(range(columns + rows), int(rows))
        )
        assert sum(similar[pair] for pair in found.items()) == pytest.approx(best)


def test_only_units_of_both_runs_are_compared(store: Store) -> None:
    few = units_of().head(20)
    store.record_themes(run(every(0, until=20), every(1, until=20), units=few), coder="lead")
    matched = store.record_themes(run(every(1), every(0)), coder="lead")
    assert numbers(matched) == {0: 1, 1: 0}
    assert matched["jaccard"].tolist() == [1, 1]


@pytest.mark.long
def test_names_merges_codes_and_dismissals_outlive_a_run(store: Store) -> None:
    store.record_themes(run(*FOUR), coder="lead")
    store.edit_theme(1, name="Warmth", coder="lead")
    store.edit_theme(2, merge_into=0, coder="lead")
    store.edit_theme(3, dismissed=True, coder="lead")
    store.edit_theme(1, code="warm", coder="lead")
    store.record_themes(run(every(3), every(2), [*every(1), 4], every(0)[:1] + every(0)[2:]), coder="lead")
    now = store.themes.summary.set_index("theme")
    assert now.index.tolist() == [0, 1, 3]
    assert list(now.loc[1, ["label", "name", "code", "merged"]]) == ["Warmth", "Warmth", "warm", 1]
    assert now["dismissed"].tolist() == [False, False, True]
    assert now.loc[0, "merged"] == 2
    assert now["stability"].isna().tolist() == [True, False, False]
    assert members(store.themes)[0] == {*every(2), *every(0)} - {4}


@pytest.mark.long
def test_what_was_done_is_taken_back_by_its_opposite(store: Store) -> None:
    store.record_themes(run(*FOUR), coder="lead")
    before = store.themes
    for does, back in (
        ({"name": "Warmth"}, {"name": ""}),
        ({"merge_into": 1}, {"merge_into": 3}),
        ({"dismissed": True}, {"dismissed": False}),
        ({"code": "warm"}, {"code": ""}),
    ):
        store.edit_theme(3, coder="lead", **does)
        assert not store.themes.summary.equals(before.summary), does
        store.edit_theme(3, coder="lead", **back)
        pd.testing.assert_frame_equal(store.themes.summary, before.summary)
        pd.testing.assert_frame_equal(store.themes.assignments, before.assignments)


def test_merged_themes_that_the_next_run_joins_keep_the_number(store: Store) -> None:
    store.record_themes(run(*FOUR), coder="lead")
    store.edit_theme(2, merge_into=0, coder="lead")
    store.edit_theme(0, name="Both", coder="lead")
    joined = store.record_themes(run(every(1), every(0) + every(2), every(3)), coder="lead")
    assert numbers(joined) == {0: 1, 1: 0, 2: 3}
    assert store.themes.summary.set_index("theme").loc[0, "name"] == "Both"


def test_a_merged_theme_whose_head_ends_keeps_its_name(store: Store) -> None:
    store.record_themes(run(*FOUR), coder="lead")
    store.edit_theme(2, merge_into=0, coder="lead")
    store.edit_theme(0, name="Both", coder="lead")
    store.record_themes(run(every(1), every(2)), coder="lead")
    now = store.themes
    assert members(now) == {0: set(every(2)), 1: set(every(1))}
    assert now.summary.set_index("theme").loc[0, "label"] == "Both"


@pytest.mark.long
def test_a_split_takes_units_out_with_those_of_equal_text(store: Store) -> None:
    texts = [f"{WORDS[row % 4]} n{row}" for row in range(N)]
    texts[8] = texts[4]
    same = Store.create(Path(store.path).parent / "same", units=units_of(texts), codebook=BOOK)
    same.record_themes(run(*FOUR), coder="lead")
    same.edit_theme(0, parts=[["u000", "u004"]], coder="lead")
    assert members(same.themes)[4] == {0, 4, 8}
    assert members(same.themes)[0] == set(every(0)) - {0, 4, 8}
    assert same.themes.summary.set_index("theme")["stability"].isna().tolist() == [
        True,
        False,
        False,
        False,
        True,
    ]
    same.edit_theme(1, parts=[["u001"], [f"u{row:03}" for row in every(1)[1:]]], coder="lead")
    assert members(same.themes)[5] == {1}  # all were named: the largest part keeps the number
    again = same.record_themes(run(*FOUR), coder="lead")  # as they were before the split
    assert numbers(again) == {0: 0, 1: 1, 2: 2, 3: 3}
    assert same.verify()["ok"].all()


@pytest.mark.long
@pytest.mark.parametrize(
    ("what", "match"),
    [
        ({"theme": 9, "name": "x"}, "number of a theme of the study"),
        ({"theme": 0}, "expected one edit"),
        ({"theme": 0, "name": "x", "dismissed": True}, "expected one edit"),
        ({"theme": 0, "name": " x"}, "a name in one line"),
        ({"theme": 0, "name": "x\ny"}, "a name in one line"),
        ({"theme": 0, "code": "hope"}, "the id of a code"),
        ({"theme": 0, "merge_into": 0}, "another theme"),
        ({"theme": 0, "merge_into": 9}, "number of a theme"),
        ({"theme": 3, "merge_into": 1}, "separate it first"),
        ({"theme": 3, "name": "x"}, "merged into 2"),
        ({"theme": 0, "parts": [["u001"]]}, "parts of units of theme 0"),
        ({"theme": 0, "parts": [[]]}, "an empty part"),
        ({"theme": 0, "parts": [["u000"], ["u000"]]}, "each text in one part"),
        ({"theme": 0, "parts": [[f"u{row:03}" for row in every(0)]]}, "all 10 units in one"),
        ({"theme": "0", "name": "x"}, "theme"),
        ({"theme": 0, "name": 3}, "name"),
        ({"theme": 0, "parts": "u000"}, "parts"),
    ],
)
def test_what_cannot_be_done_is_refused(store: Store, what: dict[str, Any], match: str) -> None:
    store.record_themes(run(*FOUR), coder="lead")
    store.edit_theme(3, merge_into=2, coder="lead")
    before = store.acts()
    with pytest.raises(QualError, match=match):
        store.edit_theme(coder="lead", **what)
    assert store.acts() == before


def test_a_study_without_themes_says_how_to_record_them(store: Store) -> None:
    with pytest.raises(TableError, match=r"store\.record_themes"):
        _ = store.themes
    with pytest.raises(TableError, match=r"store\.record_themes"):
        store.edit_theme(0, name="x", coder="lead")
    with pytest.raises(QualError, match="themes"):
        store.record_themes(store.units, coder="lead")


def test_themes_of_other_units_are_refused(store: Store) -> None:
    strangers = units_of()
    strangers["unit_id"] = "x" + strangers["unit_id"]
    with pytest.raises(ActError, match="units of this study"):
        store.record_themes(run(*FOUR, units=strangers), coder="lead")
    assert store.acts() == []


@pytest.mark.long
@pytest.mark.parametrize("damage", ["", "{}", "[]", '{"base":""}', "null"])
def test_an_act_that_says_no_themes_is_refused(store: Store, damage: str) -> None:
    store.record_themes(run(*FOUR), coder="lead")
    [act] = store.acts()
    wrong = [replace(act, act_id="00000000-0000-4000-8000-000000000001", text=damage)]
    if damage:  # empty: an edit that was erased
        wrong.append(replace(wrong[0], kind="edit_theme"))
    for one in wrong:
        with pytest.raises(ActError, match=one.kind):
            store.append([one])
    content = json.loads(str(act.text))
    content["assignments"]["theme"][0] = "0"
    with pytest.raises(ActError, match="record_themes"):
        store.append([replace(wrong[0], text=json.dumps(content))])
    assert store.acts() == [act]


@pytest.mark.long
def test_edits_of_two_copies_both_count(store: Store) -> None:
    store.record_themes(run(*FOUR), coder="lead")
    store.copies.backup(Path(store.path).parent / "copy")
    copy = Store(Path(store.path).parent / "copy")
    store.edit_theme(0, name="Queue", coder="lead")
    store.edit_theme(2, parts=[["u002"]], coder="lead")
    copy.edit_theme(1, name="Warmth", coder="chair")
    copy.edit_theme(2, parts=[["u006"]], coder="chair")  # takes the same new number
    store.copies.merge(copy)
    copy.copies.merge(store)
    now = store.themes
    pd.testing.assert_frame_equal(now.summary, copy.themes.summary)
    assert now.summary["name"].dropna().tolist() == ["Queue", "Warmth"]
    assert members(now)[4] == {2}
    assert now.parameters["n_edits_left_out"] == 1
    assert store.verify()["ok"].all()


@pytest.mark.long
def test_runs_of_two_copies_do_not_mix(store: Store) -> None:
    store.record_themes(run(*FOUR), coder="lead")
    store.edit_theme(0, name="Queue", coder="lead")
    store.copies.backup(Path(store.path).parent / "copy")
    copy = Store(Path(store.path).parent / "copy")
    store.record_themes(run(every(0), every(1) + every(2) + every(3)), coder="lead")
    store.edit_theme(4, name="Odd", coder="lead")
    copy.record_themes(run(every(0), every(1, of=2)[:13] + every(2)), coder="chair")
    store.copies.merge(copy)
    assert store.themes.summary["name"].dropna().tolist() == ["Queue"]  # 4 is another theme there


@pytest.mark.long
def test_who_withdrew_is_in_no_theme_and_in_no_name(store: Store) -> None:
    store.record_themes(run(*FOUR), coder="lead")
    long = "my neighbour Hildegard never came back to me"
    texts = [long if row == 0 else f"{WORDS[row % 4]} n{row}" for row in range(N)]
    other = Store.create(Path(store.path).parent / "other", units=units_of(texts), codebook=BOOK)
    other.record_themes(run(*FOUR), coder="lead")
    other.edit_theme(0, name=f"as in {long}", coder="lead")
    other.edit_theme(1, name="Warmth", coder="lead")
    other.edit_theme(2, parts=[["u002", "u014"]], coder="lead")
    forgotten = other.forget("p0", why="asked to")
    assert forgotten.n_memos_elsewhere == 1
    now = Store(other.path).themes
    gone = set(units_of().loc[units_of()["case_id"] == "p0", "unit_id"])
    assert not gone & {*now.assignments["unit_id"], *now.quotes["unit_id"]}
    assert now.summary["name"].dropna().tolist() == ["Warmth"]
    assert other.verify()["ok"].all()
    for file in Path(other.path).rglob("*"):
        assert not file.is_file() or b"Hildegard" not in file.read_bytes(), file
    with pytest.raises(ActError, match="participants who withdrew"):
        other.edit_theme(0, name=f"as in {long}", coder="lead")
    other.edit_theme(0, name="Queues", coder="lead")
    assert numbers(other.record_themes(run(*FOUR, units=other.units), coder="lead"))


def test_leads_alone_have_themes_taken_back_otherwise(store: Store) -> None:
    store.record_themes(run(*FOUR), coder="lead")
    with pytest.raises(ActError, match="can be undone"):
        acts.undo(store.acts()[0], codebook=BOOK)
    assert len(store.plan) == 0
    assert store.decisions().empty


@pytest.mark.postgres
def test_only_a_lead_of_the_database_records_themes(postgres: Callable[..., str]) -> None:
    address = postgres()
    lead = Store.create(address, units=units_of(), codebook=BOOK)
    role = "themes_ana"
    lead.admin.add_coder("ana", role=role)
    lead.record_themes(run(*FOUR), coder="lead")
    lead.edit_theme(0, name="Queue", coder="lead")
    of_ana = Store(postgres(role, address.rpartition("study=")[2]))
    try:
        pd.testing.assert_frame_equal(of_ana.themes.summary, lead.themes.summary)
        with pytest.raises(StoreError):
            of_ana.edit_theme(0, name="Waiting", coder="ana")
        with pytest.raises(StoreError):
            of_ana.record_themes(run(*FOUR), coder="ana")
        lead.edit_theme(1, name="wrong fact n2", coder="lead")
        lead.forget("p2", why="asked to")
        assert "u002" not in set(lead.themes.assignments["unit_id"])
        assert lead.verify()["ok"].all()
    finally:
        for store in (lead, of_ana):
            server.connect(str(store.path)).engine.dispose()
