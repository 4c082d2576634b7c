"""A study that nobody has coded: no file of heads alone is written."""

from __future__ import annotations

from pathlib import Path

import pytest

from sense7_qual import agreement, corpus, exchange, report
from sense7_qual.codebook import Codebook
from sense7_qual.errors import TableError
from sense7_qual.store import Store


@pytest.fixture
def store(tmp_path: Path) -> Store:
    rows = "\n".join(f"m{n},It listened.,p{n % 3}" for n in range(6))
    (tmp_path / "texts.csv").write_text(f"id,said,who\n{rows}\n", encoding="utf-8")
    units = corpus.read(tmp_path / "texts.csv", text="said", unit_id="id", case_id="who")
    return Store.create(tmp_path / "study", units=units, codebook=Codebook.read("sense7"))


@pytest.mark.long
@pytest.mark.parametrize("suffix", [".docx", ".csv", ".tex", ".html", ".md"])
def test_a_table_without_rows_is_not_written(store: Store, tmp_path: Path, suffix: str) -> None:
    by_code = agreement.by_code(store.decisions(), cluster=None)
    memos = report.tables.memo(store.memos(), store.units, codebook=store.codebook)
    for table in (report.tables.reliability(by_code, codebook=store.codebook), memos):
        with pytest.raises(TableError, match="expected rows to write – found none"):
            table.write(tmp_path / f"table{suffix}")
    assert not (tmp_path / f"table{suffix}").exists()


@pytest.mark.long
@pytest.mark.parametrize("table", ["codings", "reliability", "memos"])
def test_no_data_file_of_heads_alone_is_written(store: Store, tmp_path: Path, table: str) -> None:
    with pytest.raises(TableError, match=f"the study has no {table} yet"):
        exchange.export(store, tmp_path / "coded.csv", table=table)  # type: ignore[arg-type]
    assert not (tmp_path / "coded.csv").exists()
    exchange.export(store, tmp_path / "coded.csv")  # the texts are there
    assert len((tmp_path / "coded.csv").read_text("utf-8").splitlines()) == 7
