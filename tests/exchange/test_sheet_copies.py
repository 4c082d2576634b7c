"""Copies of one coding sheet, filled in apart: no reading takes back what another brought, unless told to."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from sense7_qual import acts, exchange
from sense7_qual.store import Store
from tests.helpers.coding_sheets import BOOK, IDS, edit, read_in, read_with_warnings, recorded, study


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return study(tmp_path)


def copies(store: Store, folder: Path) -> tuple[Path, Path]:
    """Write ana's sheet, and return it with a copy of it."""
    (home,) = exchange.write_coding_sheets(store, folder / "home", coders=["ana"])
    (folder / "office").mkdir()
    return home, Path(shutil.copy(home, folder / "office"))


def test_texts_filled_in_apart_are_all_recorded(store: Store, tmp_path: Path) -> None:
    home, office = copies(store, tmp_path)
    edit(home, m0_warm=1, m0_finished=1)
    edit(office, m1_cold=1, m1_finished=1)
    for sheet in (home, office, home, office):
        read_with_warnings(store, sheet)
    assert store.coverage(coder="ana")["unit_id"].tolist() == ["m0", "m1"]
    assert recorded(store, "m0") == ({"warm"}, "", True)
    assert recorded(store, "m1") == ({"cold"}, "", True)
    n_acts = len(store.acts(coder="ana"))
    read_with_warnings(store, home)
    assert len(store.acts(coder="ana")) == n_acts


def test_an_older_copy_read_later_takes_nothing_back(store: Store, tmp_path: Path) -> None:
    new, old = copies(store, tmp_path)
    edit(old, m0_warm=1)
    edit(new, **{f"{unit}_{name}": 1 for unit in IDS for name in ("warm", "cold", "finished")})
    edit(new, m0_memo="a thought")
    read_in(store, new)
    before = [recorded(store, unit) for unit in IDS]
    said = read_with_warnings(store, old)
    assert [recorded(store, unit) for unit in IDS] == before
    assert "something back: 5" in said
    assert "undo=True" in said
    assert "“finished” of " in said
    assert "memos of 'm0'" in said
    assert "a thought" not in said


BLANK: dict[str, Any] = dict.fromkeys(("warm", "cold", "unsure", "memo", "finished"))
# What a first and a second copy say of m0, what is recorded without undo, whether a warning names m0, and
# what is recorded with undo.
CASES: dict[str, tuple[dict[str, Any], dict[str, Any], Any, bool, Any]] = {
    "the same": ({"warm": 1}, {"warm": 1}, ({"warm"}, "", False), False, ({"warm"}, "", False)),
    "coded in one": ({"warm": 1}, {}, ({"warm"}, "", False), True, (set(), "", False)),
    "a further mark": (
        {"warm": 1},
        {"warm": 1, "cold": 1},
        ({"warm", "cold"}, "", False),
        False,
        ({"warm", "cold"}, "", False),
    ),
    "coded differently": ({"warm": 1}, {"cold": 1}, ({"warm"}, "", False), True, ({"cold"}, "", False)),
    "finished differently": (
        {"warm": 1, "finished": 1},
        {"cold": 1, "finished": 1},
        ({"warm"}, "", True),
        True,
        ({"cold"}, "", True),
    ),
    "a mark more in a finished text": (
        {"warm": 1, "finished": 1},
        {"warm": 1, "cold": 1, "finished": 1},
        ({"warm"}, "", True),
        True,
        ({"warm", "cold"}, "", True),
    ),
    "finished in the first": (
        {"warm": 1, "finished": 1},
        {"warm": 1},
        ({"warm"}, "", True),
        True,
        ({"warm"}, "", False),
    ),
    "finished in the second": (
        {"warm": 1},
        {"warm": 1, "finished": 1},
        ({"warm"}, "", True),
        False,
        ({"warm"}, "", True),
    ),
    "finished as absent": ({"warm": 1}, {"finished": 1}, ({"warm"}, "", False), True, (set(), "", True)),
    "a memo in the first": ({"memo": "one"}, {}, (set(), "one", False), True, (set(), "", False)),
    "a memo in the second": (
        {"warm": 1},
        {"warm": 1, "memo": "two"},
        ({"warm"}, "two", False),
        False,
        ({"warm"}, "two", False),
    ),
    "a longer memo": (
        {"memo": "one"},
        {"memo": "one, two"},
        (set(), "one, two", False),
        False,
        (set(), "one, two", False),
    ),
    "a shorter memo": (
        {"memo": "one, two"},
        {"memo": "one"},
        (set(), "one, two", False),
        True,
        (set(), "one", False),
    ),
    "another memo": ({"memo": "one"}, {"memo": "two"}, (set(), "one", False), True, (set(), "two", False)),
}


