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
from hypothesis import given, settings
from hypothesis import strategies as st

from sense7_qual import acts
from sense7_qual.acts import Act
from sense7_qual.codebook import Code, Codebook
from sense7_qual.errors import ActError, StoreError, TableError
from sense7_qual.store import Store
from sense7_qual.store._files import signed_json

CODEBOOK = Codebook(
    name="small",
    valence=("met", "unmet", "mixed"),
    codes=tuple(Code(id=i, label=i.title()) for i in ("interest", "relational", "affective", "prosocial")),
)
SENTINEL = "Sentinel-Quokka"
TEXTS = {
    "m1": f"It listened to me. {SENTINEL}",
    "m2": "Héllo 👩‍👩‍👧 שלום",
    "m3": "é\x00 = 1 + 1",
}


def frame_of(texts: dict[str, str] = TEXTS) -> pd.DataFrame:
    n = len(texts)
    return pd.DataFrame(
        {
            "unit_id": list(texts),
            "text": list(texts.values()),
            "document_id": [f"d{i}" for i in range(n)],
            "case_id": [f"p{i % 2}" for i in range(n)],
            "position": range(n),
        }
    )


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.create(tmp_path / "pilot", units=frame_of(), codebook=CODEBOOK)


def put(code: str = "interest", unit_id: str = "m1", coder: str = "ana", **named: object) -> Act:
    return acts.apply(**({"coder": coder, "unit_id": unit_id, "code": code, "codebook": CODEBOOK} | named))


def finish(unit_id: str = "m1", coder: str = "ana") -> Act:
    return acts.finish(coder=coder, unit_id=unit_id, codebook=CODEBOOK)


def everything(store: Store) -> dict[str, bytes]:
    """Every file of the study with its bytes (read only when no connection is open)."""
    return {str(f.relative_to(store.path)): f.read_bytes() for f in store.path.rglob("*") if f.is_file()}


# the study ------------------------------------------------------------------------------------------


def test_a_new_study_holds_what_it_was_given(store: Store) -> None:
    again = Store(store.path)
    pd.testing.assert_frame_equal(again.units, store.units)
    assert again.units["text"].tolist() == list(TEXTS.values())
    assert again.codebook == CODEBOOK
    assert dict(again.codebooks) == {CODEBOOK.fingerprint: CODEBOOK}
    assert again.coders == ()
    assert again.acts() == []
    assert again.codings().empty
    assert again.coverage().empty
    assert again.memos().empty
    assert again.verify()["ok"].all()
    assert repr(again) == "Store(3 units, 4 codes, 0 coders)"


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


def test_the_units_handed_out_are_a_copy(store: Store) -> None:
    units = store.units
    units.loc[0, "text"] = "other"
    assert store.units["text"][0] == TEXTS["m1"]


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
        content = signed_json.seal(signed_json.unseal(path.read_bytes()) | content)
    path.write_bytes(content)
    with pytest.raises(StoreError, match=message):
        Store(store.path)


def test_a_study_file_without_its_seal_is_refused(store: Store) -> None:
    path = store.path / "study.json"
    values = signed_json.unseal(path.read_bytes())
    assert values["schema"] == 1  # nothing was released before
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


# append and read ------------------------------------------------------------------------------------


def test_what_is_appended_comes_back_from_the_disk(store: Store) -> None:
    memo = acts.memo(coder="ana", unit_id="m1", text="wörter 👩‍👩‍👧\x00", codebook=CODEBOOK)
    ruling = acts.rule(coder="ana", unit_id="m1", code="interest", applied=np.True_, codebook=CODEBOOK)
    deeds = [
        put(valence="met", confidence="unsure", round="one"),
        acts.remove(coder="ana", unit_id="m1", code="interest", start=0, end=2, codebook=CODEBOOK),
        finish(),
        memo,
        acts.memo(coder="ana", target_kind="study", text="", codebook=CODEBOOK),
        acts.memo(coder="ana", target_kind="code", code="interest", text="x", codebook=CODEBOOK),
        ruling,
        acts.undo(memo, codebook=CODEBOOK),
        acts.redo(memo, codebook=CODEBOOK),
    ]
    assert store.append(deeds) == 9
    assert Store(store.path).acts() == deeds
    assert store.acts(kind="rule") == [ruling]
    assert store.acts(coder="ben") == []
    assert store.coders == ("ana",)


