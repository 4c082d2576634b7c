"""The order of coding: by the first finish, the plan where several are finished at once."""

from __future__ import annotations

import pandas as pd
import pytest

from sense7_qual import acts, codings
from sense7_qual.codebook import Codebook
from sense7_qual.errors import TableError

SENSE7 = Codebook.read("sense7")


def at(minute: int) -> str:
    return f"2026-02-03T09:{minute:02}:00Z"


def finish(unit_id: str, minute: int, **more: str) -> acts.Act:
    return acts.finish(coder="ana", unit_id=unit_id, codebook=SENSE7, at=at(minute), **more)


def test_reopening_and_finishing_again_keeps_the_first_time() -> None:
    again = acts.reopen(coder="ana", unit_id="m1", codebook=SENSE7, at=at(3))
    coverage = acts.fold([finish("m1", 1), finish("m2", 2), again, finish("m1", 4)]).coverage
    first = dict(zip(coverage["unit_id"], coverage["first_finished_at"], strict=True))
    assert first == {"m1": at(1), "m2": at(2)}
    assert coverage.set_index("unit_id")["finished_at"].to_dict() == {"m1": at(4), "m2": at(2)}
    assert codings.finish_order(coverage)["unit_id"].tolist() == ["m1", "m2"]


def test_a_finish_that_was_undone_counts_as_never_done() -> None:
    slip = finish("m1", 1)
    undone = acts.undo(slip, codebook=SENSE7, at=at(2))
    coverage = acts.fold([slip, undone, finish("m2", 3), finish("m1", 4)]).coverage
    assert codings.finish_order(coverage)["unit_id"].tolist() == ["m2", "m1"]


def test_a_unit_of_several_rounds_belongs_where_it_was_first_finished() -> None:
    coverage = acts.fold(
        [finish("m1", 1, round="one"), finish("m2", 2, round="one"), finish("m1", 3, round="two")]
    ).coverage
    order = codings.finish_order(coverage)
    assert order["unit_id"].tolist() == ["m1", "m2"]
    assert order["at"].dt.minute.tolist() == [1, 2]


def test_of_units_finished_at_once_the_plan_decides() -> None:
    coverage = acts.fold([finish(unit_id, 1) for unit_id in ("m1", "m2", "m3")]).coverage
    plan = pd.DataFrame({"coder": "ana", "unit_id": ["m3", "m1"], "round": None, "place": [0, 1]})
    assert codings.finish_order(coverage, plan=plan)["unit_id"].tolist() == ["m3", "m1", "m2"]


def test_units_without_a_time_come_last_and_what_is_no_time_is_refused() -> None:
    coverage = acts.fold([finish("m1", 1), finish("m2", 2)]).coverage.drop(columns="first_finished_at")
    coverage.loc[0, "finished_at"] = None
    assert codings.finish_order(coverage)["unit_id"].tolist() == ["m2", "m1"]
    for column in ("finished_at", "first_finished_at"):
        with pytest.raises(TableError, match="other values in 2 rows"):
            codings.finish_order(coverage.assign(**{column: "yesterday"}))


def test_participants_come_in_the_order_of_their_first_finish() -> None:
    """A participant whose text was looked at again is still the first."""
    again = acts.reopen(coder="ana", unit_id="m1", codebook=SENSE7, at=at(3))
    code = acts.apply(coder="ana", unit_id="m1", code="interest", codebook=SENSE7, at=at(0))
    record = acts.fold([code, finish("m1", 1), finish("m2", 2), again, finish("m1", 4)])
    units = pd.DataFrame({"unit_id": ["m1", "m2"], "case_id": ["p1", "p2"]})
    found = codings.development(record.codings, units, cluster="case_id", coverage=record.coverage)
    assert found[["cluster", "n_new"]].values.tolist() == [["p1", 1], ["p2", 0]]