@pytest.mark.parametrize("case", CASES)
def test_two_copies_say_something_of_one_text(store: Store, tmp_path: Path, case: str) -> None:
    first, second, kept, is_named, undone = CASES[case]
    home, office = copies(store, tmp_path)
    for sheet, row in ((home, first), (office, second)):
        edit(sheet, **{f"m0_{name}": value for name, value in (BLANK | row).items()})
    read_in(store, home)
    said = read_with_warnings(store, office)
    assert recorded(store, "m0") == kept
    assert ("'m0'" in said) == is_named
    said = read_with_warnings(store, office, undo=True)
    assert recorded(store, "m0") == undone
    assert ("'m0'" in said) == is_named
    assert exchange.read_coding_sheets(store, office) == []
    assert store.verify()["ok"].all()


def test_a_doubt_of_one_copy_stays(store: Store, tmp_path: Path) -> None:
    home, office = copies(store, tmp_path)
    edit(home, m0_warm=1, m0_unsure=1)
    edit(office, m0_warm=1)
    read_in(store, home)
    assert "“unsure” of 'm0'" in read_with_warnings(store, office)
    assert store.codings(coder="ana")["confidence"].tolist() == ["unsure"]


def test_a_file_that_is_filled_in_further_asks_only_for_what_it_takes_back(
    store: Store, tmp_path: Path
) -> None:
    sheet, _ = copies(store, tmp_path)
    edit(sheet, m0_warm=1, m1_warm=1, m1_finished=1)
    assert read_with_warnings(store, sheet) == ""
    edit(sheet, m2_cold=1, m2_finished=1, m0_finished=1, m1_memo="later")
    assert read_with_warnings(store, sheet) == ""
    edit(sheet, m0_warm=None, m3_warm=1)
    said = read_with_warnings(store, sheet)
    assert "something back: 1" in said
    assert "marks of 'm0'" in said
    assert recorded(store, "m0") == ({"warm"}, "", True)
    assert recorded(store, "m3") == ({"warm"}, "", False)
    assert "took something back in texts: 1" in read_with_warnings(store, sheet, undo=True)
    assert recorded(store, "m0") == (set(), "", True)
    assert recorded(store, "m1") == ({"warm"}, "later", True)
    assert read_with_warnings(store, sheet) == ""


def test_undo_leaves_what_this_copy_never_held(store: Store, tmp_path: Path) -> None:
    """Marks that were made in the widget after the sheet was written are nothing that it could remove."""
    sheet, _ = copies(store, tmp_path)
    mine: dict[str, Any] = {"coder": "ana", "codebook": BOOK}
    store.append(
        [
            acts.apply(unit_id="m0", code="warm", **mine),
            acts.finish(unit_id="m0", **mine),
            acts.memo(unit_id="m1", text="there", **mine),
        ]
    )
    edit(sheet, m1_cold=1, m2_warm=1)
    assert read_with_warnings(store, sheet, undo=True) == ""
    assert recorded(store, "m0") == ({"warm"}, "", True)
    assert recorded(store, "m1") == ({"cold"}, "there", False)


