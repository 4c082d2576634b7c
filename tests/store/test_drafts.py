"""What is begun and not saved: kept beside the record, never in a copy, without words of who withdrew."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pandas as pd
import pytest

from sense7_qual import acts
from sense7_qual.codebook import Code, Codebook
from sense7_qual.errors import ActError, ArgumentError, StoreError
from sense7_qual.store import Store
from tests.store.conftest import Place

CODEBOOK = Codebook(name="small", codes=(Code(id="warm", label="Warm"),))
HERS = "My sister Quokka left on Tuesday for good, and I never told anybody."
UNITS = pd.DataFrame(
    {
        "unit_id": ["m1", "m2"],
        "text": [HERS, "Fine, thanks for asking me about it."],
        "document_id": ["d1", "d2"],
        "case_id": ["p1", "p2"],
        "position": 0,
    }
)
DRAFT = {"steps": [{"do": "add", "label": "Hope"}], "typed": {"why": "Half a sen"}}


@pytest.fixture
def study(tmp_path: Path) -> Store:
    store = Store.create(tmp_path / "study", units=UNITS, codebook=CODEBOOK)
    store.append([acts.finish(coder="lead", unit_id="m2", codebook=CODEBOOK)])
    return store


def files(study: Store) -> list[str]:
    return [file.name for file in (Path(study.path) / "drafts").iterdir()]


def test_a_draft_is_kept_for_its_owner_alone_and_is_gone_once_it_is_empty(study: Store) -> None:
    assert study.desk.draft("codebook", coder="lead") is None
    assert study.desk.keep_draft("codebook", DRAFT, coder="lead")
    again = Store(study.path)
    assert again.desk.draft("codebook", coder="lead") == DRAFT
    assert (
        again.desk.draft("codebook", coder="chair") is again.desk.draft("adjudication", coder="lead") is None
    )
    (file,) = (Path(study.path) / "drafts").iterdir()
    if os.name != "nt":
        assert [stat.S_IMODE(one.stat().st_mode) for one in (file.parent, file)] == [0o700, 0o600]
    again.desk.keep_draft("codebook", {"half": "an emoji \ud83d"}, coder="lead")
    assert study.desk.draft("codebook", coder="lead") == {"half": "an emoji \ufffd"}
    for nothing in (None, {}):
        study.desk.keep_draft("codebook", nothing, coder="lead")
        assert files(study) == []


def test_no_copy_of_the_study_has_a_draft(study: Store, tmp_path: Path) -> None:
    study.desk.keep_draft("codebook", DRAFT, coder="lead")
    study.copies.backup(tmp_path / "backup")
    study.copies.archive(tmp_path / "study.zip")
    assert Store(tmp_path / "backup").desk.draft("codebook", coder="lead") is None
    assert (
        Store.restore(tmp_path / "study.zip", tmp_path / "restored").desk.draft("codebook", coder="lead")
        is None
    )
    copies = [*(tmp_path / "backup").rglob("*"), *(tmp_path / "restored").rglob("*"), tmp_path / "study.zip"]
    assert not [one for one in copies if one.is_file() and b"Half a sen" in one.read_bytes()]
    (row,) = study.verify().query("file.str.startswith('drafts/')").to_dict("records")
    assert (row["file"], row["ok"]) == ("drafts/codebook-lead.json", True)
    assert "not saved" in row["note"]
    assert not study.verify()["problem"].str.contains("no part").any()


def test_a_withdrawal_takes_their_words_out_of_drafts(study: Store) -> None:
    words = "sister Quokka left on Tuesday for good"
    draft = {
        "notes": [{"unit_id": "m1", "text": "Hm."}, {"unit_id": "m2", "text": f"As in {words}."}],
        "steps": [{"do": "edit", "values": {"examples": [f"“{words}”", "Fine."], "definition": "Warm."}}],
        "begun": {"unit_id": "m1", "words": "said of them"},
    }
    study.desk.keep_draft("adjudication", draft, coder="lead")
    study.desk.keep_draft("codebook", {"why": "As with the sister Quokka"}, coder="lead")
    other = Store(study.path)
    found = study.forget("p1", why="withdrew")
    assert other.desk.draft("adjudication", coder="lead") == {
        "notes": [{"unit_id": "m2", "text": ""}],
        "steps": [{"do": "edit", "values": {"examples": ["Fine."], "definition": "Warm."}}],
    }
    listed = found.still_held.set_index("what")
    assert listed.loc["draft to judge", "place"] == "drafts/codebook-lead.json"
    assert "discard" in listed.loc["draft to judge", "to_clear"]
    for store in (study, other):  # of which `other` was open while they withdrew
        with pytest.raises(ActError, match="words of participants who withdrew"):
            store.desk.keep_draft("codebook", draft, coder="lead")
    assert "Tuesday" not in str([one.read_text() for one in Path(study.path).rglob("*.json")])


def test_a_draft_that_was_changed_is_named_and_can_be_replaced(study: Store) -> None:
    study.desk.keep_draft("codebook", DRAFT, coder="lead")
    (file,) = (Path(study.path) / "drafts").iterdir()
    file.write_bytes(file.read_bytes().replace(b"Hope", b"Hate"))
    with pytest.raises(StoreError, match=r"codebook-lead\.json.*expected a draft as it was written"):
        study.desk.draft("codebook", coder="lead")
    assert study.verify().set_index("file").loc["drafts/codebook-lead.json", "ok"] == False  # noqa: E712
    study.desk.keep_draft("codebook", None, coder="lead")
    assert study.verify()["ok"].all()


def test_wrong_drafts_are_refused_and_nothing_is_written(study: Store) -> None:
    for work in ("../up", "Codebook", "", "a-b"):
        with pytest.raises(ArgumentError, match="small letters"):
            study.desk.keep_draft(work, DRAFT, coder="lead")
    for draft in ({"x": float("nan")}, {"x": object()}, {"x": b"bytes"}):
        with pytest.raises(ArgumentError, match="what JSON can hold"):
            study.desk.keep_draft("codebook", draft, coder="lead")
    with pytest.raises(ArgumentError, match="at most 1,250,000 characters"):
        study.desk.keep_draft("codebook", {"x": "x" * 1_300_000}, coder="lead")
    with pytest.raises(ActError):
        study.desk.keep_draft("codebook", DRAFT, coder="../up")
    assert not (Path(study.path) / "drafts").exists()


def test_postgresql_keeps_no_drafts_and_says_so(place: Place) -> None:
    store = Store.create(place("pilot"), units=UNITS, codebook=CODEBOOK)
    kept = store.desk.keep_draft("codebook", DRAFT, coder="lead")
    assert kept is isinstance(store.path, Path)
    assert store.desk.draft("codebook", coder="lead") == (DRAFT if kept else None)
