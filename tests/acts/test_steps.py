"""Steps: acts that are undone together, and codings whose edges are corrected."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, strategies as st

from sense7_qual import acts
from sense7_qual.acts import Act
from sense7_qual.codebook import Codebook
from sense7_qual.errors import ActError
from tests.helpers.small_study import CODEBOOK, changed, finish, put

EARLY, LATE, LAST = (f"2026-03-0{day}T09:00:00.000Z" for day in (1, 2, 3))


def moved(coding: Act, start: int, end: int, *, at: str = LATE, codebook: Codebook = CODEBOOK) -> list[Act]:
    return [changed(act, at=at) for act in acts.moved(coding, start=start, end=end, codebook=codebook)]


def take(step: list[Act], kind: str = "undo") -> Act:
    make = {"undo": acts.undo, "redo": acts.redo}[kind]
    return make(step, codebook=CODEBOOK)


def shown(done: list[Act]) -> list[tuple[Any, ...]]:
    codings = acts.fold(done, codebook=CODEBOOK).codings
    return codings[["start", "end", "valence", "confidence", "at"]].to_numpy().tolist()


def test_a_corrected_edge_keeps_facets_doubt_and_the_time_of_the_decision() -> None:
    first = put(start=3, end=9, facets={"valence": "met"}, confidence="unsure", at=EARLY)
    step = moved(first, 3, 12)
    again = moved(step[0], 0, 12, at=LAST)
    assert shown([first, *step]) == [[3, 12, "met", "unsure", EARLY]]
    assert shown([first, *step, *again]) == [[0, 12, "met", "unsure", EARLY]]
    back = [first, *step, *again, take(again)]
    assert shown(back) == [[3, 12, "met", "unsure", EARLY]]
    assert shown([*back, take(step)]) == [[3, 9, "met", "unsure", EARLY]]
    assert shown([*back, take(again, "redo")]) == [[0, 12, "met", "unsure", EARLY]]
    times = acts.decided_at([first, *step, *again])
    assert [times.get(("ana", act.act_id)) for act in (first, *step, *again)] == [None, *[EARLY] * 4]


def test_a_coding_that_is_put_on_other_words_is_a_new_decision() -> None:
    first = put(start=3, end=9, at=EARLY)
    step = moved(first, 9, 12)
    assert step[0].moved_from is None
    assert [row[-1] for row in shown([first, *step])] == [LATE]


def test_moving_twice_by_one_id_is_one_step() -> None:
    first, one = put(start=3, end=9), "00000000-0000-4000-8000-000000000001"
    twice = [acts.moved(first, start=3, end=12, codebook=CODEBOOK, act_id=one) for _ in range(2)]
    assert [[(act.act_id, act.step) for act in step] for step in twice] == [
        [(act.act_id, act.step) for act in twice[0]]
    ] * 2
    assert len({act.step for act in twice[0]}) == 1


ACTION = st.sampled_from(["apply", "remove", "undo", "redo"])


@given(st.lists(st.tuples(ACTION, st.integers(0, 2), st.integers(0, 30), st.integers(1, 3)), max_size=14))
def test_steps_stand_as_if_each_state_were_replayed_without_what_is_undone(
    drawn: list[tuple[str, int, int, int]],
) -> None:
    done: list[Act] = []
    steps: list[tuple[list[tuple[str, int]], bool]] = []  # what each step did, and whether it stands
    made: list[list[Act]] = []
    for what, code, which, size in drawn:
        if what in ("apply", "remove"):
            ids = [(code + n) % 3 for n in range(size)]
            named = {"coder": "ana", "unit_id": "m1", "codebook": CODEBOOK}
            single = [getattr(acts, what)(code=CODEBOOK.ids[one], **named) for one in ids]
            made.append(acts.in_one_step(single) if size > 1 else single)
            steps.append(([(what, one) for one in ids], True))
            done += made[-1]
        elif made:
            place = which % len(made)
            steps[place] = (steps[place][0], what == "redo")
            done.append(take(made[place], what))
    expected: dict[int, None] = {}
    for did, stands in steps:
        for what, code in did if stands else ():
            expected.pop(code, None) if what == "remove" else expected.setdefault(code)
    found = acts.fold(done, codebook=CODEBOOK).codings["code"].tolist()
    assert found == [CODEBOOK.ids[one] for one in expected]


def test_what_is_about_memos_leaves_the_coding_of_a_step_out() -> None:
    memo = acts.memo(coder="ana", unit_id="m1", text="why", codebook=CODEBOOK)
    step = acts.in_one_step([put(), memo])
    assert acts.about([*step, take(step)], "memo")[0].kind == "memo"
    assert [act.kind for act in acts.about([*step, take(step)], "memo")] == ["memo", "undo"]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"step": "one"}, "step must be a lower-case UUID"),
        ({"moved_from": "one"}, "moved_from must be a lower-case UUID"),
        ({"moved_from": put().act_id}, "moved_from belongs to an act that applies a code to words"),
        ({"kind": "undo", "target": put().act_id, "step": put().act_id}, "only acts that can be undone"),
    ],
)
def test_a_step_is_named_by_a_uuid_and_has_only_what_can_be_undone(
    wrong: dict[str, Any], message: str
) -> None:
    with pytest.raises(ActError, match=message):
        changed(put(start=0, end=2), **wrong)


def test_undo_takes_one_act_or_one_step() -> None:
    step, other = acts.in_one_step([put(), put(code="relational")]), put()
    assert take(step).target == step[0].step
    for wrong in ([], [*step, other], [other, "x"]):
        with pytest.raises(ActError, match="the act itself, or all acts of one step"):
            take(wrong)  # type: ignore[arg-type]


def test_the_undo_of_a_step_on_several_units_is_on_none_and_in_its_one_round() -> None:
    own = acts.memo(coder="ana", unit_id="m1", text="mine", codebook=CODEBOOK)
    step = acts.in_one_step([put(round="one"), put(unit_id="m2", round="one"), own])
    assert (take(step).unit_id, take(step).round) == (None, "one")


def test_what_a_search_found_stays_found_by_it_where_its_edges_move() -> None:
    found = put(start=3, end=9, found_by="search")
    step = moved(found, 3, 12)
    assert [act.found_by for act in step] == ["search", None]
    assert acts.fold([found, *step]).codings["found_by"].tolist() == ["search"]
    assert acts.fold([put()]).codings["found_by"].isna().all()


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (lambda: put(found_by="chance"), "expected found_by out of search"),
        (lambda: changed(finish(), found_by="search"), "found_by belongs to an act that applies a code"),
    ],
)
def test_only_a_coding_is_found_and_only_by_a_search(made: Callable[[], Act], message: str) -> None:
    with pytest.raises(ActError, match=message):
        made()
