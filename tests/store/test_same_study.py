"""`Store.create(…, exist_ok=True)`: cells that run again and again open their own study, and no other."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from multiprocessing import Queue, get_context
from multiprocessing.synchronize import Barrier
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from sense7_qual import acts
from sense7_qual.codebook import Code, Codebook
from sense7_qual.errors import ActError, StoreError, TableError
from sense7_qual.store import Store
from sense7_qual.store._postgres import server

BOOK = Codebook(
    name="small", codes=tuple(Code(id=i, label=i.title(), definition=f"About {i}.") for i in ("warm", "cold"))
)
QUOTE = "My sister Quokka left on Tuesday and"
UNITS = pd.DataFrame(
    {
        "unit_id": ["m1", "m2", "m3", "m4"],
        "text": [f"{QUOTE} cried.", "Fine, thanks.", "Another one's words.", "No more than that."],
        "document_id": ["d1", "d1", "d2", "d2"],
        "case_id": ["p1", "p2", "p3", "p4"],
        "position": [0, 1, 0, 1],
        "context": [None, f"{QUOTE} cried.", "kept", "kept, too"],
        "rating": [1, 5, None, 3],
        "mood": pd.Categorical(["low", "high", "low", "low"]),
        "note": ["a", f"said: {QUOTE}", None, "d"],
    }
)


@pytest.fixture(
    params=["folder", pytest.param("postgresql", marks=[pytest.mark.nightly, pytest.mark.postgres])]
)
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str | Path]:
    """Where a study of the kind can be made."""
    if request.param == "folder":
        yield tmp_path / "studies" / "pilot"
        return
    address = request.getfixturevalue("postgres")()
    yield address
    server.connect(address).engine.dispose()


def again(path: str | Path, units: pd.DataFrame = UNITS, codebook: Codebook = BOOK) -> Store:
    """Run the cell; where it warns, fail."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return Store.create(path, units=units, codebook=codebook, exist_ok=True)


def did(store: Store, unit_id: str = "m2", coder: str = "ana") -> None:
    named = {"coder": coder, "unit_id": unit_id, "codebook": store.codebook}
    store.append([acts.apply(code="warm", **named), acts.finish(**named)])


# the same study -------------------------------------------------------------------------------------


def test_made_the_first_time_and_opened_with_its_acts_from_then_on(path: str | Path) -> None:
    store = again(path)
    assert len(store.units) == 4
    did(store)
    opened = again(path)
    assert opened.acts() == store.acts()
    assert opened.codebook == BOOK
    pd.testing.assert_frame_equal(opened.units, store.units)
    assert again(str(path)).acts() == store.acts()


def test_a_study_that_create_made_is_opened_too(path: str | Path) -> None:
    made = Store.create(path, units=UNITS, codebook=BOOK)
    did(made)
    assert again(path).acts() == made.acts()


@pytest.mark.parametrize(
    "units",
    [
        UNITS.iloc[::-1],
        UNITS.set_axis([7, 7, 7, 7]),
        UNITS[UNITS.columns[::-1]],
        UNITS.assign(position=UNITS["position"].astype("Int64"), rating=UNITS["rating"].astype("Int64")),
        UNITS.astype({"mood": "string", "note": "string"}),
        UNITS.assign(context=UNITS["context"].fillna(np.nan)),
    ],
    ids=["rows in another order", "another index", "columns", "integers", "strings", "missing otherwise"],
)
def test_the_same_units_in_another_dress_are_the_same(tmp_path: Path, units: pd.DataFrame) -> None:
    made = again(tmp_path / "s")
    pd.testing.assert_frame_equal(again(tmp_path / "s", units).units, made.units)


def test_a_column_of_lists_is_compared_too(tmp_path: Path) -> None:
    lists = UNITS.assign(tags=[["a"], ["b", "c"], [], None])
    again(tmp_path / "s", lists)
    again(tmp_path / "s", lists.iloc[::-1])
    with pytest.raises(StoreError, match=r"other values in column 'tags' of 1 units \('m1'\)"):
        again(tmp_path / "s", lists.assign(tags=[["a", "z"], ["b", "c"], [], None]))


def test_the_study_goes_on_with_a_later_version_of_the_codebook(path: str | Path) -> None:
    store = again(path)
    did(store)
    for label in ("Warmth", "Warmness"):
        codes = (replace(BOOK.codes[0], label=label), BOOK.codes[1])
        store.revise(replace(BOOK, codes=codes), why="A label.", coder="lead")
    opened = again(path)
    assert opened.codebook["warm"].label == "Warmness"
    assert len(opened.revisions) == 2
    assert again(path, codebook=store.codebook).codebook == store.codebook


# another study --------------------------------------------------------------------------------------


