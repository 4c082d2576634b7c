"""Work without agreement, whole: one coder, how the themes moved and why, memos, a position, all files."""

from __future__ import annotations

import re
import zipfile
from pathlib import Path

import pytest

from sense7_qual import report, themes
from sense7_qual.errors import ArgumentError
from sense7_qual.store import Store
from tests.helpers.reflexive_study import reflexive_study

pytestmark = pytest.mark.long

OF_AGREEMENT = re.compile(
    r"agree|alpha|α|kappa|κ|reliab|coefficient|cross-check|MASI|(?<![0-9a-f])AC1(?![0-9a-f])|inter-?coder|inter-?rater",
    re.IGNORECASE,
)
#: Of a file: hexadecimal digits, which may spell AC1.
CHECKSUM = re.compile(r"\b[0-9a-f]{64}\b")
POSITION = "I come to these texts as a nurse"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    return reflexive_study(tmp_path_factory.mktemp("reflexive") / "study")


def written(folder: Path) -> dict[str, str]:
    """Return all that is in the files of a folder but checksums, what is packed unpacked."""
    texts = {}
    for path in sorted(folder.iterdir()):
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as archive:
                texts |= {
                    f"{path.name}/{one}": archive.read(one).decode("utf-8", "replace")
                    for one in archive.namelist()
                }
        else:
            texts[path.name] = path.read_bytes().decode("utf-8", "replace")
    return {name: CHECKSUM.sub("", text) for name, text in texts.items()}


def position_of(store: Store) -> str:
    memos = store.memos()
    return str(memos.loc[memos["target_kind"] == "study", "memo_id"].iloc[0])


def test_the_whole_paper_has_no_word_of_agreement_in_any_file(store: Store, tmp_path: Path) -> None:
    done = report.paper(
        store,
        None,
        tmp_path / "paper",
        formats=["docx", "tex", "csv", "md", "html"],
        with_texts=True,
        positionality=position_of(store),
    )
    files = set(done.files["file"])
    for name in (
        "methods.docx",
        "results.tex",
        "use_of_ai.html",
        "checklist_rtarg.md",
        "checklist_coreq.csv",
        "themes.docx",
        "revisions.docx",
        "memos.md",
        "quotes.html",
        "preregistration.tex",
        "deviations.md",
        "coded.xlsx",
        "review.md",
    ):
        assert name in files
    texts = written(tmp_path / "paper")
    found = {name: sorted(set(OF_AGREEMENT.findall(text))) for name, text in texts.items()}
    # The colours of a workbook are no words of the paper.
    found = {name: words for name, words in found.items() if words and "/theme/" not in name}
    assert found == {}
    assert POSITION in texts["methods.md"]
    assert POSITION in texts["checklist_rtarg.csv"]
    assert "To be heard is not yet to be answered." in texts["themes.md"]
    assert 'white-space: nowrap">20' in texts["revisions.html"], "a date is not broken over lines"


@pytest.mark.nightly
def test_the_plan_may_be_overruled_and_agreement_would_be_found(store: Store, tmp_path: Path) -> None:
    report.paper(store, None, tmp_path / "paper", formats=["md"], with_agreement=True)
    texts = written(tmp_path / "paper")
    assert OF_AGREEMENT.search(texts["methods.md"]), "or else nothing would be found"
    assert not OF_AGREEMENT.search(texts["themes.md"])
    assert POSITION not in "".join(texts.values())
    assert "To be heard" not in "".join(texts.values()), "memos are texts, which were not asked for"
    with pytest.raises(ArgumentError, match="memo on the study"):
        report.paper(store, None, tmp_path / "other", positionality="none")


def test_a_theme_is_told_with_its_history_its_texts_and_its_memos(store: Store) -> None:
    table = report.tables.theme(store, with_memos=True)
    rows = {row[0]: row[1:] for row in table.rows}
    assert list(rows) == [
        "Care\n(heading)",
        "Heard\n(under Care)",
        "Left alone\n(under Care)",
        "Pushed",
        "Being listened to\n(no longer in the codebook)",
        "Odd\n(no longer in the codebook)",
        "Theme 0 of the topic model: Haste",
        "Theme 1 of the topic model",
        "Theme 2 of the topic model",
    ]
    assert rows["Care\n(heading)"][0].endswith("ana: added as a heading: Both are about care.")
    without_days = {label: re.sub(r"\d{4}-\d\d-\d\d, ", "", row[0]) for label, row in rows.items()}
    assert without_days["Heard\n(under Care)"].split("\n") == [
        "• there as coding began",
        "• ana: “Being listened to” was merged into it: Nobody told them apart.",
        "• ana: renamed from “Being heard” to “Heard”; moved under “Care”: Both are about care.",
    ]
    assert without_days["Odd\n(no longer in the codebook)"].endswith(
        "retired: Odd was a name for not knowing."
    )
    assert without_days["Pushed"].endswith("made of theme 0: It is what Pushed means.")
    assert without_days["Left alone\n(under Care)"] == "ana: added: Seen in five texts."
    assert "merged into theme 0: Waiting is haste" in without_days["Theme 1 of the topic model"]
    assert "dismissed: A theme of spelling." in without_days["Theme 2 of the topic model"]
    assert table.notes[1] == "Left as the topic model found them: 1 theme."
    applied = store.decisions().query("applied")
    care = applied[applied["code"].isin(["heard", "alone"])]["unit_id"]
    people = care.map(store.units.set_index("unit_id")["case_id"]).nunique()
    assert rows["Care\n(heading)"][1] == f"{care.nunique()} texts of {people} participants"
    assert "on m0: She wrote it twice" in rows["Heard\n(under Care)"][2]
    assert "irony" not in rows["Pushed"][2], "m0 is not coded so"
    assert report.tables.theme(store).rows[1][3] == "4"


def test_the_history_of_themes_says_who_did_what_and_why(store: Store) -> None:
    found = themes.history(store.acts())
    assert found["done"].tolist() == ["recorded"] * 4 + ["named", "merged into", "dismissed", "made a code"]
    named = found.iloc[4]
    assert list(named[["coder", "theme", "value", "why", "n_units"]]) == [
        "ana",
        0,
        "Haste",
        "They all count minutes.",
        6,
    ]
    assert found["name"].tolist()[4:] == [None, None, None, "Haste"] or found["name"].isna().sum() == 7
    assert found.iloc[5]["value"] == "0"
    store_acts = store.acts()
    with pytest.raises(ArgumentError, match=r"1,000 characters"):
        themes.edit(
            0, store_acts, store.units, coder="ana", codebook=store.codebook, name="x", why="y" * 1001
        )