def test_a_span_gets_its_quote_in_code_points(store: Store) -> None:
    for start, end, quote in [(6, 11, "👩‍👩‍👧"), (12, 16, "שלום"), (0, 16, TEXTS["m2"])]:
        assert store.append([put(unit_id="m2", start=start, end=end)]) == 1
        assert store.acts()[-1].text == quote
    assert store.append([put(unit_id="m3", start=1, end=2, code="affective")]) == 1
    assert store.acts()[-1].text == "\x00"


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


def test_acts_come_coder_by_coder_in_the_order_of_recording(store: Store) -> None:
    late, early = put(at="2030-01-01T00:00:00Z"), put(code="affective", at="2020-01-01T00:00:00Z")
    of_ben, of_ana = [put(coder="ben"), finish(coder="ben")], [late, early]
    store.append(of_ben)
    store.append(of_ana)
    assert store.acts() == of_ana + of_ben
    assert store.acts(coder="ben", kind="finish") == of_ben[1:]
    assert store.codings(coder="ben")["coder"].unique().tolist() == ["ben"]
    pd.testing.assert_frame_equal(store.codings(), acts.fold(of_ana + of_ben).codings)


def test_a_second_store_sees_and_continues_the_first(store: Store) -> None:
    other = Store(store.path)
    first = put()
    store.append([first])
    other.append([acts.undo(first, codebook=CODEBOOK)])
    assert store.codings().empty
    assert store.verify()["ok"].all()


# acts that cannot stand -----------------------------------------------------------------------------

UNKNOWN_ID = "00000000-0000-4000-8000-00000000dead"
MEMO = acts.memo(coder="ana", unit_id="m1", text=SENTINEL, codebook=CODEBOOK)
OTHER = Codebook(name="other", codes=(Code(id="interest", label="I"), Code(id="warm", label="W")))


def changed(act: Act, **named: object) -> Act:
    return dataclasses.replace(act, **named)


def forced(act: Act, **named: object) -> Act:
    """An act with values that its constructor would refuse or convert."""
    for name, value in named.items():
        object.__setattr__(act, name, value)
    return act


REFUSED: list[tuple[str, Callable[[], list[Act]], str]] = [
    ("unit", lambda: [put(unit_id="m11")], "expected a unit of this study – found 'm11' – did you mean 'm1'"),
    ("unit kind", lambda: [forced(put(), unit_id=17)], "expected str for unit_id – found int"),
    ("code", lambda: [changed(put(), code="prosical")], "did you mean 'prosocial'"),
    ("codebook", lambda: [put(codebook=OTHER)], "expected a codebook of this study"),
    ("span", lambda: [put(unit_id="m2", start=0, end=17)], "within the text's 16 code points – found 0 … 17"),
    ("span of remove", lambda: [changed(put(start=0, end=99), kind="remove")], "within the text's"),
    ("quote", lambda: [changed(put(start=0, end=2), text=SENTINEL)], r"found other words \(15 code points"),
    ("text of a whole unit", lambda: [changed(put(), text=TEXTS["m1"])], "leave text out"),
    ("text of finish", lambda: [changed(finish(), text=SENTINEL)], "leave text out"),
    ("undo", lambda: [acts.undo(put(), codebook=CODEBOOK)], "found no such act of theirs"),
    ("redo", lambda: [acts.redo(put(), codebook=CODEBOOK)], "found no such act of theirs"),
    ("coders", lambda: [put(), put(coder="ben")], "found those of 'ana', 'ben' – call append once for each"),
    ("case", lambda: [put(coder="Kim")], "found 'Kim' beside 'kim'"),
    ("time", lambda: [put(at="yesterday")], "expected the time in UTC"),
    ("surrogate", lambda: [changed(MEMO, text=SENTINEL + "\ud83d")], "half of a surrogate pair"),
    ("memo", lambda: [changed(MEMO, target_kind="code")], "a memo on a unit, a code or the study"),
    ("memo kind", lambda: [changed(MEMO, target_kind="page")], "a memo on a unit, a code or the study"),
    ("applied", lambda: [forced(put(), kind="rule", applied=1)], "expected bool for applied – found int"),
    ("no act", lambda: [put(), "finish"], "expected a list of acts – found 'str'"),
    ("one act", put, "expected a list of acts – found 'a single Act'"),
]


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


