"""The list of texts without a browser: what it is asked, against a naive reading of the same units."""

from __future__ import annotations

import base64
import json
import unicodedata
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st

from sense7_qual import acts, corpus
from sense7_qual.errors import ActError, ArgumentError, TableError
from sense7_qual.widgets import _offsets
from sense7_qual.widgets._offsets import FoldedTexts, find_folded, folded
from tests.helpers.browser import SENSE7, SENTINEL, Browser, units

TEXTS = [
    "It listened.",
    "CAFÉ, cafe\u0301 and Straße",
    f"كَان لطيفا {SENTINEL}",
    "well 👍🏽 well",
    "It\nlistened",
]
WORDS = [
    "it",
    "É",
    "cafe",
    "STRASSE",
    "كان",
    "👍",
    "listened",
    "m3",
    "x1",
    "nowhere",
    SENTINEL.lower(),
    "thought",
    "",
]


def frame(n: int = 20, **columns: object) -> pd.DataFrame:
    """Return `n` units with their variables."""
    return pd.DataFrame(
        {
            "unit_id": [f"m{place}" for place in range(n)],
            "text": [TEXTS[place % len(TEXTS)] + f" x{place}" for place in range(n)],
            "document_id": [None if place % 7 == 6 else f"d{(3 * place) % 5}" for place in range(n)],
            "case_id": [f"p{place // 6}" for place in range(n)],
            "position": pd.array([n - place for place in range(n)], "Int64"),
            "condition": ["warm" if place % 3 else "cold" for place in range(n)],
            "pilot": [place % 2 == 0 for place in range(n)],
            "empathy": [float(place % 4 + 1) for place in range(n)],
            "note": [f"{SENTINEL} {place}" for place in range(n)],
            **columns,
        }
    )


def done(n: int = 20) -> list[acts.Act]:
    """Return what ana did: begun, finished and unsure units, and memos."""
    made = []
    for place in range(0, n, 2):
        named = {"coder": "ana", "unit_id": f"m{place}", "codebook": SENSE7}
        unsure = "unsure" if place % 3 == 0 else None
        made.append(acts.apply(code=SENSE7.codable[place % 3].id, confidence=unsure, **named))
        if place % 4 == 0:
            made.append(acts.finish(**named))
        if place % 5 == 0:
            made.append(acts.memo(text=f"A Thöught {SENTINEL}", **named))
    return made


def browser(n: int = 20, **options: Any) -> Browser:
    return Browser([].extend, units=options.pop("units", frame(n)), acts=done(n), **options)


def places(answer: dict[str, Any], n: int = 20) -> list[int]:
    """Return the places that an answer's bits name."""
    assert answer["type"] == "list"
    if answer["bits"] is None:
        return list(range(n))
    bits = np.unpackbits(np.frombuffer(base64.b64decode(answer["bits"]), np.uint8), bitorder="little")[:n]
    assert answer["n"] == bits.sum()
    return [int(place) for place in np.flatnonzero(bits)]


def naive_fold(text: str) -> str:
    parts = unicodedata.normalize("NFKD", text.casefold())
    return "".join(part for part in parts if unicodedata.category(part) != "Mn").casefold().replace("\n", " ")


def naive(shown: Sequence[dict[str, Any]], table: pd.DataFrame, asked: dict[str, Any]) -> list[int]:
    """Return the places that fit, by looking at each unit as the widget shows it."""
    fitting = []
    for place, unit in enumerate(shown):
        wanted = naive_fold(asked.get("find", "")).strip()
        words = [unit["unit_id"], unit["text"], unit["memo"]["text"] if unit["memo"] else ""]
        unsure = any(coding["confidence"] == "unsure" for coding in unit["codings"])
        begun = bool(unit["codings"] or unit["memo"])
        states = {
            "unfinished": not unit["finished"],
            "begun": begun and not unit["finished"],
            "unsure": unsure,
            "memo": unit["memo"] is not None,
        }
        row = table.iloc[place]
        fits = [
            not wanted or any(wanted in naive_fold(text) for text in words),
            states.get(asked.get("state", ""), True),
            asked.get("code") in (None, *(coding["code"] for coding in unit["codings"])),
            "group" not in asked or row[asked["group"]["by"]] == asked["group"]["name"],
            all(str(row[name]) == value for name, value in asked.get("conditions", {}).items()),
            "rating" not in asked or str(int(row["empathy"])) == asked["rating"],
        ]
        if all(fits):
            fitting.append(place)
    return fitting


