"""One coder with the same study open in two windows: each shows what came from the other, and no text is
finished, or act taken back, over codings that were not shown."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from sense7_qual import acts, corpus
from sense7_qual.codebook import Codebook
from sense7_qual.errors import ActError, StoreError
from sense7_qual.store import Store
from sense7_qual.store._postgres import server
from tests.helpers.browser import OfStudy, new_id

SENSE7 = Codebook.read("sense7")
COMMENTS = "comment,id\nIt listened to me.,m1\nSo kind.,m2\nIt lectured.,m3\n"


@pytest.fixture(params=["folder", pytest.param("postgresql", marks=pytest.mark.postgres)])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    (tmp_path / "comments.csv").write_text(COMMENTS)
    units = corpus.read(tmp_path / "comments.csv", text="comment", unit_id="id")
    place: str | Path = tmp_path / "study"
    if request.param == "postgresql":
        postgres: Callable[..., str] = request.getfixturevalue("postgres")
        place = postgres()
    yield Store.create(place, units=units, codebook=SENSE7)
    if request.param == "postgresql":
        server.connect(str(place)).engine.dispose()


class Windows:
    """Two windows of one coder, each with its own store; `shown` is what each has on the screen."""

    def __init__(self, store: Store, **options: Any) -> None:
        self.store = store
        self.first, self.second = OfStudy(Store(store.path), **options), OfStudy(Store(store.path), **options)


@pytest.fixture
def windows(store: Store) -> Windows:
    return Windows(store)


def codes(answer: dict[str, Any]) -> list[str]:
    return [coding["code"] for coding in answer["unit"]["codings"]]


def finished(store: Store) -> list[str]:
    units: list[str] = store.coverage()["unit_id"].tolist()
    return units


def test_the_next_answer_brings_what_was_coded_in_the_other_window(windows: Windows) -> None:
    first, second = windows.first, windows.second
    first.do("apply", "m1", code="affective")
    first.do("apply", "m2", code="cognitive", start=0, end=2)
    first.do("finish", "m2")
    answer = second.do("apply", "m1", code="cognitive")
    assert codes(answer) == ["affective", "cognitive"]
    (told,) = second.told
    assert told["words"] == "3 changes came from another window"
    assert told["places"] == [0, 1]
    assert (told["flags"], told["n_finished"]) == ("cf.", 1)
    assert second.widget.n_finished == 1
    assert codes(second.ask("unit", place=1)) == ["cognitive"]
    assert codes(first.do("remove", "m1", code="affective")) == ["cognitive"]
    assert [one["words"] for one in first.told] == ["1 coding came from another window"]
    first.do("apply", "m3", code="prosocial")
    assert len(first.told) == 1


def test_no_text_is_finished_over_codings_that_its_window_does_not_show(windows: Windows) -> None:
    first, second = windows.first, windows.second
    first.do("apply", "m1", code="affective")
    first.do("apply", "m1", code="prosocial")
    refused = second.do("finish", "m1")
    assert refused["type"] == "refused"
    assert refused["message"] == (
        "Not done: 2 codings on this text came from another window. Look at them, then press again."
    )
    assert finished(windows.store) == []
    assert [one["places"] for one in second.told] == [[0]]
    assert codes(second.ask("unit", place=0)) == ["affective", "prosocial"]
    assert second.do("finish", "m1")["type"] == "done"
    assert finished(windows.store) == ["m1"]


def test_codings_that_came_on_other_texts_hold_no_finish_up(windows: Windows) -> None:
    windows.first.do("apply", "m2", code="affective")
    answer = windows.second.do("finish", "m1")
    assert (answer["type"], answer["n_finished"]) == ("done", 1)
    assert [one["words"] for one in windows.second.told] == ["1 coding came from another window"]


def test_a_finish_that_was_pressed_before_its_window_showed_what_came_is_not_recorded(
    windows: Windows,
) -> None:
    """A key and Enter in one burst: the key's answer brings the other's coding, the Enter is older."""
    first, second = windows.first, windows.second
    seen = second.ask("unit", place=0)["unit"]["n_acts"]
    first.do("apply", "m1", code="affective")
    assert codes(second.do("apply", "m1", code="cognitive")) == ["affective", "cognitive"]
    refused = second.do("finish", "m1", seen=seen + 1)
    assert refused["message"] == (
        "Not finished: this text changed before you could see it. Look at it, then press again."
    )
    assert finished(windows.store) == []
    again = second.ask("unit", place=0)["unit"]["n_acts"]
    assert second.do("finish", "m1", seen=again)["type"] == "done"


def test_undo_takes_back_what_this_window_did_and_nothing_of_the_other(windows: Windows) -> None:
    first, second = windows.first, windows.second
    second.do("apply", "m1", code="cognitive")
    first.do("apply", "m1", code="affective")
    refused = second.do("undo", None)
    assert refused["message"] == (
        "Not done: 1 coding on this text came from another window. Look at it, then press again."
    )
    assert codes(second.ask("unit", place=0)) == ["cognitive", "affective"]
    assert codes(second.do("undo", None)) == ["affective"]
    assert second.do("undo", None)["message"].startswith("undo: there is nothing to undo")
    assert first.do("undo", None)["message"].startswith("Not done: 1 change on this text")
    assert codes(first.do("undo", None)) == []
    assert second.do("redo", None)["message"].startswith("Not done: 1 change on this text")
    assert codes(second.do("redo", None)) == ["cognitive"]


def test_what_the_other_window_took_back_is_no_longer_there_to_be_undone(windows: Windows) -> None:
    first = windows.first
    first.do("apply", "m1", code="affective")
    second = OfStudy(Store(windows.store.path))  # opened later: it knows that act
    assert codes(second.do("undo", None)) == []
    first.do("apply", "m2", code="cognitive")
    assert first.do("undo", None)["unit"]["unit_id"] == "m2"
    assert first.do("undo", None)["message"].startswith("undo: there is nothing to undo")


def test_memos_and_reopened_texts_come_along(windows: Windows) -> None:
    first, second = windows.first, windows.second
    first.do("memo", "m1", text="Hm.")
    first.do("memo", None, target_kind="code", code="affective", text="Broad.")
    first.do("finish", "m1")
    answer = second.do("apply", "m2", code="affective")
    assert answer["n_finished"] == 1
    (told,) = second.told
    assert [memo["text"] for memo in told["memos"]] == ["Broad."]
    assert second.ask("unit", place=0)["unit"]["memo"]["text"] == "Hm."
    second.do("reopen", "m1")
    assert first.do("apply", "m3", code="affective")["n_finished"] == 0


def test_a_finish_whose_answer_was_lost_is_there_once_whatever_came_after_it(windows: Windows) -> None:
    first, second = windows.first, windows.second
    windows_of_second = second.widget._recorder
    append = windows_of_second._append_after

    def recorded_and_cut_off(*arguments: Any, **named: Any) -> int:
        append(*arguments, **named)
        raise StoreError("the connection was lost")

    windows_of_second._append_after = recorded_and_cut_off
    finish: dict[str, Any] = {"kind": "finish", "unit_id": "m1", "act_id": new_id()}
    assert second.do(**finish)["type"] == "failed"
    windows_of_second._append_after = append
    first.do("apply", "m1", code="affective")
    again = second.do(**finish)
    assert (again["type"], codes(again)) == ("done", ["affective"])
    assert [act.kind for act in windows.store.acts(coder="ana")] == ["finish", "apply"]


def test_acts_of_another_copy_that_were_merged_are_read_by_opening_the_study_again(
    store: Store, tmp_path: Path
) -> None:
    if not isinstance(store.path, Path):
        pytest.skip("a folder's own copy")
    store.copies.backup(tmp_path / "copy")
    window = OfStudy(Store(store.path))
    window.do("apply", "m1", code="affective")
    copy = OfStudy(Store(tmp_path / "copy"))
    copy.do("apply", "m1", code="cognitive")
    store.copies.merge(tmp_path / "copy")
    failed = window.do("finish", "m1")
    assert failed["type"] == "failed"
    assert "open the study again" in failed["message"]
    again = OfStudy(Store(store.path))
    assert sorted(codes(again.ask("unit", place=0))) == ["affective", "cognitive"]


def test_the_store_shows_what_was_not_read_before_it_records_and_records_nothing_where_that_is_refused(
    store: Store,
) -> None:
    first, second = [
        acts.apply(coder="ana", unit_id="m1", code=code, codebook=SENSE7)
        for code in ("affective", "cognitive")
    ]
    done = acts.finish(coder="ana", unit_id="m1", codebook=SENSE7)
    met: list[list[str]] = []

    def meet(unread: list[acts.Act]) -> None:
        met.append([act.act_id for act in unread])
        if len(met) == 1:
            raise ActError("not now")

    assert store.desk.append_after([first], n_read=0, meet=meet) == 1
    assert met == []
    Store(store.path).append([second])
    with pytest.raises(ActError, match="not now"):
        store.desk.append_after([done], n_read=1, meet=meet)
    assert [act.act_id for act in store.acts(coder="ana")] == [first.act_id, second.act_id]
    assert store.desk.append_after([done], n_read=1, meet=meet) == 1
    assert store.desk.append_after([done], n_read=3, meet=meet) == 0
    assert met == [[second.act_id]] * 2
    with pytest.raises(StoreError, match="acts of another copy of the study came in"):
        store.desk.append_after([done], n_read=4, meet=meet)