OTHER_UNITS = {
    r"found 1 units that it does not have \('m5'\)": pd.concat(
        [UNITS, UNITS.iloc[[3]].assign(unit_id="m5")], ignore_index=True
    ),
    r"found 2 of its units missing \('m1', 'm4'\)": UNITS.iloc[1:3],
    r"found 4 units that it does not have \('x0', 'x1', 'x2' \(4 in all\)\)": UNITS.assign(
        unit_id=[f"x{i}" for i in range(4)]
    ),
    r"found other values in column 'text' of 1 units \('m2'\)": UNITS.assign(
        text=UNITS["text"].str.replace("thanks", "thank you")
    ),
    r"found other values in column 'rating' of 2 units \('m2', 'm3'\)": UNITS.assign(rating=[1, 4, 2, 3]),
    r"found other values in column 'note' of 1 units \('m2'\)": UNITS.assign(note=["a", None, None, "d"]),
    r"found other values in column 'case_id' of 1 units \('m4'\)": UNITS.assign(
        case_id=["p1", "p2", "p3", "p3"]
    ),
    r"found columns that it does not have \('trust'\)": UNITS.assign(trust=3),
    r"found columns of it missing \('rating'\)": UNITS.drop(columns="rating"),
}


@pytest.mark.long
@pytest.mark.parametrize("found", OTHER_UNITS)
def test_other_units_are_refused_and_nothing_is_changed(tmp_path: Path, found: str) -> None:
    store = again(tmp_path / "s")
    did(store)
    with pytest.raises(StoreError, match=found) as raised:
        again(tmp_path / "s", OTHER_UNITS[found])
    said = str(raised.value)
    assert said.startswith(f"study at '{tmp_path / 's'}': expected the units that it was made of – found")
    assert said.endswith("or make a study of these at another place.")
    assert "Quokka" not in said
    assert again(tmp_path / "s").acts() == store.acts()


def test_other_units_are_refused_on_the_server_too(path: str | Path) -> None:
    again(path)
    with pytest.raises(StoreError, match="found 1 of its units missing"):
        again(path, UNITS.iloc[1:])


def test_another_codebook_is_refused(path: str | Path) -> None:
    store = again(path)
    codes = (replace(BOOK.codes[0], definition="Else."), Code(id="dry", label="Dry"))
    found = "found another, with 'dry'; without 'cold'; with another entry for 'warm' – go on with Store"
    with pytest.raises(StoreError, match=found):
        again(path, codebook=replace(BOOK, codes=codes))
    with pytest.raises(StoreError, match="with the same codes and other settings"):
        again(path, codebook=replace(BOOK, title="Other"))
    assert dict(again(path).codebooks) == dict(store.codebooks) == {BOOK.fingerprint: BOOK}


def test_what_could_be_no_study_is_refused_in_any_case(path: str | Path) -> None:
    for _ in range(2):
        with pytest.raises(ActError, match="expected a Codebook – found str"):
            Store.create(path, units=UNITS, codebook="sense7", exist_ok=True)
        with pytest.raises(TableError, match="expected a pandas DataFrame – found list"):
            Store.create(path, units=["a text"], codebook=BOOK, exist_ok=True)
        with pytest.raises(TableError, match="found none in unit 'm2'"):
            Store.create(path, units=UNITS.assign(text=["a", "", "c", "d"]), codebook=BOOK, exist_ok=True)
        again(path)
    with pytest.raises(ActError, match="expected a Codebook – found str"):
        Store.create(f"{path}_2", units=UNITS, codebook="sense7")


def test_a_damaged_study_or_other_files_are_never_replaced(tmp_path: Path) -> None:
    store = again(tmp_path / "s")
    did(store)
    content = (tmp_path / "s" / "study.json").read_bytes()
    (tmp_path / "s" / "study.json").write_text("{}")
    with pytest.raises(StoreError, match="unreadable or changed"):
        again(tmp_path / "s")
    (tmp_path / "s" / "study.json").unlink()
    with pytest.raises(StoreError, match="expected nothing, or an empty folder – found other files"):
        again(tmp_path / "s")
    (tmp_path / "s" / "study.json").write_bytes(content)
    assert again(tmp_path / "s").acts() == store.acts()
    (tmp_path / "file").write_text("a file")
    with pytest.raises(StoreError):
        again(tmp_path / "file")
    (tmp_path / "empty").mkdir()
    assert len(again(tmp_path / "empty").units) == 4


# who withdrew ---------------------------------------------------------------------------------------


