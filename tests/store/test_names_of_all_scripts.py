"""Coders whose pseudonyms are written in any script: one name, however a disk or a keyboard spells it."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from pathlib import Path

import pytest

from sense7_qual import acts, corpus, exchange, report
from sense7_qual._commands import main
from sense7_qual.acts import check_coder
from sense7_qual.codebook import Codebook
from sense7_qual.errors import ActError, StoreError
from sense7_qual.rounds import open_round, visible
from sense7_qual.store import Store

CODERS = ("çelik", "王芳", "Øystein")
SENSE7 = Codebook.read("sense7")


def apart(name: str) -> str:
    """The name as macOS writes it: letters and their accents apart (NFD)."""
    return unicodedata.normalize("NFD", name)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    rows = "\n".join(f"m{n},It listened {n}.,p{n % 3}" for n in range(6))
    (tmp_path / "texts.csv").write_text(f"id,said,who\n{rows}\n", encoding="utf-8")
    units = corpus.read(tmp_path / "texts.csv", text="said", unit_id="id", case_id="who", document_id="who")
    return Store.create(tmp_path / "study", units=units, codebook=SENSE7)


def code(store: Store, coder: str) -> None:
    named = {"coder": coder, "codebook": SENSE7, "round": "one"}
    codes = [acts.apply(unit_id=f"m{n}", code="interest", **named) for n in range(len(coder) % 3 + 1)]
    store.append([*codes, *(acts.finish(unit_id=f"m{n}", **named) for n in range(6))])


@pytest.fixture
def coded(store: Store, tmp_path: Path) -> Store:
    """A round that was handed out to each coder, coded, and merged."""
    ids = store.units["unit_id"].tolist()
    store.append([open_round("one", units=ids, coders=CODERS, coder="Größe", codebook=SENSE7)])
    for n, coder in enumerate(CODERS):
        store.copies.hand_out("one", apart(coder), tmp_path / f"copy{n}")
        code(Store(tmp_path / f"copy{n}"), coder)
        store.copies.merge(tmp_path / f"copy{n}", coders=[apart(coder)])
    return store


@pytest.mark.nightly
def test_coders_of_all_scripts_go_through_copies_archive_bundle_export_and_report(
    coded: Store, tmp_path: Path
) -> None:
    assert set(coded.coders) == {*CODERS, "Größe"}
    assert bool(coded.verify()["ok"].all())
    decided = coded.decisions()
    assert set(decided["coder"]) >= set(CODERS)
    coded.copies.archive(tmp_path / "study.zip")
    restored = Store.restore(tmp_path / "study.zip", tmp_path / "restored")
    assert restored.decisions().equals(decided)
    coded.copies.backup(tmp_path / "backup")
    assert Store(tmp_path / "backup").acts() == coded.acts()
    coded.copies.bundle(tmp_path / "bundle", texts="withheld", cluster="case_id", settled_by="rulings")
    assert Store(tmp_path / "bundle").decisions().equals(decided)
    exchange.export(coded, tmp_path / "coded.csv")
    assert "interest.çelik" in (tmp_path / "coded.csv").read_text("utf-8-sig").splitlines()[0]
    exchange.write_project(coded, tmp_path / "study.qdpx")
    assert set(exchange.read_project(tmp_path / "study.qdpx").coders) >= set(CODERS)
    written = report.paper(
        coded, None, tmp_path / "paper", settled_by="rulings", formats=["csv", "docx", "tex"]
    )
    assert len(written.files)


@pytest.mark.long
def test_the_same_name_in_another_spelling_is_the_same_coder(coded: Store) -> None:
    for coder in CODERS:
        assert coded.acts(coder=apart(coder)) == coded.acts(coder=coder) != []
        assert visible(coded.acts(), viewer=apart(coder)) == visible(coded.acts(), viewer=coder)
    assert acts.finish(coder=apart("çelik"), unit_id="m1", codebook=SENSE7).coder == "çelik"
    assert check_coder(apart("Größe")) == "Größe"


@pytest.mark.long
def test_a_file_that_a_disk_spells_otherwise_is_still_the_coders(coded: Store, tmp_path: Path) -> None:
    file = coded.path / "acts" / "çelik.sqlite"
    before = coded.acts(coder="çelik")
    file.rename(file.with_name(apart(file.name)))
    again = Store(coded.path)
    assert again.acts(coder="çelik") == before
    assert set(again.coders) == {*CODERS, "Größe"}
    again.append([acts.reopen(coder="çelik", unit_id="m1", codebook=SENSE7, round="one")])
    assert not file.exists()
    assert len(again.acts(coder="çelik")) == len(before) + 1
    assert bool(again.verify()["ok"].all())
    again.copies.archive(tmp_path / "respelt.zip")
    assert Store.restore(tmp_path / "respelt.zip", tmp_path / "there").acts() == again.acts()
    file.write_bytes(b"")
    with pytest.raises(StoreError, match="one acts file of a coder"):
        Store(coded.path).acts()


@pytest.mark.long
def test_postgresql_has_a_schema_for_each(postgres: Callable[..., str], store: Store, tmp_path: Path) -> None:
    """The longest pseudonym's schema is not cut to the name of another's."""
    team = Store.create(postgres(), units=store.units, codebook=SENSE7)
    longest = ["芳" * 13, "芳" * 12 + "王"]
    for coder in (*CODERS, *longest):
        team.append([acts.finish(coder=apart(coder), unit_id="m1", codebook=SENSE7)])
    assert set(team.coders) == {*CODERS, *longest}
    assert [len(team.acts(coder=coder)) for coder in longest] == [1, 1]
    with pytest.raises(ActError, match="next to 'çelik'"):
        team.append([acts.finish(coder="Çelik", unit_id="m1", codebook=SENSE7)])
    assert bool(team.verify()["ok"].all())
    team.copies.archive(tmp_path / "team.zip")
    assert Store.restore(tmp_path / "team.zip", tmp_path / "of_team").acts() == team.acts()


@pytest.mark.long
@pytest.mark.parametrize("alike", ["Çelik", "çelıк", "çeliк", "ÇELIK"])
def test_a_name_that_looks_like_a_recorded_one_is_refused(coded: Store, alike: str) -> None:
    with pytest.raises(ActError, match="next to 'çelik'"):
        coded.acts(coder=alike)
    with pytest.raises(ActError, match="next to 'çelik'"):
        coded.append([acts.finish(coder=alike, unit_id="m1", codebook=SENSE7)])


IMPOSSIBLE = [
    *("ana bo", "ana.bo", "../ana", "ana/bo", "-ana", "_ana", "", "a" * 41, "芳" * 14, "test😀", "½a"),
    *("\u0301ana", "an\u200da", "ana\u3164", "ana\ufe0f", "ana\x00", "\ud800a", "ana\u202e"),
    *("ｃonsensus", "\u0441onsensus", "Ｍodel-x"),
]
POSSIBLE = [*("ana", "A1", "1b", "প্রিয়া", "สมชาย", "أحمد", "שרה", "Ελένη", "Юлия", "芳" * 13, "model-çelik")]


@pytest.mark.parametrize("name", IMPOSSIBLE)
def test_what_cannot_be_a_pseudonym(name: str) -> None:
    with pytest.raises(ActError):
        check_coder(name)


@pytest.mark.parametrize("name", POSSIBLE)
def test_pseudonyms_of_many_scripts(name: str) -> None:
    assert check_coder(name) == unicodedata.normalize("NFC", name)


def test_the_command_line_takes_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = "\n".join(f"m{n},It listened {n}." for n in range(6))
    (tmp_path / "texts.csv").write_text(f"id,said\n{rows}\n", encoding="utf-8")
    study, coders = tmp_path / "study", f"{apart('çelik')},王芳"
    asked = ["new", str(study), "--data", str(tmp_path / "texts.csv"), "--text", "said", "--yes"]
    assert main([*asked, "--coders", coders, "--lead", "Øystein"]) == 0
    assert set(Store(study).plan["coder"]) == {"çelik", "王芳"}
    assert "çelik" in capsys.readouterr().out