QUERIES = st.fixed_dictionaries(
    {},
    optional={
        "find": st.sampled_from(WORDS),
        "state": st.sampled_from(["unfinished", "begun", "unsure", "memo"]),
        "code": st.sampled_from([code.id for code in SENSE7.codable[:4]]),
        "group": st.sampled_from(
            [
                {"by": "case_id", "name": "p1"},
                {"by": "document_id", "name": "d3"},
                {"by": "case_id", "name": "?"},
            ]
        ),
        "conditions": st.sampled_from([{"condition": "warm"}, {"pilot": "True", "condition": "cold"}, {}]),
        "rating": st.sampled_from(["1", "4"]),
    },
)


@pytest.mark.nightly
@pytest.mark.long
@settings(max_examples=200, deadline=None)
@given(st.lists(QUERIES, min_size=1, max_size=6))
def test_the_list_is_what_a_naive_reading_finds(asked: list[dict[str, Any]]) -> None:
    """Several questions to one widget, since what was found before narrows what is searched next."""
    widget, table = browser(rating="empathy"), frame()
    shown = [widget.ask("unit", place=place, peek=True)["unit"] for place in range(20)]
    for query in asked:
        assert places(widget.ask("list", **query, show_rating=True)) == naive(shown, table, query)


def test_typing_on_and_taking_back_finds_the_same_as_asking_at_once() -> None:
    widget = browser()
    for word in ("l", "li", "list", "lis", "it", "t", ""):
        assert places(widget.ask("list", find=word)) == places(browser().ask("list", find=word)), word


def test_what_is_recorded_while_words_are_typed_and_deleted_is_found_and_lost_as_it_stands_now() -> None:
    """A memo comes, changes and goes between the letters, and another choice comes in between."""
    widget = browser()
    steps: list[tuple[str, dict[str, Any]]] = [
        ("list", {"find": "t"}),
        ("list", {"find": "th"}),
        ("memo", {"unit_id": "m3", "text": "Thorny"}),
        ("list", {"find": "tho"}),
        ("list", {"find": "tho", "state": "memo"}),
        ("list", {"find": "thor"}),
        ("memo", {"unit_id": "m3", "text": "a listener"}),
        ("list", {"find": "thor"}),
        ("list", {"find": "tho"}),
        ("list", {"find": "list", "state": "memo"}),
        ("list", {"find": "listen"}),
        ("undo", {"unit_id": None}),
        ("list", {"find": "listene"}),
        ("list", {"find": "listen", "state": "unfinished"}),
        ("finish", {"unit_id": "m3"}),
        ("list", {"find": "lis"}),
        ("list", {"find": "th", "state": "unfinished"}),
        ("list", {"find": "t"}),
    ]
    table, memo = frame(), {}
    for kind, named in steps:
        if kind != "list":
            unit = widget.do(kind, **named, **(memo if kind == "memo" else {}))["unit"]
            memo = {"memo_id": unit["memo"]["memo_id"]}
            continue
        shown = [widget.ask("unit", place=place, peek=True)["unit"] for place in range(20)]
        assert places(widget.ask("list", **named)) == naive(shown, table, named), named
    assert 3 in places(widget.ask("list", find="thorn"))
    assert 3 not in places(widget.ask("list", find="listener"))


LETTERS = st.text(st.sampled_from("aábB ß\n\0é👍\ud83d\uff00ÿı"), max_size=9)


@pytest.mark.nightly
@pytest.mark.long
@pytest.mark.parametrize("block", [1, 7, 40])
@given(st.lists(LETTERS, max_size=12), st.data())
def test_many_texts_at_once_hold_what_each_holds(block: int, texts: list[str], data: st.DataObject) -> None:
    """In blocks of few bytes too: what ends one text and begins the next is in neither."""
    joined = folded("".join(texts))
    start = data.draw(st.integers(0, len(joined)))
    wanted = joined[start : start + data.draw(st.integers(1, 12))] or folded(data.draw(LETTERS)) or "a"
    among = np.array(data.draw(st.lists(st.booleans(), min_size=len(texts), max_size=len(texts))), dtype=bool)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_offsets, "_BLOCK", block)
        held = FoldedTexts(texts).holding(wanted, among)
    assert held.tolist() == [
        bool(one) and wanted in folded(text) for one, text in zip(among, texts, strict=True)
    ]


