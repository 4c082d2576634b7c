"""`sense7-qual bundle`: what it asks for, what it hands on, and what it prints."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import sense7_qual as qual
from sense7_qual._commands import main
from sense7_qual.store._bundle import write as bundles
from tests.helpers.coding_page import SENTINEL, study


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A study in which a text is finished; the tables of its bundles, which take seconds, are not made."""
    monkeypatch.setattr(bundles, "_run", lambda *_, **__: None)
    place = study(tmp_path / "study")
    store = qual.Store(place)
    store.append([qual.acts.finish(coder="ana", unit_id="t0/1", codebook=store.codebook)])
    return place


@pytest.mark.long
def test_a_bundle_is_written_without_texts(folder: Path, tmp_path: Path, capsys: Any) -> None:
    out = tmp_path / "out"
    words = ["bundle", str(folder), "--out", str(out), "--rating", "EmpathyOverall", "--format", "CSV"]
    assert main([*words, "--texts", "withheld"]) == 0
    assert capsys.readouterr().out.startswith(f"Bundled as {out}: ")
    assert SENTINEL not in "".join(qual.Store(out).units["text"])
    assert "EmpathyOverall" in qual.Store(out).units
    assert main([*words, "--texts", "all"]) == 1
    assert "found something there" in capsys.readouterr().err
    assert main([*words, "--texts", "all", "--overwrite"]) == 0
    assert SENTINEL in "".join(qual.Store(out).units["text"])


def test_what_becomes_of_the_texts_is_asked_for(folder: Path, tmp_path: Path, capsys: Any) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["bundle", str(folder), "--out", str(tmp_path / "out")])
    assert ended.value.code == 2
    assert "--texts" in capsys.readouterr().err


@pytest.mark.long
@pytest.mark.parametrize(
    ("words", "error"),
    [
        (["--rating", "Empathy"], "did you mean 'EmpathyOverall'?"),
        (["--format", "pdf"], "expected formats out of"),
        (["--variable", "textt"], "expected a column of the study's units"),
        (["--name", "x", "--texts", "redacted"], "expected names of two letters or more"),
    ],
)
def test_what_cannot_be_is_one_sentence_and_no_file(
    folder: Path, tmp_path: Path, words: list[str], error: str, capsys: Any
) -> None:
    assert main(["bundle", str(folder), "--out", str(tmp_path / "out"), "--texts", "withheld", *words]) == 1
    printed = capsys.readouterr().err
    assert printed.startswith("sense7-qual: ")
    assert printed.count("\n") == 1
    assert not (tmp_path / "out").exists()
    assert error in printed
