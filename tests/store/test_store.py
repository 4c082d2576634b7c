"""The store: a study is made whole, acts are added all or none, and what comes back is what went in."""

from __future__ import annotations

import dataclasses
import json
import stat
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st

from sense7_qual import acts
from sense7_qual.acts import Act
from sense7_qual.codebook import Code, Codebook
from sense7_qual.errors import ActError, StoreError, TableError
from sense7_qual.store import Store
from sense7_qual.store._stored import acts_tables, whole_files
from tests.helpers.small_study import CODEBOOK, REFUSED, SENTINEL, TEXTS, changed, finish, frame_of, put


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.create(tmp_path / "pilot", units=frame_of(), codebook=CODEBOOK)


def everything(store: Store) -> dict[str, bytes]:
    """Every file of the study with its bytes (read only when no connection is open)."""
    return {str(f.relative_to(store.path)): f.read_bytes() for f in store.path.rglob("*") if f.is_file()}


def test_the_folder_is_laid_out_as_documented_and_private(store: Store) -> None:
    store.append([put()])
    found = {str(p.relative_to(store.path)): stat.S_IMODE(p.stat().st_mode) for p in store.path.rglob("*")}
    assert found == {
        "study.json": 0o600,
        "units.parquet": 0o600,
        "codebooks": 0o700,
        f"codebooks/{CODEBOOK.fingerprint}.yaml": 0o600,
        "acts": 0o700,
        "acts/ana.sqlite": 0o600,
    }
    assert stat.S_IMODE(store.path.stat().st_mode) == 0o700
    assert [path.name for path in store.path.parent.iterdir()] == ["pilot"]


def test_units_keep_their_variables_and_answers_as_they_are_written(tmp_path: Path) -> None:
    units = frame_of().assign(
        condition=["NA", "None", "007"],
        rating=pd.array([1, None, 7], dtype="Int64"),
        score=[0.1, np.nan, -3.0],
        kind=pd.Categorical(["a", "b", "a"]),
        context=["earlier", None, ""],
    )
    units.attrs["note"] = object()
    found = Store.create(tmp_path / "s", units=units, codebook=CODEBOOK).units
    assert found["condition"].tolist() == ["NA", "None", "007"]
    assert found["rating"].tolist() == [1, pd.NA, 7]
    assert found["score"].tolist()[0::2] == [0.1, -3.0]
    assert found["score"].isna().tolist() == [False, True, False]
    assert found["kind"].tolist() == ["a", "b", "a"]
    assert found["context"].isna().tolist() == [False, True, False]


def test_a_deed_or_memo_with_an_empty_id_is_not_given_another_one(store: Store) -> None:
    """Each repetition of it would be recorded again."""
    with pytest.raises(ActError, match="UUID as act_id – found ''"):
        store.append([put(act_id="")])
    with pytest.raises(ActError, match="the id of a memo – found an empty memo_id"):
        store.append([acts.memo(coder="ana", unit_id="m1", text="x", memo_id="", codebook=CODEBOOK)])
    with pytest.raises(ActError, match="expected the time in UTC"):
        store.append([put(at="")])
    assert store.acts() == []


def test_a_study_is_never_made_over_something_else(store: Store, tmp_path: Path) -> None:
    before = everything(store)
    with pytest.raises(StoreError, match=r"found one – open it with Store\("):
        Store.create(store.path, units=frame_of(), codebook=CODEBOOK)
    assert everything(store) == before
    full = tmp_path / "full"
    full.mkdir()
    (full / "thesis.docx").write_bytes(b"years of work")
    with pytest.raises(StoreError, match="choose another folder"):
        Store.create(full, units=frame_of(), codebook=CODEBOOK)
    with pytest.raises(StoreError, match="choose another folder"):
        Store.create(full / "thesis.docx", units=frame_of(), codebook=CODEBOOK)
    assert [path.name for path in full.iterdir()] == ["thesis.docx"]


