"""The survey grid without a browser: what its rows hold, and what they must not."""

from __future__ import annotations

import json
from typing import Any

import pytest

from sense7_qual.errors import ArgumentError
from tests.helpers.browser import SENTINEL, TEXTS, Browser, units

CONDITION = ["warm", "cold", "warm", None]


def browser(**options: Any) -> Browser:
    frame = units(condition=CONDITION, pilot=[True, False, True, False], Empathy=[1.0, 2.0, None, 4.0])
    return Browser([].extend, units=frame, rating="Empathy", **options)


def rows(browser: Browser, *places: int, variables: tuple[str, ...] = ()) -> list[dict[str, Any]]:
    return browser.ask("grid", places=list(places), variables=list(variables))["rows"]


def test_a_row_is_the_unit_as_the_text_pane_shows_it() -> None:
    one = browser()
    one.do("apply", "m1", code="cognitive")
    one.do("apply", "m1", code="affective", start=0, end=4, confidence="unsure")
    one.do("memo", "m1", text=f"A thought {SENTINEL}")
    one.do("finish", "m1")
    first, second = rows(one, 0, 1)
    assert [row["unit"]["text"] for row in (first, second)] == TEXTS[:2]
    assert second["unit"] == one.ask("unit", place=1, peek=True)["unit"]
    assert second["unit"]["finished"]
    assert [coding["code"] for coding in second["unit"]["codings"]] == ["cognitive", "affective"]


def test_going_through_rows_moves_nobody() -> None:
    one = browser()
    rows(one, 3)
    assert one.ask("hello")["unit"]["place"] == 0


def test_only_the_chosen_variables_are_sent() -> None:
    one = browser()
    assert rows(one, 0)[0]["variables"] == {}
    assert [row["variables"] for row in rows(one, 0, 3, variables=("condition",))] == [
        {"condition": "warm"},
        {"condition": None},
    ]


@pytest.mark.parametrize("conditions", [(), ("pilot",)])
def test_variables_that_a_coder_is_not_to_see_are_refused(conditions: tuple[str, ...]) -> None:
    one = browser(conditions=conditions)
    assert one.ask("layout", layout="grid")["variables"] == list(conditions)
    answer = one.ask("grid", places=[0], variables=["condition"])
    assert answer["type"] == "refused"
    assert "expected a known variable" in answer["message"]
    assert "warm" not in json.dumps(answer)


def test_the_rating_is_no_variable() -> None:
    one = browser(conditions=("Empathy", "pilot"))
    assert one.ask("layout", layout="grid")["variables"] == ["pilot"]
    assert one.ask("grid", places=[0], variables=["Empathy"])["type"] == "refused"


def test_a_rating_that_waits_for_the_finish_is_not_sent_before() -> None:
    one = browser(show_rating="finished")
    one.do("finish", "m1")
    assert [row["unit"]["rating"] for row in rows(one, 0, 1, 2)] == [None, "2", None]
    one.do("reopen", "m1")
    assert rows(one, 1)[0]["unit"]["rating"] is None
    assert [row["unit"]["rating"] for row in rows(browser(), 0, 1)] == ["1", "2"]


def test_a_text_to_be_looked_at_again_says_so_until_it_is_finished() -> None:
    one = browser(review=["m2"])
    assert [row["review"] for row in rows(one, 1, 2)] == [None, []]
    one.do("finish", "m2")
    assert rows(one, 2)[0]["review"] is None


def test_a_widget_begins_as_it_was_told_and_goes_on_as_it_was_left() -> None:
    assert browser().ask("hello")["layout"] == "text"
    one = browser(layout="grid")
    assert one.ask("hello")["layout"] == "grid"
    assert one.ask("layout", layout="text") == {
        "type": "layout",
        "variables": ["condition", "pilot"],
        "has_rating": True,
        **{key: one.heard[-1][key] for key in ("client", "id")},
    }
    assert one.ask("hello")["layout"] == "text"
    assert not Browser([].extend).ask("layout", layout="grid")["has_rating"]
    with pytest.raises(ArgumentError, match="layout"):
        browser(layout="table")


@pytest.mark.parametrize("places", [None, "0", [4], [-1], [True], [0.0], [None], list(range(4)) * 26])
def test_places_that_are_not_there_are_refused(places: object) -> None:
    answer = browser().ask("grid", places=places, variables=[])
    assert answer["type"] == "refused"
    assert "places from 0 to 3" in answer["message"]


def test_an_unknown_layout_is_refused_and_changes_nothing() -> None:
    one = browser()
    assert "expected a known layout" in one.ask("layout", layout=SENTINEL)["message"]
    assert one.ask("hello")["layout"] == "text"


def test_no_text_stands_in_traits_or_reprs() -> None:
    one = browser()
    rows(one, 0, 1, 2, 3, variables=("condition",))
    state = json.dumps(one.widget.get_state(), default=str)
    assert SENTINEL not in state + repr(one.widget) + repr(one.widget._grid)
    assert repr(one.widget._grid) == "Grid(4 units, layout='text')"