def test_words_longer_than_all_texts_are_nowhere() -> None:
    two = FoldedTexts(["ab", ""])
    assert two.holding("ab" * 50, np.ones(2, dtype=bool)).tolist() == [False, False]
    assert repr(two) == "FoldedTexts(2 texts)"


@given(st.text(max_size=12), st.text(max_size=3))
def test_what_is_found_folded_stands_there(text: str, wanted: str) -> None:
    start, end = find_folded(text, folded(wanted))
    if folded(wanted) and folded(wanted) in folded(text):
        assert folded(wanted) in folded(text[start:end])
    else:
        assert (start, end) == (0, 0)


def test_words_that_were_looked_for_are_in_the_row_with_what_stands_around_them() -> None:
    text = "a " * 100 + "Café is good" + " b" * 200
    widget = browser(units=frame().assign(text=[text, *frame()["text"][1:]]))
    (row,) = widget.ask("rows", places=[0], find="cafe")["rows"]
    before, word, after = row["words"]
    assert (word, before[:3], before[-3:], after[:8], after[-1]) == ("Café", "…a ", " a ", " is good", "…")
    assert sum(map(len, row["words"])) < 130
    (row,) = widget.ask("rows", places=[0])["rows"]
    assert row["words"][:2] == ["", ""]
    assert (row["words"][2][:4], row["words"][2][-1]) == ("a a ", "…")


def test_a_row_shows_place_id_memo_doubt_and_the_rating_only_where_it_may_be_seen() -> None:
    widget = browser(rating="empathy")
    rows = widget.ask("rows", places=[0, 1, 6], show_rating=True)["rows"]
    assert [(row["place"], row["unit_id"], row["memo"], row["unsure"], row["rating"]) for row in rows] == [
        (0, "m0", True, True, "1"),
        (1, "m1", False, False, "2"),
        (6, "m6", False, True, "3"),
    ]
    assert {row["rating"] for row in widget.ask("rows", places=[0, 1, 6])["rows"]} == {None}
    widget.do("memo", "m1", text="now")
    widget.do("undo", None)
    widget.do("memo", "m6", text="now")
    assert [row["memo"] for row in widget.ask("rows", places=[1, 6])["rows"]] == [False, True]


def test_a_hidden_rating_is_neither_named_nor_chosen_by_nor_a_condition() -> None:
    table = frame(stars=[["good", "bad"][place % 2] for place in range(20)])
    widget = browser(units=table, rating="stars")
    hidden, seen = widget.ask("choices"), widget.ask("choices", show_rating=True)
    assert (hidden["ratings"], seen["ratings"]) == ([], ["bad", "good"])
    # Numbers may be ratings too; what has too many values is no condition, and shows no text.
    assert [one["name"] for one in hidden["conditions"]] == ["condition", "pilot"]
    assert places(widget.ask("list", rating="good")) == list(range(20))
    assert places(widget.ask("list", rating="good", show_rating=True)) == list(range(0, 20, 2))
    assert widget.ask("list", conditions={"stars": "good"})["type"] == "refused"
    assert widget.ask("list", conditions={"empathy": "1"})["type"] == "refused"
    assert SENTINEL not in json.dumps(hidden)


def test_a_rating_that_waits_for_its_texts_finish_is_never_in_the_list() -> None:
    widget = browser(rating="empathy", show_rating="finished")
    assert widget.ask("choices", show_rating=True)["ratings"] == []
    assert places(widget.ask("list", rating="1", show_rating=True)) == list(range(20))
    assert widget.ask("rows", places=[1], show_rating=True)["rows"][0]["rating"] is None


def test_what_participants_wrote_themselves_is_no_condition() -> None:
    few = Browser([].extend, units=frame(6, note=[SENTINEL, "x", "y", "z", "x", "y"]))
    assert [one["name"] for one in few.ask("choices")["conditions"]] == ["condition", "pilot"]
    long = ["It was a long day, and nobody had listened to me.", "no"] * 10
    assert "note" not in json.dumps(Browser([].extend, units=frame(note=long)).ask("choices"))