@pytest.mark.parametrize("unit_id", ["", " ", "\t\u2003", "m\0one", "m\ud800"], ids=ascii)
def test_a_unit_that_no_act_could_name_is_refused_before_there_is_a_study(
    tmp_path: Path, unit_id: str
) -> None:
    units = frame_of()
    units["unit_id"] = pd.Series(["m1", unit_id, "m3"], dtype=object)
    with pytest.raises(TableError, match=r"in 1 rows \(first: row '1'\)"):
        Store.create(tmp_path / "odd", units=units, codebook=CODEBOOK)
    assert list(tmp_path.iterdir()) == []


def test_an_empty_folder_and_missing_parents_are_fine(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    Store.create(tmp_path / "empty", units=frame_of(), codebook=CODEBOOK)
    Store.create(tmp_path / "a" / "b" / "c d #1?", units=frame_of(), codebook=CODEBOOK).append([put()])
    assert len(Store(tmp_path / "a" / "b" / "c d #1?").acts()) == 1


def test_a_study_stays_open_when_the_working_folder_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    store = Store.create("pilot", units=frame_of(), codebook=CODEBOOK)
    monkeypatch.chdir("/")
    assert store.append([put()]) == 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda u: u.drop(columns="text"), "expected a column 'text'"),
        (lambda u: u.assign(unit_id=["m1", "m1", "m3"]), "'m1'"),
        (lambda u: u.assign(text=[SENTINEL, None, "c"]), "found none in unit 'm2'"),
        (lambda u: u.assign(text=[SENTINEL, "", "c"]), "found none in unit 'm2'"),
        (lambda u: u.assign(text=[SENTINEL + "\r\n", "b", "c"]), "Windows line ends in unit 'm1'"),
        (lambda u: u.assign(text=["\ufeff" + SENTINEL, "b", "c"]), "byte order mark"),
        (
            lambda u: u.assign(text=pd.Series([SENTINEL + "\ud83d", "b", "c"], dtype=object)),
            "units: expected",
        ),
        (lambda u: u.assign(rating=[1, SENTINEL, 3]), "mixed or unknown kinds in column 'rating'"),
        (lambda u: u.assign(rating=[object(), 1, 2]), "column 'rating'"),
        (lambda u: u.assign(note="x").rename(columns={"note": 7}), "column names that are text"),
        (lambda u: u.assign(note="x").rename(columns={"note": "text"}), "found 'text'"),
        (lambda u: u.to_dict(), "expected a pandas DataFrame"),
    ],
)
def test_unsound_units_are_refused_without_a_trace_and_without_a_text(
    tmp_path: Path, change: Callable[[pd.DataFrame], pd.DataFrame], message: str
) -> None:
    with pytest.raises(TableError, match=message) as refused:
        Store.create(tmp_path / "s", units=change(frame_of()), codebook=CODEBOOK)
    assert SENTINEL not in str(refused.value)
    assert refused.value.__suppress_context__ or refused.value.__context__ is None
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_no_study_is_refused(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(StoreError, match=r"found no study\.json there – check the path, or make a study"):
            Store(path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "unreadable"),
        (b"[]", "unreadable"),
        (b"{}", "unreadable"),
        (b"\xff\xfe", "unreadable"),
        ({"schema": 0}, "unreadable"),
        ({"schema": "1"}, "unreadable"),
        ({"units_sha256": "0" * 64}, "expected units.parquet as it was imported"),
        ({"codebook": "0" * 32}, "put that file back"),
    ],
)
def test_a_study_file_that_is_not_as_written_is_refused(store: Store, content: object, message: str) -> None:
    path = store.path / "study.json"
    if isinstance(content, dict):
        content = whole_files.seal(whole_files.unseal(path.read_bytes()) | content)
    path.write_bytes(content)
    with pytest.raises(StoreError, match=message):
        Store(store.path)


def test_a_study_file_without_its_seal_is_refused(store: Store) -> None:
    path = store.path / "study.json"
    values = whole_files.unseal(path.read_bytes())
    assert values["schema"] == acts_tables.SCHEMA
    path.write_text(json.dumps(values))
    with pytest.raises(StoreError, match="unreadable or changed"):
        Store(store.path)