def test_a_code_that_only_groups_or_a_valence_out_of_the_codebook_is_refused(tmp_path: Path) -> None:
    codebook = Codebook(
        name="small", codes=(Code(id="tone", label="Tone", codable=False), Code(id="warm", label="Warm"))
    )
    store = Store.create(tmp_path / "s", units=frame_of(), codebook=codebook)
    with pytest.raises(ActError, match="only groups others"):
        store.append([changed(put("warm", codebook=codebook), code="tone")])
    with pytest.raises(ActError, match="expected valence out of none – found 'met'"):
        store.append([changed(put("warm", codebook=codebook), valence="met")])
    assert store.coders == ()


def test_one_act_id_stands_for_one_act(store: Store) -> None:
    act = put(start=0, end=2)
    store.append([act])
    before = everything(store)
    for other in (changed(act, code="affective"), changed(act, start=1, text=None), finish()):
        with pytest.raises(ActError, match="to stand for one act"):
            store.append([put(), changed(other, act_id=act.act_id)])
    assert everything(store) == before
    one = put()
    with pytest.raises(ActError, match="to stand for one act"):
        store.append([one, changed(one, code="affective")])


def test_undo_names_an_earlier_act_of_the_same_coder(store: Store) -> None:
    act, of_ben = put(), put(coder="ben")
    undo = acts.undo(act, codebook=CODEBOOK)
    store.append([of_ben])
    with pytest.raises(ActError, match="found no such act of theirs"):
        store.append([undo, act])  # before the act itself
    with pytest.raises(ActError, match="found no such act of theirs"):
        store.append([changed(acts.undo(of_ben, codebook=CODEBOOK), coder="ana")])
    assert store.append([act, undo]) == 2
    with pytest.raises(ActError, match="found an act of kind 'undo'"):
        store.append([changed(undo, act_id=UNKNOWN_ID, target=undo.act_id)])


def test_reading_asks_for_a_real_kind_and_pseudonym(store: Store) -> None:
    with pytest.raises(ActError, match="did you mean 'apply'"):
        store.acts(kind="appply")
    with pytest.raises(ActError, match="pseudonym"):
        store.acts(coder="../ana")
    store.append([put()])
    with pytest.raises(ActError, match="use 'ana'"):
        store.acts(coder="ANA")


def test_no_text_is_shown_by_the_store_or_its_acts(store: Store) -> None:
    store.append([put(start=0, end=len(TEXTS["m1"])), MEMO])
    assert SENTINEL in store.acts()[0].text
    assert SENTINEL not in f"{store!r} {store} {store.acts()!r} {store.verify()}"


# the record over histories --------------------------------------------------------------------------

_steps = st.lists(
    st.tuples(
        st.sampled_from(["apply", "remove", "finish", "reopen", "memo", "undo", "redo", "repeat"]),
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
    if kind in ("finish", "reopen"):
        return getattr(acts, kind)(**named)
    return getattr(acts, kind)(code=code, start=start, end=end, **named)


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
        again, record = Store(store.path), acts.fold(ordered)
        assert [act.act_id for act in again.acts()] == [act.act_id for act in ordered]
        assert again.acts() == store.acts()
        assert again.verify()["ok"].all()
        pd.testing.assert_frame_equal(again.codings(), record.codings)
        pd.testing.assert_frame_equal(again.coverage(), record.coverage)
        pd.testing.assert_frame_equal(again.memos(), record.memos)


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