def test_what_others_coded_and_numbers_of_a_file_are_no_conditions(tmp_path: Path) -> None:
    columns = {
        "label": ["warm", "cold"],  # as doccano writes it
        "affective": ["yes", "no"],  # called as a code is
        "first": ["Affective", "Cognitive"],  # codes themselves
        "kept": ['["warm"]', '["cold"]'],
        "annotator": ["julie", "ben"],
        "stars": ["4", "2"],
        "warm": ["0", "1"],
        "model": ["a", "b"],
        "pilot": ["TRUE", "FALSE"],
        "age": ["18-24", "60+"],
    }
    table = pd.DataFrame({name: values * 10 for name, values in columns.items()})
    table.assign(said=[f"It was said {n}" for n in range(20)]).to_csv(tmp_path / "a.csv", index=False)
    read = corpus.read(tmp_path / "a.csv", text="said", variables=list(columns))
    widget = Browser([].extend, units=read)
    assert [one["name"] for one in widget.ask("choices")["conditions"]] == ["model", "pilot", "age"]
    assert widget.ask("layout", layout="grid")["variables"] == ["model", "pilot", "age"]
    named = Browser([].extend, units=read, conditions=["label"])
    assert [one["name"] for one in named.ask("choices")["conditions"]] == ["label"]


def test_the_conditions_are_those_that_are_named() -> None:
    assert browser(conditions=()).ask("choices")["conditions"] == []
    widget = browser(conditions=["empathy", "condition"])
    assert widget.ask("choices")["conditions"] == [
        {"name": "empathy", "values": ["1", "2", "3", "4"]},
        {"name": "condition", "values": ["cold", "warm"]},
    ]
    assert places(widget.ask("list", conditions={"empathy": "4"})) == [3, 7, 11, 15, 19]
    with pytest.raises(TableError, match=r"'conditon'.*did you mean 'condition'"):
        browser(conditions=["conditon"])
    with pytest.raises(ArgumentError, match="conditions"):
        browser(conditions="condition")


def test_units_to_look_at_again_are_named_with_this_coders_codes_until_they_are_finished() -> None:
    stale = pd.DataFrame(
        {
            "unit_id": ["m0", "m0", "m4", "m5", "m99"],
            "coder": ["ana", "ana", "ana", "ben", "ana"],
            "code": ["interest", "prosocial", "interest", "cognitive", "interest"],
            "reason": "redefine",
        }
    )
    revised = Browser([].extend, units=frame(), review=stale)
    assert revised.ask("hello")["n_review"] == 2
    assert places(revised.ask("list", state="review")) == [0, 4]
    rows = revised.ask("rows", places=[0, 4, 5])["rows"]
    assert [row["review"] for row in rows] == [["interest", "prosocial"], ["interest"], None]
    revised.do("finish", "m0")
    assert places(revised.ask("list", state="review")) == [4]
    assert revised.ask("rows", places=[0])["rows"][0]["review"] is None
    named = Browser([].extend, units=frame(), review=["m3", "m2"])
    assert places(named.ask("list", state="review")) == [2, 3]
    assert named.ask("rows", places=[2])["rows"][0]["review"] == []
    with pytest.raises(TableError, match="review"):
        Browser([].extend, units=frame(), review=stale.drop(columns="coder"))


def ordered(answer: dict[str, Any]) -> list[int]:
    return [int(place) for place in np.frombuffer(base64.b64decode(answer["order"]), "<u4")]


def test_orders() -> None:
    widget, table = browser(), frame()
    assert widget.ask("list", order="plan", with_order=True)["order"] is None
    by_document = ordered(widget.ask("list", order="document", with_order=True))
    first = {
        document: place for place, document in reversed(list(enumerate(table["document_id"]))) if document
    }
    expected = sorted(
        range(20), key=lambda place: (first.get(table["document_id"][place], 99), table["position"][place])
    )
    assert by_document == expected
    drawn = ordered(widget.ask("list", order="random", with_order=True))
    assert sorted(drawn) == list(range(20))
    assert drawn != sorted(drawn)
    assert drawn == ordered(browser().ask("list", order="random", with_order=True))
    assert drawn != ordered(
        Browser([].extend, units=frame(), coder="ben").ask("list", order="random", with_order=True)
    )
    assert widget.ask("list", order="random")["order"] is None
    rows = widget.ask("list", order="random", state="unfinished")["rows"]
    unfinished = places(widget.ask("list", state="unfinished"))
    assert [row["place"] for row in rows] == [place for place in drawn if place in unfinished]


def test_the_first_rows_are_those_around_the_text_on_screen_where_that_fits() -> None:
    widget = Browser([].extend, units=frame(300))
    shown = [row["place"] for row in widget.ask("list", here=200)["rows"]]
    assert shown == list(range(180, 220))
    shown = [row["place"] for row in widget.ask("list", here=200, find="café")["rows"]]
    assert (shown[0], len(shown)) == (1, 40)
    assert [row["place"] for row in widget.ask("list", here=299)["rows"]] == list(range(260, 300))