def test_units_that_changed_on_the_disk_are_refused(store: Store) -> None:
    path = store.path / "units.parquet"
    frame = pd.read_parquet(path)
    frame.assign(text=frame["text"].str.upper()).to_parquet(path, index=False)
    with pytest.raises(StoreError, match="put the original back"):
        Store(store.path)
    found = store.verify().set_index("file")
    assert not found["ok"]["units.parquet"]
    assert "put the original back" in found["problem"]["units.parquet"]
    path.unlink()
    with pytest.raises(StoreError, match="missing files"):
        Store(store.path)


def test_a_codebook_that_was_edited_in_place_is_refused(store: Store) -> None:
    path = store.path / "codebooks" / f"{CODEBOOK.fingerprint}.yaml"
    path.write_bytes(path.read_bytes().replace(b"label: Relational", b"label: Rational", 1))
    with pytest.raises(StoreError, match="a changed codebook is a new version"):
        Store(store.path)
    path.write_bytes(b"\xff")
    with pytest.raises(StoreError, match="found no codebook"):
        Store(store.path)


def test_repeats_change_nothing(store: Store) -> None:
    deeds = [put(start=0, end=2), finish()]
    assert store.append(deeds) == 2
    before = everything(store)
    later = dataclasses.replace(deeds[1], at="2030-01-01T00:00:00.000Z")
    assert store.append(deeds) == store.append(store.acts()) == store.append([later]) == 0
    assert everything(store) == before
    assert store.append([*deeds, put(), put(code="affective")]) == 2
    twice = put(code="relational")
    assert store.append([twice, twice]) == 1
    assert store.append([]) == 0


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """One study for all acts that must not change it."""
    store = Store.create(tmp_path_factory.mktemp("shared") / "s", units=frame_of(), codebook=CODEBOOK)
    store.append([put(coder="kim")])
    store.append([put()])
    return store


@pytest.mark.parametrize(
    ("make", "message"), [case[1:] for case in REFUSED], ids=[case[0] for case in REFUSED]
)
def test_an_act_that_cannot_stand_is_refused_with_its_whole_batch(
    shared: Store, make: Callable[[], list[Act]], message: str
) -> None:
    before, wrong = everything(shared), make()
    batch = [finish("m3", wrong[0].coder), *wrong] if isinstance(wrong, list) else wrong
    with pytest.raises(ActError, match=message) as refused:
        shared.append(batch)
    assert SENTINEL not in f"{refused.value} {refused.value!r}"
    assert everything(shared) == before


def test_a_refused_first_batch_makes_no_acts_file(store: Store) -> None:
    with pytest.raises(ActError, match="no such act"):
        store.append([acts.undo(put(), codebook=CODEBOOK)])
    assert list((store.path / "acts").iterdir()) == []
    assert store.coders == ()


def test_a_code_that_only_groups_or_a_facet_out_of_the_codebook_is_refused(tmp_path: Path) -> None:
    codebook = Codebook(
        name="small", codes=(Code(id="tone", label="Tone", codable=False), Code(id="warm", label="Warm"))
    )
    store = Store.create(tmp_path / "s", units=frame_of(), codebook=codebook)
    with pytest.raises(ActError, match="only groups others"):
        store.append([changed(put("warm", codebook=codebook), code="tone")])
    with pytest.raises(ActError, match="expected one of its facets – found 'valence' – there are none"):
        store.append([changed(put("warm", codebook=codebook), facets="valence=met")])
    assert store.coders == ()


def test_one_act_id_stands_for_one_act(store: Store) -> None:
    act = put(start=0, end=2)
    store.append([act])
    before = everything(store)
    for other in (changed(act, code="affective"), changed(act, start=1, text=None), finish()):
        with pytest.raises(ActError, match="to name one act"):
            store.append([put(), changed(other, act_id=act.act_id)])
    assert everything(store) == before
    one = put()
    with pytest.raises(ActError, match="to name one act"):
        store.append([one, changed(one, code="affective")])


# the record over histories --------------------------------------------------------------------------

