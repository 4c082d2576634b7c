"""Every file that this package writes may hold participants' texts: its owner alone can read it."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest

from sense7_qual import acts, agreement, corpus, exchange, figures, models, report, rounds
from sense7_qual._commands.lab import put_example
from sense7_qual.codebook import Codebook
from sense7_qual.errors import StoreError
from sense7_qual.store import Store
from sense7_qual.store._bundle import write as bundles
from tests.helpers.places import ROOT

SENSE7 = Codebook.read("sense7")

#: What makes a file or folder for others to read, unless it is told otherwise.
WRITES = re.compile(
    r"\.(?:write_text|write_bytes|touch|mkdir)\(|os\.(?:open|mkdir|makedirs)\(|open\([^)]*[\"'][wax]b?[\"']"
    r"|copymode|copyfile\(|copy2\(|copytree\(|ZipFile\([^)]*[\"'][wxa][\"']|\.to_csv\(\w*path"
)
#: Where they stand, and why: in a new folder that nobody else can open, or in memory.
KNOWN = {
    "_atomic.py": "the place that makes files and folders; workbooks in memory",
    "_limits.py": "opens to read",
    "_commands/code.py": "the notebook of the page, in a temporary folder",
    "exchange/_refi.py": "a codebook in a temporary folder, read again at once",
    "exchange/_write_project.py": "a project in memory",
    "store/_bundle/rerun.py": "runs at a stranger's; here without rights for others (write.py)",
    "store/_stored/leftover_journal.py": "copies into files that were made private",
    "store/_operations/archive.py": "the zip, in a file that was made private",
}


def test_files_are_made_in_one_place() -> None:
    package = ROOT / "sense7_qual"
    found = {
        path.relative_to(package).as_posix()
        for path in package.rglob("*.py")
        if any(
            WRITES.search(line.partition("#")[0])
            for line in path.read_text("utf-8").splitlines()
            if ">>>" not in line and "... " not in line
        )
    }
    assert found == set(KNOWN)


@pytest.fixture
def usual_umask() -> Iterator[None]:
    """What most systems take from the rights of a new file: 0644 is left."""
    before = os.umask(0o022)
    yield
    os.umask(before)


def coded(folder: Path) -> Store:
    table = pd.DataFrame(
        {
            "id": ["m1", "m2", "m3", "m4"],
            "case": ["p1", "p1", "p2", "p2"],
            "said": ["One", "Two", "Three", "Four"],
            "conversation": ["d1", "d1", "d2", "d2"],
            "Warmth": [1, 2, 4, 5],
        }
    )
    folder.mkdir()
    table.to_csv(folder / "texts.csv", index=False)
    units = corpus.read(
        folder / "texts.csv",
        unit_id="id",
        text="said",
        document_id="conversation",
        case_id="case",
        ratings=["Warmth"],
    )
    (folder / "texts.csv").unlink()
    store = Store.create(folder / "study", units=units, codebook=SENSE7)
    for coder in ("ana", "ben"):
        for unit_id in units["unit_id"]:
            named = {"coder": coder, "unit_id": unit_id, "codebook": SENSE7}
            store.append([acts.apply(code="interest", **named), acts.finish(**named)])
    store.append([acts.memo(coder="ana", unit_id="m1", text="So?", codebook=SENSE7)])
    store.append([rounds.open_round("one", units=["m1"], coders=["ana"], coder="lead", codebook=SENSE7)])
    store.desk.keep_draft("codebook", {"why": "begun"}, coder="lead")
    return store


def write_everything(store: Store, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Walk through every door that leaves a file."""
    store.copies.backup(folder / "new" / "backup")
    store.copies.archive(folder / "new" / "archive.zip")
    Store.restore(folder / "new" / "archive.zip", folder / "restored")
    store.admin.salvage("ana", folder / "salvage" / "ana.sqlite")
    store.copies.hand_out("one", "ana", folder / "hand out")
    store.copies.hand_out("one", "ana", folder / "hand out.zip")
    Store(folder / "hand out").copies.hand_in(folder / "hand in.zip")
    monkeypatch.setattr(bundles, "_run", lambda *_, **__: None)  # tables: test_bundles.py
    store.copies.bundle(folder / "bundle", texts="all", settled_by="rulings")
    store.copies.bundle(folder / "bundle.zip", texts="redacted", settled_by="rulings")
    for suffix in ("xlsx", "csv", "parquet"):
        exchange.export(store, folder / f"export.{suffix}")
    exchange.write_project(store, folder / "project.qdpx")
    for suffix in ("yaml", "qdc"):
        store.codebook.write(folder / f"codebook.{suffix}")
    paper, ruled = folder / "papers" / "first", {"settled_by": "rulings"}
    report.paper(store, None, paper, formats=["csv", "docx", "tex", "md", "html"], **ruled)
    report.paper(store, None, paper, formats=["csv"], overwrite=True, **ruled)
    by_code = agreement.by_code(store.decisions(), units=store.units, cluster="case_id", n_boot=20)
    table = report.tables.reliability(by_code, codebook=SENSE7)
    for suffix in ("docx", "tex", "csv", "md", "html"):
        table.write(folder / f"table.{suffix}")
    for suffix in ("svg", "pdf", "png"):
        figures.agreement_plot(by_code, codebook=SENSE7).write(folder / f"figure.{suffix}")
    report.methods(store, **ruled).write(folder / "methods.docx")
    put_example(folder / "lab")
    models.embed_to_folder(["It listened."], folder / "vectors" / "v", embed=models.embedder())
    models.embedder(cache=folder / "cache" / "e")(["It listened."])


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such rights")
@pytest.mark.usefixtures("usual_umask")
@pytest.mark.long
def test_nobody_else_reads_what_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = coded(tmp_path / "made")
    write_everything(store, tmp_path / "made", monkeypatch)
    open_to_others = {
        path.relative_to(tmp_path).as_posix(): oct(stat.S_IMODE(path.stat().st_mode))
        for path in (tmp_path / "made").rglob("*")
        if stat.S_IMODE(path.stat().st_mode) != (0o700 if path.is_dir() else 0o600)
    }
    assert not open_to_others
    assert len(list((tmp_path / "made").rglob("*"))) > 100


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such rights")
@pytest.mark.usefixtures("usual_umask")
def test_a_file_that_is_written_over_is_private_then(tmp_path: Path) -> None:
    (tmp_path / "codes.yaml").write_text("anything", "utf-8")
    (tmp_path / "codes.yaml").chmod(0o664)
    SENSE7.write(tmp_path / "codes.yaml", overwrite=True)
    assert stat.S_IMODE((tmp_path / "codes.yaml").stat().st_mode) == 0o600


@pytest.mark.skipif(os.name == "nt", reason="links need a right of their own on Windows")
@pytest.mark.parametrize("is_there", [True, False])
def test_a_link_is_not_written_through(is_there: bool, tmp_path: Path) -> None:
    theirs, link = tmp_path / "theirs.yaml", tmp_path / "codes.yaml"
    if is_there:
        theirs.write_text("theirs", "utf-8")
    link.symlink_to(theirs)
    with pytest.raises(StoreError, match=r"the file 'codes\.yaml' already exists"):
        SENSE7.write(link)
    SENSE7.write(link, overwrite=True)
    assert not link.is_symlink()
    assert Codebook.read(link) == SENSE7
    assert theirs.exists() == is_there
    assert not is_there or theirs.read_text("utf-8") == "theirs"
