"""All that a paper prints, in one call: what is written, what is left out and why, and what never gets in."""

from __future__ import annotations

import errno
import re
import time
import zipfile
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from sense7_qual import _atomic, acts, agreement, corpus, links, report
from sense7_qual.acts.contents import AnalysisPlan
from sense7_qual.codebook import Code, Codebook
from sense7_qual.errors import ArgumentError, StoreError
from sense7_qual.report._paper_parts import Part
from sense7_qual.store import Store
from tests.helpers.planned_study import PLAN, planned_study
from tests.helpers.reviewed_study import study

pytestmark = pytest.mark.long

QUICK = replace(PLAN, n_boot=20)


def rated(path: Path, **named: object) -> Store:
    """Make the study again with a rating, a condition and texts that can be told from everything else."""
    made = study(path.with_name("first"), plan=QUICK)
    units = made.units.assign(
        text=[f"Zqcanary {text}" for text in made.units["text"]],
        Warmth=[1 + i * 7 % 5 for i in range(len(made.units))],
        **{"System / build": ["a", "b"] * (len(made.units) // 2)},
    )
    store = Store.create(path, units=units, codebook=made.codebook)
    for coder in made.coders:
        store.append(made.acts(coder=coder))
    return store


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    return rated(tmp_path_factory.mktemp("paper") / "study")


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def everything(folder: Path) -> bytes:
    """Return all bytes of all files, those inside Word documents and workbooks unpacked."""
    parts = []
    for path in sorted(folder.iterdir()):
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as archive:
                parts += [archive.read(name) for name in archive.namelist()]
        else:
            parts.append(path.read_bytes())
    return b"".join(parts)


def test_what_is_written_is_said_and_is_what_the_calls_give(store: Store, tmp_path: Path) -> None:
    plan = replace(QUICK, rating="Warmth", cluster="case_id")
    told: list[tuple[int, int]] = []
    done = report.paper(
        store,
        plan,
        tmp_path / "paper",
        formats=["csv", "docx"],
        conditions=["System / build"],
        progress=lambda *so_far: told.append(so_far),
    )
    assert names(tmp_path / "paper") == {*done.files["file"], "paper.json"}
    assert "basis.md" in done.files["file"].tolist()
    some = (
        "codes_by_System___build.csv",
        "links.csv",
        "links_plot.pdf",
        "agreement.png",
        "deviations.docx",
        "preregistration.csv",
        "reliability_data.csv",
        "review.docx",
    )
    assert set(some) <= set(done.files["file"])
    assert told[-1] == (len(told), len(told))
    assert repr(done) == f"PaperFolder({len(done.files)} files, {len(done.left_out)} left out)"
    assert "quotes, memos" in done.table.markdown()
    assert set(done.left_out["what"]) == {
        "revisions",
        "themes",
        "discussion",
        "suggestions",
        "models",
        "missing_ratings",
        "quotes, memos, coded data with the texts",
    }
    by_code = agreement.by_code(store.decisions(), units=store.units, cluster="case_id", n_boot=20, seed=0)
    own = report.tables.reliability(by_code, codebook=store.codebook, cluster_name="participants")
    assert (tmp_path / "paper" / "reliability.csv").read_bytes() == own.csv().encode("utf-8-sig")
    decided = store.decisions(settled_by="rulings")
    effects = links.code_to_rating(
        decided, store.units, rating="Warmth", cluster="case_id", sources=["consensus"], n_boot=20, seed=0
    )
    assert int(effects["n_with"].iloc[0] + effects["n_without"].iloc[0]) == len(store.units)
    table = report.tables.link(
        effects, source="consensus", codebook=store.codebook, rating="Warmth", cluster_name="participants"
    )
    printed = (tmp_path / "paper" / "links.csv").read_text("utf-8-sig")
    assert table.csv().splitlines()[:5] == printed.splitlines()[:5]


@pytest.mark.nightly
def test_no_text_gets_in_unless_it_may(store: Store, tmp_path: Path) -> None:
    report.paper(store, None, tmp_path / "without", formats=["docx", "tex", "csv", "md", "html"])
    assert b"Zqcanary" not in everything(tmp_path / "without")
    done = report.paper(store, None, tmp_path / "with", formats=["csv"], with_texts=True)
    assert {"quotes.csv", "coded.xlsx"} <= names(tmp_path / "with")
    assert b"Zqcanary" in everything(tmp_path / "with")
    assert "there are none" in done.left_out.set_index("what")["why"]["memos"]


@pytest.mark.nightly
def test_twice_the_same_is_the_same_to_the_byte(store: Store, tmp_path: Path) -> None:
    report.paper(store, None, tmp_path / "one", with_texts=True)
    time.sleep(2)  # a zip archive counts every other second
    report.paper(store, None, tmp_path / "two", with_texts=True)
    assert names(tmp_path / "one") == names(tmp_path / "two")
    for name in names(tmp_path / "one"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes(), name


@pytest.mark.nightly
def test_what_is_coded_meanwhile_comes_into_none_of_it(tmp_path: Path) -> None:
    made = rated(tmp_path / "study")
    book, unit = made.codebook, made.units["unit_id"].iloc[0]

    def goes_on(done: int, of: int) -> None:
        made.append(
            [
                acts.apply(coder="zoe", unit_id=unit, code=book.codable[0].id, codebook=book),
                acts.finish(coder="zoe", unit_id=unit, codebook=book),
                acts.memo(coder="zoe", target_kind="study", text="Late.", codebook=book),
            ]
        )

    report.paper(made, QUICK, tmp_path / "before", formats=["csv"])
    report.paper(made, QUICK, tmp_path / "meanwhile", formats=["csv"], progress=goes_on)
    assert everything(tmp_path / "meanwhile") == everything(tmp_path / "before")
    assert "zoe" in made.coverage()["coder"].unique()


def test_without_agreement_no_coefficient_is_anywhere(tmp_path: Path) -> None:
    plan = AnalysisPlan(question="What is it like?", with_agreement=False, settled_by="any", n_boot=20)
    unregistered = study(tmp_path / "study")
    done = report.paper(unregistered, plan, tmp_path / "paper", formats=["md", "csv"])
    assert not {"reliability.md", "agreement.pdf", "reliability_data.csv"} & set(done.files["file"])
    written = everything(tmp_path / "paper").decode("utf-8", "replace").lower()
    written = re.sub(r"\b[0-9a-f]{64}\b", "", written)  # checksums may spell it
    assert not [word for word in ("alpha", "kappa", "ac1") if word in written]


@pytest.mark.nightly
def test_whose_decisions_count_is_said_and_not_chosen_by_what_is_settled(tmp_path: Path) -> None:
    one = report.paper(
        study(tmp_path / "one", flaw="one_coder"), None, tmp_path / "a", formats=["md"], with_prose=False
    )
    why = one.left_out.set_index("what")["why"]
    assert why["reliability, disagreements"].startswith("no text was coded by two or more")
    assert "ana" in (tmp_path / "a" / "co_occurrence.md").read_text("utf-8")
    for name, flaw in (("two", "unsettled"), ("three", None)):
        made, named = study(tmp_path / name, flaw=flaw), {"formats": ["md"], "with_prose": False}
        for by, words in (("majority", "majority"), ("rulings", "consensus")):
            folder = tmp_path / f"{name}-{by}"
            report.paper(made, None, folder, settled_by=by, **named)
            assert words in (folder / "co_occurrence.md").read_text("utf-8").lower()


@pytest.mark.nightly
def test_what_a_study_has_more_is_written_too(tmp_path: Path) -> None:
    revised = planned_study(tmp_path / "revised", deviation="codes_reworded")
    assert (
        "revisions.csv"
        in report.paper(revised, None, tmp_path / "a", formats=["csv"], with_prose=False)
        .files["file"]
        .tolist()
    )
    shown = study(tmp_path / "shown", flaw="suggestions_first")
    done = report.paper(shown, None, tmp_path / "b", settled_by="rulings", formats=["csv"], with_prose=False)
    assert "suggestions.csv" in done.files["file"].tolist()


def test_a_file_that_is_there_stays_and_nothing_else_is_written(store: Store, tmp_path: Path) -> None:
    folder = tmp_path / "paper"
    folder.mkdir()
    (folder / "review.tex").write_text("mine", encoding="utf-8")
    with pytest.raises(StoreError, match=r"review\.tex"):
        report.paper(store, None, folder, with_prose=False)
    assert names(folder) == {"review.tex"}
    report.paper(store, None, folder, overwrite=True, with_prose=False)
    assert (folder / "review.tex").read_text("utf-8") != "mine"
    with pytest.raises(StoreError, match="cannot write to the folder"):
        report.paper(store, None, folder / "review.tex")


@pytest.mark.nightly
def test_over_an_earlier_paper_nothing_of_it_stays_that_this_one_does_not_have(
    store: Store, tmp_path: Path
) -> None:
    folder, named = tmp_path / "paper", {"formats": ["md"], "with_prose": False}
    report.paper(store, None, folder, with_texts=True, **named)
    (folder / "mine.md").write_text("mine", encoding="utf-8")
    texts = {"quotes.md", "memos.md", "coded.xlsx"} & names(folder)
    assert {"quotes.md", "coded.xlsx"} <= texts
    done = report.paper(store, None, folder, overwrite=True, **named)
    assert not texts & names(folder)
    assert set(done.files["file"]) | {"mine.md", "paper.json"} == names(folder)
    assert texts <= set(done.left_out["what"])
    assert b"Zqcanary" not in everything(folder)
    # What a person changed is not taken away, and nothing is written in its place.
    report.paper(store, None, folder, with_texts=True, overwrite=True, **named)
    (folder / "quotes.md").write_text("edited", encoding="utf-8")
    before = everything(folder)
    with pytest.raises(StoreError, match=r"changed since.*'quotes\.md'"):
        report.paper(store, None, folder, overwrite=True, **named)
    assert everything(folder) == before
    report.paper(store, None, folder, with_texts=True, overwrite=True, **named)
    assert "edited" not in (folder / "quotes.md").read_text("utf-8")
    (folder / "paper.json").write_text('{"files": {"../units.parquet": "0"}}', encoding="utf-8")
    for over in (True, False):
        with pytest.raises(StoreError, match="does not list the files" if over else "the folder already has"):
            report.paper(store, None, folder, overwrite=over, **named)


@pytest.mark.parametrize("earlier", [False, True])
def test_a_part_that_cannot_be_written_leaves_the_folder_as_it_was(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, earlier: bool
) -> None:
    folder, named = tmp_path / "paper", {"formats": ["md"], "with_prose": False}
    if earlier:
        report.paper(store, None, folder, with_texts=True, **named)
    before = everything(folder) if earlier else None
    write = Part.write

    def full_disk(part: Part, made: object, path: Path, **options: object) -> None:
        write(part, made, path, **options)
        if part.name == "review":
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Part, "write", full_disk)
    with pytest.raises(StoreError, match="No space left"):
        report.paper(store, None, folder, overwrite=earlier, **named)
    assert (everything(folder) if folder.exists() else None) == before


@pytest.mark.nightly
def test_the_files_of_a_paper_that_was_broken_off_are_known(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, named = tmp_path / "paper", {"formats": ["md"], "with_prose": False}
    move_in = _atomic.move_in

    def broken_off(built: Path, path: Path, **options: bool) -> None:
        move_in(built, path, **options)
        if path == folder / "quotes.md":
            raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(_atomic, "move_in", broken_off)
        with pytest.raises(StoreError, match="No space left"):
            report.paper(store, None, folder, with_texts=True, **named)
    before = everything(folder)
    with pytest.raises(StoreError, match=r"an interrupted run wrote: 'quotes\.md'"):
        report.paper(store, None, folder, overwrite=True, **named)
    assert everything(folder) == before
    report.paper(store, None, folder, overwrite=True, with_texts=True, **named)
    report.paper(store, None, folder, overwrite=True, **named)
    assert "quotes.md" not in names(folder)


@pytest.mark.parametrize(
    ("named", "error"),
    [
        ({"formats": ["doc"]}, "did you mean 'docx'"),
        ({"formats": []}, "found none"),
        ({"conditions": ["Warmt"]}, "did you mean 'Warmth'"),
        ({"conditions": ["text"]}, "expected a column"),
        ({"source": "ana"}, "pass settled_by"),
        ({"round": "two"}, "round"),
        ({"analysis_plan": AnalysisPlan(question="Why?", rating="text")}, "expected rating to be a column"),
        ({"store": pd.DataFrame()}, "open study"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_written(
    store: Store, tmp_path: Path, named: dict[str, object], error: str
) -> None:
    given: dict[str, object] = {"store": store, "analysis_plan": None, "path": tmp_path / "paper"} | named
    with pytest.raises(ArgumentError, match=error):
        report.paper(**given)  # type: ignore[arg-type]
    assert not (tmp_path / "paper").exists()


def test_a_study_that_nobody_has_coded_has_no_paper(store: Store, tmp_path: Path) -> None:
    empty = Store.create(tmp_path / "empty", units=store.units, codebook=store.codebook)
    empty.append([acts.preregister(QUICK, coder="lead", codebook=store.codebook)])
    with pytest.raises(ArgumentError, match="texts that a coder has finished"):
        report.paper(empty, None, tmp_path / "paper")


LABELS = {
    "warm": "Warmth 👩‍👩‍👧 ❤️",
    "kind": "關心 (care)",
    "cold": "تعاطف",
    "long": "Über-e\u0301motion " + "of a very long label " * 6,
}


@pytest.mark.nightly
@pytest.mark.filterwarnings("ignore:figure. no font on this machine has")
def test_labels_of_any_letters_end_no_paper(tmp_path: Path) -> None:
    book = Codebook(name="letters", codes=tuple(Code(id=one, label=label) for one, label in LABELS.items()))
    stars = {
        "Said": [f"Text {i} 👍🏽" for i in range(24)],
        "P": [f"p{i % 8}" for i in range(24)],
        "Stars": [1 + i * 7 % 5 for i in range(24)],
        "Group": ["a 👍", "b"] * 12,
    }
    pd.DataFrame(stars).to_csv(tmp_path / "said.csv", index=False)
    units = corpus.read(tmp_path / "said.csv", text="Said", case_id="P", ratings=["Stars"])
    store = Store.create(tmp_path / "study", units=units, codebook=book)
    for step, coder in enumerate(("ana", "ben")):
        here = {"coder": coder, "codebook": book}
        store.append(
            [
                acts.apply(unit_id=unit, code=code, **here)
                for i, unit in enumerate(units["unit_id"])
                for j, code in enumerate(LABELS)
                if (i * (j + 2) + step * (i % 5 == 0)) % 3 == 0
            ]
            + [acts.finish(unit_id=unit, **here) for unit in units["unit_id"]]
        )
    plan = AnalysisPlan(question="Why 👍?", rating="Stars", settled_by="rulings", n_boot=20)
    written = report.paper(
        store, plan, tmp_path / "paper", formats=["docx", "tex", "md", "csv"], conditions=["Group"]
    )
    assert names(tmp_path / "paper") == {*written.files["file"], "paper.json"}
    assert {"agreement.pdf", "links_plot.pdf", "links.tex", "codebook.docx"} <= set(written.files["file"])
    printed = (tmp_path / "paper" / "links.md").read_text("utf-8")
    assert all(label.strip() in printed for label in LABELS.values())