_steps = st.lists(
    st.tuples(
        st.sampled_from(["apply", "remove", "finish", "reopen", "memo", "propose", "undo", "redo", "repeat"]),
        st.sampled_from(["ana", "ben"]),
        st.sampled_from(list(TEXTS)),
        st.sampled_from(["interest", "relational"]),
        st.sampled_from([None, (0, 3), (1, 4)]),
        st.integers(0, 20),
        st.booleans(),
    ),
    max_size=14,
)


def deed(
    recorded: list[Act], kind: str, coder: str, unit: str, code: str, span: object, n: int
) -> Act | None:
    own = [act for act in recorded if act.coder == coder]
    named: dict[str, object] = {"coder": coder, "unit_id": unit, "codebook": CODEBOOK}
    start, end = span or (None, None)
    if kind == "repeat":
        return own[n % len(own)] if own else None
    if kind in ("undo", "redo"):
        done = [act for act in own if act.kind not in ("undo", "redo")]
        return getattr(acts, kind)(done[n % len(done)], codebook=CODEBOOK) if done else None
    if kind == "memo":
        return acts.memo(text="n" * (n % 3), memo_id=f"{coder}{n % 2}", **named)
    if kind == "propose":
        return acts.propose(label=f"Code {n}", start=start, end=end, **named)
    if kind in ("finish", "reopen"):
        return getattr(acts, kind)(**named)
    return getattr(acts, kind)(code=code, start=start, end=end, **named)


@pytest.mark.long
@settings(max_examples=12, deadline=None)
@given(_steps)
def test_batches_with_repeats_fold_to_what_the_plain_list_folds_to(steps: list[tuple[object, ...]]) -> None:
    plain: list[Act] = []
    batch: list[Act] = []
    with tempfile.TemporaryDirectory() as folder:
        store = Store.create(Path(folder) / "s", units=frame_of(), codebook=CODEBOOK)
        for *step, flush in steps:
            made = deed(plain, *step)
            if made is None:
                continue
            if batch and (flush or made.coder != batch[0].coder):
                store.append(batch)
                batch = []
            batch.append(made)
            if made not in plain:
                plain.append(made)
        store.append(batch)
        ordered = [act for coder in ("ana", "ben") for act in plain if act.coder == coder]
        again, record = Store(store.path), acts.fold(ordered, codebook=CODEBOOK)
        assert [act.act_id for act in again.acts()] == [act.act_id for act in ordered]
        assert again.acts() == store.acts()
        assert again.verify()["ok"].all()
        pd.testing.assert_frame_equal(again.codings(), record.codings)
        pd.testing.assert_frame_equal(again.coverage(), record.coverage)
        pd.testing.assert_frame_equal(again.memos(), record.memos)
        pd.testing.assert_frame_equal(again.proposals(), record.proposals)


# several threads ------------------------------------------------------------------------------------


def test_threads_write_one_coders_file_without_losing_an_act(store: Store) -> None:
    batches = [[put(start=0, end=i + 1), finish()] for i in range(24)]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(store.append, batches)) == [2] * 24
    expected = {act.act_id for batch in batches for act in batch}
    assert {act.act_id for act in store.acts()} == expected
    found = store.verify().set_index("file")
    assert found["ok"].all()
    assert found.loc["acts/ana.sqlite", ["coder", "n_acts", "problem", "note"]].tolist() == [
        "ana",
        48,
        "",
        "",
    ]


@pytest.mark.long
def test_units_that_repeat_a_transcript_many_times_are_refused_with_what_to_shorten(tmp_path: Path) -> None:
    texts = {f"m{n}": f"Sentence {n}." for n in range(3_000)}
    units = frame_of(texts).assign(context='[{"role": "user", "text": "' + "so it went on " * 3_000 + '"}]')
    with pytest.raises(StoreError, match=r"more than 100 MB.*whole transcript as the context"):
        Store.create(tmp_path / "long", units=units, codebook=CODEBOOK)
    assert list(tmp_path.iterdir()) == []


def test_a_path_with_nul_in_it_is_refused() -> None:
    with pytest.raises(StoreError, match="found one with NUL in it"):
        Store("a\0")
    with pytest.raises(StoreError, match="found one with NUL in it"):
        Store.create("a\0", units=frame_of(), codebook=CODEBOOK)