def test_progress_counts_finished_texts_by_participant_and_document() -> None:
    widget = browser()
    groups = widget.ask("progress", by="case_id")["groups"]
    assert groups == [["p0", 6, 2], ["p1", 6, 1], ["p2", 6, 2], ["p3", 2, 0]]
    widget.do("finish", "m19")
    assert widget.ask("progress", by="case_id")["groups"][3] == ["p3", 2, 1]
    documents = widget.ask("progress", by="document_id")["groups"]
    assert sum(n for _, n, _ in documents) == frame()["document_id"].notna().sum()


@pytest.mark.parametrize(
    "message",
    [
        {"type": "list", "state": "untouched"},
        {"type": "list", "order": "best"},
        {"type": "list", "group": {"by": "text", "name": "x"}},
        {"type": "list", "conditions": {"text": TEXTS[0]}},
        {"type": "rows"},
        {"type": "rows", "places": [20]},
        {"type": "rows", "places": [-1]},
        {"type": "rows", "places": [True]},
        {"type": "rows", "places": ["1"]},
        {"type": "rows", "places": list(range(20)) * 11},
        {"type": "progress", "by": "text"},
        {"type": "progress"},
    ],
)
def test_a_malformed_question_is_refused_without_a_text(message: dict[str, Any]) -> None:
    answer = browser().send({"client": "c1", "id": "q", **message})
    assert (answer["type"], answer["client"], answer["id"]) == ("refused", "c1", "q")
    assert " – found " in answer["message"]
    assert SENTINEL not in answer["message"]


def test_of_no_units_there_is_an_empty_list() -> None:
    empty = Browser([].extend, units=units().head(0))
    assert empty.ask("choices")["type"] == "choices"
    assert empty.ask("list", find="x", state="begun", order="document", with_order=True)["n"] == 0
    assert empty.ask("progress", by="case_id")["groups"] == []


def test_only_this_coders_own_codings_and_memos_are_searched_and_only_of_this_round() -> None:
    named = {"coder": "ana", "unit_id": "m1", "codebook": SENSE7}
    earlier = [acts.apply(code="affective", round="one", **named), acts.memo(text="a thought", **named)]
    widget = Browser([].extend, units=frame(), acts=earlier, round="two")
    assert places(widget.ask("list", code="affective")) == []
    assert places(widget.ask("list", find="a thought")) == [1]  # memos are for all rounds
    with pytest.raises(ActError, match="only acts of 'ana'"):
        Browser([].extend, units=frame(), acts=[acts.memo(text="ben's", **{**named, "coder": "ben"})])


def test_no_answer_of_the_list_leaves_a_text_in_traits_or_reprs() -> None:
    widget = browser(rating="empathy")
    for kind, named in (("choices", {}), ("list", {"find": SENTINEL}), ("rows", {"places": [2]})):
        widget.ask(kind, **named)
    assert SENTINEL in json.dumps(widget.heard)
    assert {answer["client"] for answer in widget.heard} == {"c1"}
    kept = [
        json.dumps(widget.widget.get_state(), default=str),
        repr(widget.widget),
        repr(widget.widget._texts),
    ]
    assert not [words for words in kept if SENTINEL in words]


# widget.goto ------------------------------------------------------------------------------------------


def test_goto_tells_all_open_views_and_is_where_the_next_one_begins() -> None:
    widget = browser()
    widget.widget.goto("m7")
    assert widget.heard[-1] == {"type": "goto", "place": 7, "client": None, "id": None}
    assert widget.ask("hello")["unit"]["unit_id"] == "m7"


@pytest.mark.parametrize(
    ("unit_id", "message"),
    [
        ("m77", r"unit_id: expected a unit that is coded here – found 'm77' – did you mean 'm7'\?"),
        ("zz", r"found 'zz' – known are 'm0', 'm1', 'm2' \(20 in all\)"),
        (f"{SENTINEL} said so and more than that", r"found \d+ characters"),
    ],
)
def test_goto_of_no_unit_says_which_is_meant(unit_id: str, message: str) -> None:
    widget = browser()
    with pytest.raises(ActError, match=message):
        widget.widget.goto(unit_id)
    assert widget.heard == []
    assert widget.ask("hello")["unit"]["unit_id"] == "m1"


def test_goto_of_something_else_than_an_id() -> None:
    with pytest.raises(ArgumentError, match="unit_id"):
        browser().widget.goto(7)
