"""The passages of a code and the results of a search without a browser: where they are, and coded at once."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from sense7_qual import acts, corpus, report, rounds
from sense7_qual.store import Store
from sense7_qual.widgets._offsets import find_all_folded, folded
from tests.helpers.browser import SENSE7, Browser, OfStudy, new_id

TEXTS = [
    "STRASSE, Straße und strasse: die straße.",
    "Ein Cafe\u0301 und noch ein café.",
    "👩‍👩‍👧 said well 👍🏽, well.",
    "soft\u00adware and soft\u200bware",
    "كَان لطيفا وكان جميلا",
    "Nothing of it.",
    "Well, it is a café again, well.",
]
SEARCH: dict[str, Any] = {
    "state": "",
    "code": None,
    "rating": None,
    "group": None,
    "conditions": {},
    "order": "plan",
    "show_rating": False,
}


def read(path: Path, texts: list[str] = TEXTS) -> pd.DataFrame:
    rows = {"id": [f"m{n}" for n in range(len(texts))], "said": texts, "who": "p1"}
    pd.DataFrame(rows).to_csv(path, index=False)
    return corpus.read(path, text="said", unit_id="id", case_id="who")


@pytest.fixture
def study(tmp_path: Path) -> Store:
    return Store.create(tmp_path / "study", units=read(tmp_path / "texts.csv"), codebook=SENSE7)


def as_shown(text: str, start: int, end: int) -> str:
    """Return what a browser cuts out of a text."""
    return text.encode("utf-16-le")[2 * start : 2 * end].decode("utf-16-le")


@pytest.mark.parametrize(
    ("text", "wanted", "found"),
    [
        (TEXTS[0], "strasse", ["STRASSE", "Straße", "strasse", "straße"]),
        (TEXTS[1], "CAFÉ", ["Cafe\u0301", "café"]),
        (TEXTS[1], "cafe\u0301", ["Cafe\u0301", "café"]),
        (TEXTS[2], "👍", ["👍"]),
        (TEXTS[2], "well", ["well", "well"]),
        (TEXTS[3], "software", ["soft\u00adware", "soft\u200bware"]),
        (TEXTS[4], "كان", ["كَان", "كان"]),
        ("aaaa", "aa", ["aa", "aa"]),
        ("one\ntwo", "one two", ["one\ntwo"]),
        ("anything", "", []),
    ],
)
def test_hits_are_whole_letters_whatever_their_case_accents_and_width(
    text: str, wanted: str, found: list[str]
) -> None:
    assert [text[start:end] for start, end in find_all_folded(text, folded(wanted))] == found


def test_hits_of_a_text_and_the_nearest_before_and_after_it_in_the_list(study: Store) -> None:
    browser = OfStudy(study)
    answer = browser.ask("hits", **SEARCH, find="well", place=2)
    assert [as_shown(TEXTS[2], *span) for span in answer["spans"]] == ["well", "well"]
    assert answer["before"] is None
    assert answer["after"]["place"] == 6
    assert as_shown(TEXTS[6], *answer["after"]["span"]) == "Well"
    back = browser.ask("hits", **SEARCH, find="well", place=6)["before"]
    assert (back["place"], back["span"]) == (2, answer["spans"][-1])
    assert browser.ask("hits", **SEARCH, find="well", place=5)["after"]["place"] == 6
    listed = browser.ask("hits", **{**SEARCH, "state": "unfinished"}, find="caf", place=1)
    assert listed["after"]["place"] == 6
    browser.do("finish", "m6")
    assert browser.ask("hits", **{**SEARCH, "state": "unfinished"}, find="caf", place=1)["after"] is None


def found(browser: Browser, wanted: str) -> list[dict[str, Any]]:
    rows = browser.ask("all_hits", **SEARCH, find=wanted)["rows"]
    return [
        {"unit_id": row["unit_id"], "start": start, "end": end} for row in rows for start, end in row["spans"]
    ]


def test_all_hits_are_one_step_with_one_undo_also_after_a_restart_and_the_words_sought_are_nowhere(
    study: Store, tmp_path: Path
) -> None:
    browser = OfStudy(study)
    browser.do("apply", "m0", code="affective", start=0, end=7, facets={"valence": "met"})
    browser.do("finish", "m1")
    hits = [*found(browser, "strasse"), *found(browser, "café")]
    act_id = new_id()
    named = {"code": "affective", "found": hits}
    done = browser.do("apply", "m0", act_id=act_id, **named)
    assert done["type"] == "done"
    assert browser.do("apply", "m0", act_id=act_id, **named)["type"] == "done"  # sent again
    codings = Store(study.path).codings()
    quotes = [TEXTS[int(one.unit_id[1])][one.start : one.end] for one in codings.itertuples()]
    assert sorted(quotes) == sorted(["STRASSE", "Straße", "strasse", "straße", "Cafe\u0301", "café", "café"])
    assert codings["found_by"].eq("search").sum() == 6  # one had the code already
    assert codings.set_index("start").loc[0, "valence"] is not pd.NA
    assert len({act.step for act in study.acts() if act.found_by}) == 1
    told = browser.told[-1]
    assert (told["places"], told["words"]) == ([0, 1, 6], "6 codings made")
    assert told["flags"] == "cf....c"  # what is finished stays so
    history = browser.ask("history", scope="all", first=0)["rows"]
    assert (history[0]["found"], history[0]["kind"]) == (6, "apply")
    objection = next(one for one in report.review(study, n_boot=20) if one.kind == "found_by_search")
    assert objection.n == 6
    # A facet, or another edge, leaves it one that a search found.
    browser.do(
        "apply",
        "m1",
        **dict(zip(("start", "end"), hit_of(hits, "m1"), strict=True)),
        code="affective",
        facets={"valence": "unmet"},
    )
    assert study.codings()["found_by"].eq("search").sum() == 6
    browser.do("undo", None)

    again = OfStudy(Store(study.path))
    assert again.do("undo", None)["type"] == "done"
    assert again.told[-1]["places"] == [0, 1, 6]
    assert Store(study.path).codings()["start"].tolist() == [0]
    assert Store(study.path).coverage()["unit_id"].tolist() == ["m1"]
    assert again.do("redo", None)["type"] == "done"
    assert len(Store(study.path).codings()) == 7
    browser = OfStudy(study)
    sought = "nowhere-to-be-found"
    assert browser.ask("all_hits", **SEARCH, find=sought)["rows"] == []
    files = [path for path in Path(study.path).rglob("*") if path.is_file()]
    assert not any(sought.encode() in path.read_bytes() for path in files)
    assert sought not in repr(browser.widget.get_state())


def hit_of(hits: list[dict[str, Any]], unit_id: str) -> tuple[int, int]:
    return next((one["start"], one["end"]) for one in hits if one["unit_id"] == unit_id)


def test_where_all_hits_have_the_code_nothing_is_recorded(study: Store) -> None:
    browser = OfStudy(study)
    hits = found(browser, "nothing")
    browser.do("apply", "m5", code="affective", start=hits[0]["start"], end=hits[0]["end"])
    answer = browser.do("apply", "m5", code="affective", found=hits)
    assert (answer["type"], answer["message"]) == (
        "refused",
        "Nothing to code: all results of this search have the code now.",
    )


def test_passages_are_ones_own_newest_first_with_their_surroundings(study: Store) -> None:
    lead = {"coder": "lead", "codebook": SENSE7}
    units = list(study.units["unit_id"])
    study.append([rounds.open_round("one", units=units, coders=["ana", "ben"], **lead)])
    study.append([acts.apply(coder="ben", unit_id="m1", code="affective", codebook=SENSE7, round="one")])
    browser = OfStudy(study, round="one")
    text = TEXTS[2]
    start = len(text[: text.index("well")].encode("utf-16-le")) // 2
    browser.do("apply", "m2", code="affective", start=start, end=start + 4, facets={"valence": "met"})
    browser.do("apply", "m6", code="affective")
    browser.do("apply", "m5", code="cognitive")
    answer = browser.ask("passages", code="affective", find="", first=0)
    assert [row["unit_id"] for row in answer["rows"]] == ["m6", "m2"]
    whole, words = answer["rows"]
    assert (whole["start"], whole["words"]) == (None, ["", TEXTS[6], ""])
    before, middle, after = words["words"]
    assert (before + middle + after, middle) == (text, "well")
    assert as_shown(text, words["start"], words["end"]) == "well"
    assert words["facets"] == {"valence": "met"}
    fitting = browser.ask("passages", code="affective", find="CAFE", first=0)
    assert (fitting["n"], fitting["n_all"], fitting["rows"][0]["unit_id"]) == (1, 2, "m6")
    study.append([rounds.unblind("one", **lead)])
    assert OfStudy(study, round="one").ask("passages", code="affective", find="", first=0)["n"] == 2


def test_what_stands_around_a_passage_is_cut_between_words(tmp_path: Path) -> None:
    text = f"{'heeding ' * 9}well {'hearing ' * 9}"
    browser = OfStudy(Store.create(tmp_path / "s", units=read(tmp_path / "t.csv", [text]), codebook=SENSE7))
    start = text.index("well")
    browser.do("apply", "m0", code="affective", start=start, end=start + 4)
    (row,) = browser.ask("passages", code="affective", find="", first=0)["rows"]
    before, middle, after = row["words"]
    assert (before[0], after[-1]) == ("…", "…")
    assert {*before.strip("…").split(), *after.strip("…").split()} == {"heeding", "hearing"}
    assert middle == "well"


def test_of_ten_thousand_codings_a_page_comes_at_once(tmp_path: Path) -> None:
    texts = [f"{'so it was ' * 20}{n} and well {'then ' * 20}" for n in range(2000)]
    made = [
        acts.apply(
            coder="ana", unit_id=f"m{n}", code="affective", start=5 * one, end=5 * one + 4, codebook=SENSE7
        )
        for n in range(2000)
        for one in range(5)
    ]
    browser = Browser([].extend, units=read(tmp_path / "many.csv", texts), acts=made)
    for named in ({"find": ""}, {"find": "was"}):
        begun = time.process_time()
        answer = browser.ask("passages", code="affective", first=0, **named)
        assert (answer["n_all"], len(answer["rows"])) == (10_000, 60)
        assert time.process_time() - begun < 1.5