def test_a_sheet_written_again_knows_what_was_read(store: Store, tmp_path: Path) -> None:
    old, _ = copies(store, tmp_path)
    edit(old, m0_warm=1, m0_finished=1)
    read_in(store, old)
    (new,) = exchange.write_coding_sheets(store, tmp_path / "new", coders=["ana"])
    edit(new, m1_warm=1)
    assert read_with_warnings(store, new) == ""
    edit(old, m2_warm=1)
    assert read_with_warnings(store, old) == ""
    assert [bool(recorded(store, unit)[0]) for unit in IDS] == [True, True, True, False, False]


def test_marks_made_before_the_sheet_was_written_are_removed_only_with_undo(
    store: Store, tmp_path: Path
) -> None:
    store.append([acts.apply(unit_id="m0", code="warm", coder="ana", codebook=BOOK)])
    sheet, _ = copies(store, tmp_path)
    edit(sheet, m0_warm=None)
    assert "marks of 'm0'" in read_with_warnings(store, sheet)
    assert recorded(store, "m0")[0] == {"warm"}
    read_with_warnings(store, sheet, undo=True)
    assert recorded(store, "m0")[0] == set()


cells = st.fixed_dictionaries(
    dict.fromkeys(("warm", "cold", "unsure", "finished"), st.sampled_from([None, 1]))
    | {"memo": st.sampled_from([None, "one", "one, two", "other"])}
)
edits = st.dictionaries(st.sampled_from(IDS[:3]), cells, max_size=3)
steps = st.one_of(
    st.tuples(st.just("edit"), st.integers(0, 2), edits),
    st.tuples(st.just("read"), st.integers(0, 2), st.none()),
    st.tuples(st.just("copy"), st.tuples(st.integers(0, 2), st.integers(0, 2)), st.none()),
)


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(history=st.lists(steps, min_size=3, max_size=9))
def test_no_reading_takes_back_what_was_recorded(tmp_path_factory: Any, history: list[Any]) -> None:
    folder = tmp_path_factory.mktemp("drawn")
    store = study(folder)
    (first,) = exchange.write_coding_sheets(store, folder, coders=["ana"])
    sheets = [first]
    for n in (1, 2):
        sheets.append(Path(shutil.copy(first, folder / f"copy {n}.xlsx")))
    for what, which, drawn in [*history, *(("read", n, None) for n in range(3))]:
        if what == "copy":
            shutil.copy(sheets[which[0]], folder / "between.xlsx")
            (folder / "between.xlsx").replace(sheets[which[1]])
        elif what == "edit":
            named = {f"{unit}_{name}": cell for unit, row in drawn.items() for name, cell in row.items()}
            edit(sheets[which], **named)
        else:
            before = {unit: recorded(store, unit) for unit in IDS}
            read_with_warnings(store, sheets[which])
            for unit, (codes, memo, finished) in before.items():
                now_codes, now_memo, now_finished = recorded(store, unit)
                assert codes == now_codes if finished else codes <= now_codes
                assert memo in now_memo
                assert finished <= now_finished


@settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(first=edits, second=edits)
def test_with_undo_the_last_copy_has_the_last_word_on_what_it_says(
    tmp_path_factory: Any, first: Any, second: Any
) -> None:
    folder = tmp_path_factory.mktemp("drawn")
    store = study(folder)
    home, office = copies(store, folder)
    for sheet, drawn in ((home, first), (office, second)):
        edit(sheet, **{f"{unit}_{name}": cell for unit, row in drawn.items() for name, cell in row.items()})
        read_with_warnings(store, sheet, undo=True)
    for unit in IDS[:3]:
        row = BLANK | second.get(unit, {})
        codes = {code for code in ("warm", "cold") if row[code]}
        assert recorded(store, unit) == (codes, row["memo"] or "", bool(row["finished"]))