def test_who_withdrew_does_not_come_back(path: str | Path) -> None:
    """Neither with the old table, of which a warning says what to do, nor with one that is without them."""
    store = again(path)
    for unit_id in UNITS["unit_id"]:
        did(store, unit_id)
    store.forget("p1", why="Asked to.")
    with pytest.warns(UserWarning, match=r"found 'm1' in the table, which the study leaves out") as told:
        opened = Store.create(path, units=UNITS, codebook=BOOK, exist_ok=True)
    assert told[0].filename == __file__
    left = UNITS[UNITS["case_id"] != "p1"]
    for each in (opened, again(path, left)):
        assert each.units["unit_id"].tolist() == ["m2", "m3", "m4"]
        assert each.units["context"].isna().tolist() == [True, False, False]
        assert not each.units.astype("string").stack().str.contains("Quokka").any()
        assert set(each.decisions()["unit_id"]) == {"m2", "m3", "m4"}
        assert each.verify()["ok"].all()
    if isinstance(path, Path):
        assert not [file for file in path.rglob("*") if file.is_file() and b"Quokka" in file.read_bytes()]
    with pytest.raises(StoreError, match="found 1 units that it does not have"):
        again(path, left.assign(unit_id=["m2", "m3", "m9"]))
    with pytest.raises(StoreError, match="other values in column 'rating' of 1 units"):
        again(path, left.assign(rating=[5, None, 4]))


def test_two_who_withdrew(tmp_path: Path) -> None:
    store = again(tmp_path / "s")
    store.forget("p1", why="Asked to.")
    store.forget("p3", why="Asked to.")
    assert len(again(tmp_path / "s", UNITS[UNITS["case_id"].isin(["p2", "p4"])]).units) == 2
    with pytest.warns(UserWarning, match="found 'm3' in the table"):
        Store.create(tmp_path / "s", units=UNITS[UNITS["case_id"] != "p1"], codebook=BOOK, exist_ok=True)


# two at once ----------------------------------------------------------------------------------------


def _running(path: str | Path, n: int, mine: int, begin: Barrier, said: Queue[str]) -> None:
    units = pd.concat([UNITS.assign(unit_id=UNITS["unit_id"] + f"_{i}") for i in range(n)])
    begin.wait()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            store = Store.create(path, units=units.assign(kind=mine), codebook=BOOK, exist_ok=True)
        did(store, "m2_0", f"coder{len(store.units)}-{begin.wait()}")
        said.put("done")
    except StoreError as error:
        begin.wait()
        said.put(str(error).partition(" – ")[2])


@pytest.mark.long
@pytest.mark.parametrize("same", [True, False])
def test_notebooks_that_make_one_study_at_one_instant(path: str | Path, same: bool) -> None:
    """One makes it and all open it; where they mean different studies, all but one's are refused."""
    context = get_context("forkserver")  # a fork of this process would have its other threads' locks
    context.set_forkserver_preload([__name__])
    begin, said = context.Barrier(4), context.Queue()
    working = [
        context.Process(target=_running, args=(path, 50, 0 if same else i, begin, said)) for i in range(4)
    ]
    for each in working:
        each.start()
    answers = [said.get(timeout=300) for _ in working]
    for each in working:
        each.join()
    n_done = answers.count("done")
    assert n_done == (4 if same else 1), answers
    assert all("other values in column 'kind'" in answer for answer in answers if answer != "done")
    store = Store(path)
    assert len(store.coders) == n_done
    assert len(store.acts()) == 2 * n_done
    assert store.verify()["ok"].all()
    if isinstance(path, Path):
        assert [file.name for file in path.parent.iterdir()] == [path.name]


@pytest.mark.postgres
def test_a_coders_role_opens_the_study_and_another_role_is_told(postgres: Callable[..., str]) -> None:
    address = postgres()
    lead = again(address)
    lead.admin.add_coder("ana", role="ana")
    name = address.rpartition("=")[2]
    ana = again(postgres("ana", name))
    did(ana)
    lead.forget("p1", why="Asked to.")
    assert len(again(ana.path, UNITS.iloc[1:]).units) == 3
    with pytest.warns(UserWarning, match="found 'm1' in the table"):
        Store.create(ana.path, units=UNITS, codebook=BOOK, exist_ok=True)
    lead.admin.add_coder("zoe", role="zoe")  # so that the role exists
    elsewhere = postgres()
    again(elsewhere)
    with pytest.raises(StoreError, match="expected a study that this role may open – found none"):
        again(postgres("zoe", elsewhere.rpartition("=")[2]))
    for each in (address, str(ana.path), elsewhere):
        server.connect(each).engine.dispose()


def test_a_study_from_before_origins_could_be_left_open_is_the_same(tmp_path: Path) -> None:
    """Its copy of the codebook says "deductive" where the file that it was read from says nothing."""
    open_now = replace(BOOK, codes=tuple(replace(code, origin="") for code in BOOK.codes))
    before = replace(BOOK, codes=tuple(replace(code, origin="deductive") for code in BOOK.codes))
    Store.create(tmp_path / "s", units=UNITS, codebook=before)
    again = Store.create(tmp_path / "s", units=UNITS, codebook=open_now, exist_ok=True)
    assert again.codebook == before
