"""`sense7-qual hand-out`, `hand-in`, and `code` of a file: what they print, and where the work is kept."""

from __future__ import annotations

import argparse
import shutil
from pathlib import Path

import pytest

import sense7_qual as qual
from sense7_qual import _commands
from sense7_qual._commands import code, main
from sense7_qual.errors import ArgumentError
from tests.helpers.coding_page import SENTINEL, study


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = study(tmp_path / "study")
    qual.Store(place).assign(coders=["ana", "ben"], overlap=0.4, seed=3, coder="lead")
    return place


@pytest.fixture
def given(folder: Path, tmp_path: Path) -> Path:
    (tmp_path / "at ben's").mkdir()
    file = tmp_path / "at ben's" / "ben.zip"
    assert main(["hand-out", str(folder), "--coder", "ben", "--out", str(file)]) == 0
    return file


@pytest.fixture
def coding(monkeypatch: pytest.MonkeyPatch) -> list[argparse.Namespace]:
    """What would be served; while the page is open, ben finishes one text."""
    pages: list[argparse.Namespace] = []

    def served(parsed: argparse.Namespace) -> dict[str, object]:
        pages.append(parsed)
        store = qual.Store(parsed.study)
        unit_id = store.plan.query("coder == 'ben'")["unit_id"].iloc[len(pages) - 1]
        store.append([qual.acts.finish(coder=parsed.coder, unit_id=unit_id, codebook=store.codebook)])
        return {}

    monkeypatch.setattr(code, "_notebook", served)
    monkeypatch.setattr(code, "_serve", lambda *_, **__: None)
    monkeypatch.setattr(code.importlib.util, "find_spec", lambda _: True)
    return pages


def test_one_file_goes_out_is_coded_and_comes_back(folder, given, coding, capsys) -> None:
    assert main(["code", str(given), "--no-browser"]) == 0
    assert main(["code", str(given)]) == 0  # unpacked once
    assert [(page.coder, page.round, Path(page.study)) for page in coding] == [
        ("ben", None, given.with_suffix(""))
    ] * 2
    back = given.with_name("ben-back.zip")
    printed = capsys.readouterr()
    assert printed.out.count("Unpacked to ") == 1
    assert printed.out.endswith(f"Written: {back}, with 2 acts. Send it to whoever leads the study.\n")
    assert SENTINEL not in printed.out + printed.err
    assert main(["merge", str(folder), str(back)]) == 0
    assert capsys.readouterr().out == f"{back}: 2 new acts merged, 0 already here\n"
    assert len(qual.Store(folder).coverage()) == 2


def test_hand_in_writes_the_same_and_never_over_another_file(given, coding, capsys) -> None:
    main(["code", str(given)])
    back = given.with_name("ben-back.zip")
    before = back.read_bytes()
    for named in (given, given.with_suffix("")):
        assert main(["hand-in", str(named)]) == 0
        assert back.read_bytes() == before
    back.write_bytes(b"somebody's")
    assert main(["hand-in", str(given)]) == 1
    assert back.read_bytes() == b"somebody's"
    assert "expected nothing at" in capsys.readouterr().err


def test_whose_it_is_says_the_file(folder, given, coding, tmp_path, capsys) -> None:
    assert main(["code", str(given), "--coder", "ana"]) == 1
    assert "expected the coder to whom this was handed out, 'ben'" in capsys.readouterr().err
    assert not coding
    main(["hand-out", str(folder), "--coder", "ben", "--out", str(tmp_path / "second.zip")])
    shutil.copy(tmp_path / "second.zip", given)  # over the first, which is unpacked
    assert main(["code", str(given)]) == 1
    assert "expected nothing of another hand-out at 'ben'" in capsys.readouterr().err
    main(["archive", str(folder), str(tmp_path / "whole.zip")])
    with pytest.raises(ArgumentError, match=r"or a \.zip file that was handed out – found another file"):
        code.whose(argparse.Namespace(study=str(tmp_path / "whole.zip"), coder=None, round=None))


def test_what_is_not_ben_s_is_named_with_status_1(folder, given, coding, capsys) -> None:
    main(["code", str(given)])
    ben = qual.Store(given.with_suffix(""))
    ben.append([qual.acts.finish(coder="dee", unit_id=ben.units["unit_id"].iloc[0], codebook=ben.codebook)])
    capsys.readouterr()
    assert main(["merge", str(folder), str(given.with_suffix(""))]) == 1
    assert "refused: 1 act of 'dee'" in capsys.readouterr().out
    assert qual.Store(folder).coders == ("ben", "lead")


def test_a_round_goes_out_by_its_name(folder, tmp_path, coding, capsys) -> None:
    store = qual.Store(folder)
    units = store.units["unit_id"].tolist()[:2]
    store.append(
        [
            qual.rounds.open_round(
                "Wärme 🫶", units=units, coders=["ben"], coder="lead", codebook=store.codebook
            )
        ]
    )
    target = str(tmp_path / "ben.zip")
    assert main(["hand-out", str(folder), "--coder", "bne", "--round", "Wärme 🫶", "--out", target]) == 1
    assert "did you mean 'ben'" in capsys.readouterr().err
    assert main(["hand-out", str(folder), "--coder", "ben", "--round", "Wärme 🫶", "--out", target]) == 0
    parsed = argparse.Namespace(study=target, coder=None, round=None)
    assert code.whose(parsed)
    assert (parsed.coder, parsed.round) == ("ben", "Wärme 🫶")
    assert _commands.parser().parse_args(["hand-in", "ben"]).out is None
