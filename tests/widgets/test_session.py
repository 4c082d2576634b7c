"""The widget's session without a widget: offsets both ways, what stands, undo over restarts, rounds."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st

from sense7_qual import acts
from sense7_qual.acts import Act
from sense7_qual.errors import ActError, TableError
from sense7_qual.widgets._coding.session import Session
from sense7_qual.widgets._offsets import code_points, utf16_units
from tests.helpers.browser import CODES, SENSE7, SENTINEL, TEXTS, new_id, units


def session(before: Sequence[Act] = (), **options: Any) -> Session:
    named = {"coder": "ana", "acts": before, "rating": None, "round": None} | options
    return Session(named.pop("units", units()), SENSE7, **named)


def deed(kind: str, unit_id: str = "m0", **named: object) -> dict[str, Any]:
    return {"kind": kind, "unit_id": unit_id, "act_id": new_id(), **named}


def do(on: Session, kind: str, unit_id: str = "m0", **named: object) -> Act:
    """Do one act as the widget does, when saving succeeds."""
    return do_step(on, kind, unit_id, **named)[0]


def do_step(on: Session, kind: str, unit_id: str = "m0", **named: object) -> list[Act]:
    """Do what one press does, of which the record may need several acts."""
    made = on.acts_from(deed(kind, unit_id, **named))
    on.take_saved(made)
    return made


# offsets ----------------------------------------------------------------------------------------------

CHARACTERS = st.one_of(
    st.characters(),
    st.sampled_from(["👍🏽", "👩‍👩‍👧", "🇩🇪", "e\u0301", "ك", "\u200f", "𝄞", "\n", "\ud83d", "a"]),
)
WRITTEN = st.lists(CHARACTERS, min_size=1, max_size=12).map("".join)


@given(WRITTEN, st.data())
def test_code_points_survive_the_way_to_the_browser_and_back(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    first, last = utf16_units(text, start, end)
    units16 = text.encode("utf-16-le", "surrogatepass")
    quoted = units16[2 * first : 2 * last].decode("utf-16-le", "surrogatepass")
    assert quoted.encode("utf-16", "surrogatepass") == text[start:end].encode("utf-16", "surrogatepass")
    assert code_points(text, first, last) == (start, end)


@given(WRITTEN, st.data())
def test_a_browsers_selection_is_covered_and_no_character_is_cut(text: str, data: st.DataObject) -> None:
    n_units = sum(2 if ord(character) > 0xFFFF else 1 for character in text)
    first = data.draw(st.integers(0, n_units - 1))
    last = data.draw(st.integers(first + 1, n_units))
    start, end = code_points(text, first, last)
    back = utf16_units(text, start, end)
    assert back[0] <= first < last <= back[1]
    # Moved outwards by half a surrogate pair at most, and only where it stood within one.
    assert first - back[0] <= 1
    assert back[1] - last <= 1
    assert back[0] == first or ord(text[start]) > 0xFFFF
    assert back[1] == last or ord(text[end - 1]) > 0xFFFF


@pytest.mark.parametrize(
    ("first", "last", "expected"),
    [(0, 1, (0, 1)), (1, 2, (0, 1)), (0, 2, (0, 1)), (1, 3, (0, 2)), (2, 4, (1, 3)), (4, 5, (2, 3))],
)
def test_a_selection_within_a_surrogate_pair_moves_outwards(first: int, last: int, expected: object) -> None:
    assert code_points("😀a😀", first, last) == expected


@pytest.mark.parametrize(("first", "last"), [(-1, 1), (0, 0), (2, 1), (0, 20), (19, 20), (20, 21)])
def test_a_selection_outside_the_text_is_refused_without_the_text(first: int, last: int) -> None:
    text = f"😀{SENTINEL}😀"
    with pytest.raises(ActError, match="outside the text of 19 UTF-16 units") as refused:
        code_points(text, first, last)
    assert SENTINEL not in str(refused.value)


# session ----------------------------------------------------------------------------------------------


def test_the_quote_of_a_span_is_what_was_selected() -> None:
    on = session()
    start, end = utf16_units(TEXTS[1], 3, 8)
    act = do(on, "apply", "m1", code="affective", start=start, end=end)
    assert TEXTS[1][act.start : act.end] == "cafe\u0301"
    shown = on.unit(1)["codings"][0]
    assert (shown["start"], shown["end"]) == (start, end) == (5, 10)


def test_acts_on_other_units_are_kept_out() -> None:
    elsewhere = acts.finish(coder="ana", unit_id="other", codebook=SENSE7)
    options = dataclasses.replace(elsewhere, kind="set_options", unit_id=None, text="{}", act_id=new_id())
    on = session([elsewhere, options])
    assert (on.flags, on.n_finished, on.can_undo, on.knows(elsewhere.act_id)) == ("....", 0, False, None)


def test_another_coders_acts_are_refused() -> None:
    with pytest.raises(ActError, match=r"only acts of 'ana' – found acts of 'ben'.*blind"):
        session([acts.finish(coder="ben", unit_id="m0", codebook=SENSE7)])


def test_an_act_that_comes_twice_counts_once() -> None:
    act = acts.apply(coder="ana", unit_id="m0", code="affective", codebook=SENSE7)
    on = session([act, act])
    do(on, "undo")
    assert (on.flags, on.can_undo) == ("....", False)


def test_acts_may_come_from_anything_that_can_be_gone_through_once() -> None:
    assert session(iter([acts.finish(coder="ana", unit_id="m0", codebook=SENSE7)])).flags == "f..."


def test_flags_and_the_first_unfinished_unit() -> None:
    on = session()
    do(on, "finish", "m0")
    do(on, "apply", "m1", code="affective")
    do(on, "apply", "m2", code="affective", confidence="unsure")
    do(on, "finish", "m2")
    assert (on.flags, on.n_finished) == ("fcu.", 2)
    assert (on.next_unfinished(-1), on.next_unfinished(1), on.next_unfinished(3)) == (1, 3, 1)
    do(on, "reopen", "m2")
    assert on.flags == "fcc."
    for unit_id in ("m1", "m2", "m3"):
        do(on, "finish", unit_id)
    assert on.next_unfinished(0) == 3
    do(on, "memo", "m3", text="a thought")
    assert session(list(on._known.values())).flags == on.flags == "ffuf"


def test_undo_and_redo_go_on_over_a_restart() -> None:
    on = session()
    done = [do(on, "apply", code=code) for code in CODES]
    done += [do(on, "undo"), do(on, "undo")]
    again = session(done)
    assert [coding["code"] for coding in again.unit(0)["codings"]] == ["cognitive"]
    assert do(again, "redo").target == done[1].act_id
    assert do(again, "undo").target == done[1].act_id
    assert do(again, "undo").target == done[0].act_id
    assert (again.can_undo, again.can_redo) == (False, True)
    do(again, "finish")
    assert not again.can_redo
    with pytest.raises(ActError, match="redo: there is nothing to redo"):
        again.acts_from(deed("redo"))


def test_a_round_has_its_own_finished_units_and_its_own_undo() -> None:
    on = session(round="one")
    done = [do(on, "apply", code="affective"), do(on, "finish")]
    again = session(done, round="two")
    assert (again.flags, again.n_finished, again.can_undo) == ("....", 0, False)  # coded afresh
    assert do(again, "finish").round == "two"
    with_second = [*done, *again._done]
    assert acts.fold(with_second).coverage["round"].tolist() == ["one", "two"]
    undone = do(again, "undo")
    assert acts.fold([*with_second, undone]).coverage["round"].tolist() == ["one"]
    assert not again.can_undo
    assert session(done, round="one").can_undo


@pytest.mark.parametrize(
    ("ratings", "shown"),
    [
        ([2.0, None, 3.5, 7.0], ["2", None, "3.5", "7"]),
        (np.array([2, 1.25, 3, 1234567], dtype="float32"), ["2", "1.25", "3", "1234567"]),
        ([1, 2, 3, 4], ["1", "2", "3", "4"]),
        (pd.array([1, None, 3, 4], dtype="Int64"), ["1", None, "3", "4"]),
        (["low", "007", None, "2.0"], ["low", "007", None, "2.0"]),
        ([0.1234567, -2.0, math.inf, 1e21], ["0.1234567", "-2", "inf", "1000000000000000000000"]),
    ],
)
def test_a_rating_is_shown_as_it_was_given(ratings: object, shown: list[str | None]) -> None:
    on = session(units=units(empathy=ratings), rating="empathy")
    assert [on.unit(place)["rating"] for place in range(4)] == shown


def test_no_such_rating() -> None:
    with pytest.raises(TableError, match=r"a column 'Empaty'.*did you mean 'Empathy'\?"):
        session(units=units(Empathy=1), rating="Empaty")


def test_a_changed_facet_leaves_the_coding_where_it_was() -> None:
    on = session()
    for code in CODES:
        do(on, "apply", code=code)
    do(on, "apply", code=CODES[0], facets={"valence": "met"})
    shown = [(coding["code"], coding["facets"].get("valence")) for coding in on.unit(0)["codings"]]
    assert shown == [(CODES[0], "met"), (CODES[1], None), (CODES[2], None)]


# edges ------------------------------------------------------------------------------------------------


def spans_of(on: Session, place: int = 0) -> list[tuple[Any, ...]]:
    codings = on.unit(place)["codings"]
    return [(one["code"], one["start"], one["end"], one["facets"], one["confidence"]) for one in codings]


def test_a_coding_is_moved_with_facets_doubt_and_memo_and_taken_back_by_one_undo() -> None:
    on = session()
    do(on, "apply", code="affective", start=3, end=7, facets={"valence": "met"}, confidence="unsure")
    memo = do(on, "memo", text="why", target_kind="span", start=3, end=7)
    step = do_step(on, "apply", code="affective", start=0, end=9, **{"from": {"start": 3, "end": 7}})
    assert [act.kind for act in step] == ["apply", "remove", "memo"]
    assert len({act.step for act in step}) == 1
    moved = [("affective", 0, 9, {"valence": "met"}, "unsure")]
    before = [("affective", 3, 7, {"valence": "met"}, "unsure")]
    assert spans_of(on) == moved
    assert [(one["start"], one["end"]) for one in on.unit(0)["memos"]] == [(0, 9)]
    do(on, "memo", text="because", target_kind="span", start=0, end=9, memo_id=memo.memo_id)
    do(on, "undo")
    again = session([*on._known.values()])  # after a restart
    assert do(again, "undo").target == step[0].step
    assert spans_of(again) == before
    assert [(one["start"], one["text"]) for one in again.unit(0)["memos"]] == [(3, "why")]
    assert do(again, "redo").target == step[0].step
    assert spans_of(again) == moved
    assert len(again.history) == 4  # one line for the step


def test_codings_of_the_same_words_are_moved_in_one_step_with_the_memo_on_them() -> None:
    on = session()
    do(on, "apply", code="affective", start=3, end=7, facets={"valence": "met"})
    do(on, "apply", code="cognitive", start=3, end=7, confidence="unsure")
    do(on, "apply", code="relational", start=3, end=9)
    do(on, "memo", text="why", target_kind="span", start=3, end=7)
    before, n_before = spans_of(on), len(on.history)
    on_both = {"from": {"start": 3, "end": 7}, "also": ["cognitive"]}
    step = do_step(on, "apply", code="affective", start=0, end=7, **on_both)
    assert [act.kind for act in step] == ["apply", "remove", "apply", "remove", "memo"]
    assert len({act.step for act in step}) == 1
    assert len({act.act_id for act in step}) == 5
    after = {(*one[:3], str(one[3]), one[4]) for one in spans_of(on)}
    assert after == {
        ("affective", 0, 7, "{'valence': 'met'}", None),
        ("cognitive", 0, 7, "{}", "unsure"),
        ("relational", 3, 9, "{}", None),
    }
    assert [(one["start"], one["end"]) for one in on.unit(0)["memos"]] == [(0, 7)]
    assert len(on.history) == n_before + 1
    again = session([*on._known.values()])  # after a restart
    assert do(again, "undo").target == step[0].step
    assert sorted(map(str, spans_of(again))) == sorted(map(str, before))
    assert [(one["start"], one["end"]) for one in again.unit(0)["memos"]] == [(3, 7)]


def test_a_coding_that_is_gone_is_not_moved_together_with_another_and_the_other_stays() -> None:
    on = session()
    do(on, "apply", code="affective", start=3, end=7)
    do(on, "apply", code="cognitive", start=3, end=8)
    on_both = {"from": {"start": 3, "end": 7}, "also": ["cognitive"]}
    with pytest.raises(ActError, match="Not moved: this coding changed"):
        on.acts_from(deed("apply", code="affective", start=0, end=7, **on_both))
    for also in ("cognitive", {"cognitive": 1}, 1):
        with pytest.raises(ActError, match="expected list as also"):
            on.acts_from(deed("apply", code="affective", start=0, end=7, **{**on_both, "also": also}))
    assert {one[:3] for one in spans_of(on)} == {("affective", 3, 7), ("cognitive", 3, 8)}


DEED = st.tuples(
    st.sampled_from(["apply", "move", "move", "memo", "finish", "undo", "undo", "redo"]),
    st.sampled_from(CODES[:2]),
    st.integers(0, 5),
    st.integers(0, 5),
)


def seen(on: Session) -> tuple[Any, ...]:
    unit = on.unit(0)
    codings = {(one["code"], one["start"], one["end"], str(one["facets"])) for one in unit["codings"]}
    return codings, {(one["start"], one["end"], one["text"]) for one in unit["memos"]}, unit["finished"]


@settings(max_examples=60)
@given(st.lists(DEED, max_size=14))
def test_each_press_is_taken_back_by_one_undo_whatever_it_moved(
    drawn: list[tuple[str, str, int, int]],
) -> None:
    on, back, ahead = session(), [], []
    for what, code, one, other in drawn:
        before, first, last = seen(on), *sorted((one, other))
        span = {"start": 8 + first, "end": 8 + max(last, first + 1)}  # behind the emoji, which is not cut
        if what in ("undo", "redo"):
            stack, rest = (back, ahead) if what == "undo" else (ahead, back)
            if stack:
                do(on, what)
                expected = stack.pop()
                rest.append(before)
                assert seen(on) == expected
            continue
        spans = [each for each in on.unit(0)["codings"] if each["code"] == code]
        if what == "move":
            if not spans or (spans[0]["start"], spans[0]["end"]) == (span["start"], span["end"]):
                continue
            at = {name: spans[0][name] for name in ("start", "end")}
            also = [each["code"] for each in on.unit(0)["codings"] if {**each, **at} == each != spans[0]]
            do_step(on, "apply", code=code, **span, **{"from": at, "also": also if first % 2 else []})
        elif what == "memo":
            do(on, "memo", text=f"{first}", target_kind="span", **span)
        else:
            do(on, what, **({} if what == "finish" else {"code": code, "facets": {"valence": "met"}, **span}))
        back.append(before)
        ahead.clear()
        assert seen(session([*on._known.values()])) == seen(on)  # also after a restart


def test_a_memo_stays_where_another_coding_is_on_exactly_its_words() -> None:
    on = session()
    for code in ("affective", "cognitive"):
        do(on, "apply", code=code, start=3, end=7)
    do(on, "memo", text="why", target_kind="span", start=3, end=7)
    do_step(on, "apply", code="affective", start=0, end=9, **{"from": {"start": 3, "end": 7}})
    assert [(one["start"], one["end"]) for one in on.unit(0)["memos"]] == [(3, 7)]


def test_what_is_not_there_any_more_is_not_moved() -> None:
    on = session()
    do(on, "apply", code="affective", start=3, end=7)
    for named in ({"start": 3, "end": 7}, {"start": 0, "end": 3}):
        with pytest.raises(ActError, match="Not moved: this coding changed"):
            on.acts_from(deed("apply", code="affective", start=3, end=7, **{"from": named}))


def test_a_step_on_two_texts_is_undone_on_both_and_not_from_where_one_is_missing() -> None:
    both = [do(session(), "apply", one, code="affective") for one in ("m0", "m1")]
    step = acts.in_one_step(both)
    on = session(step)
    assert on.flags[:2] == "cc"
    undone = do(on, "undo")
    assert (undone.unit_id, undone.target, on.flags[:2]) == (None, step[0].step, "..")
    do(on, "redo")
    assert on.flags[:2] == "cc"
    elsewhere = session()
    elsewhere.take_in([*step, undone])
    assert (elsewhere.flags[:2], elsewhere.can_undo) == ("..", False)
    one_text = session(step, units=units().iloc[:1])
    assert one_text.state_of(step[0]) == "fixed"


def test_earlier_turns_and_units_without_any() -> None:
    frame = units()
    frame.loc[0, "context"] = None
    on = session(units=frame)
    assert on.unit(0)["context"] == []
    assert on.unit(1)["context"] == [{"role": "user", "text": f"Hello {SENTINEL}"}]
    assert session(units=frame.drop(columns="context")).unit(1)["context"] == []


def test_a_memo_of_another_unit_cannot_be_revised_from_here() -> None:
    on = session()
    memo = do(on, "memo", "m0", text=SENTINEL)
    with pytest.raises(ActError, match="is not your memo on this") as refused:
        on.acts_from(deed("memo", "m1", text=SENTINEL, memo_id=memo.memo_id))
    assert SENTINEL not in str(refused.value)
    do(on, "memo", "m0", text="two", memo_id=memo.memo_id)
    shown = on.unit(0)["memo"]
    assert (shown["memo_id"], shown["text"]) == (memo.memo_id, "two")
    do(on, "memo", "m0", text="", memo_id=memo.memo_id)
    assert on.unit(0)["memo"] is None


def test_half_an_emoji_in_a_memo_can_be_saved() -> None:
    act = do(session(), "memo", text="cut \ud83d here, whole \ud83d\udc4d there")
    assert act.text == "cut \ufffd here, whole 👍 there"
