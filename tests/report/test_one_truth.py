"""One paper, one truth: a number in the results that a table of the paper prints too is the same in both."""

from __future__ import annotations

import csv
import re
import statistics
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from sense7_qual import report
from sense7_qual.adjudication import SettledBy
from sense7_qual.report._paper_parts import Sources, parts_of
from sense7_qual.report._text_record import record_of
from sense7_qual.store import Store
from tests.helpers.example_papers import PLAN, settled, shipped
from tests.helpers.nightly import nightly_but

pytestmark = pytest.mark.long

#: Column of a result → the head of its table, and which number of the cell; "+1" is the column behind that.
_INTERVAL = re.compile(r"\[(.+), (.+)\]")
_RELIABILITY = {
    "n_units": "n",
    "prevalence": "Prevalence (%)",
    "percent": "Agreement (%)",
    "alpha": "α",
    "alpha_low": "α+1",
    "alpha_high": "α+1",
}
_LINKS = {
    "n_with": "n with",
    "n_without": "n without",
    "mean_difference": "Mean diff.",
    "odds_ratio": "Odds ratio (own texts)",
    "odds_ratio_low": "Odds ratio (own texts)+1",
    "odds_ratio_high": "Odds ratio (own texts)+1",
    "odds_ratio_df": "df",
    "odds_ratio_p": "p",
    "odds_ratio_p_adjusted": "Adjusted p",
    "p": "p of r",
    "p_adjusted": "Adjusted p",
    "between_odds_ratio": "Odds ratio (people)",
    "between_odds_ratio_low": "Odds ratio (people)+1",
    "between_odds_ratio_high": "Odds ratio (people)+1",
    "between_odds_ratio_p": "p (people)",
    "rank_biserial": "r (all texts)",
    "rank_biserial_low": "r (all texts)+1",
    "rank_biserial_high": "r (all texts)+1",
}
_MISSING = {
    "lowest": "Bounds of r",
    "highest": "Bounds of r",
    "delta_interval": "δ of 95% CI, opposite",
}
_DISCUSSED = {"first": "α before", "second": "α after", "n_changed": "Changed"}
_TABLES = {
    "agreement.by_code": ("reliability", _RELIABILITY),
    "links.code_to_rating": ("links", _LINKS),
    "links.models.missing_ratings": ("missing_ratings", _MISSING),
    "agreement.difference": ("discussion", _DISCUSSED),
}
_PARTICIPANTS = re.compile(r'"n_clusters(_both)?"\]$')
_WORDS = re.compile(r'\["basis"\]\.iloc\[0\]$|\.label$|\.columns\[\d+\]$|(reason|caution)"\]$')
#: Of all codes together, or of one code among none: no table has it.
_ALONE = ("agreement.overall", "codebook.emerged", "codings.new_information", "codings.saturation")

STUDIES: dict[str, tuple[Callable[[Path], Store], str]] = {
    "shipped": (shipped, "rulings"),
    "by the majority": (shipped, "majority"),
    "wholly settled": (settled, "rulings"),
    "the other one, each coder's own": (lambda path: shipped(path, "follow_up"), "nothing"),
}


class Cells:
    """A table as its CSV has it."""

    def __init__(self, path: Path) -> None:
        with path.open(encoding="utf-8-sig", newline="") as file:
            self.heads, *self.rows = csv.reader(file)

    def column(self, head: str) -> dict[str, str]:
        name, _, further = head.partition("+")
        place = self.heads.index(name) + int(further or 0)
        return {row[0]: row[place].removeprefix("'") for row in self.rows}


def number(printed: str) -> float:
    plain = printed.replace("−", "-").replace(",", "").replace("%", "").strip()
    limit = {"<": -1e-9, ">": 1e-9}.get(plain[0], 0.0)
    return float(plain.lstrip("<> ")) + limit


def part(cell: str, column: str) -> str:
    """Return the end of an interval that a column is, or the whole cell."""
    ends = _INTERVAL.fullmatch(cell)
    return cell if ends is None else ends[1 if column.endswith("low") else 2]


def expected(where: str, cells: Cells, heads: dict[str, str], labels: dict[str, str]) -> str:
    """Return what the table prints for a place in its result, one cell or a summary of a column."""
    one = re.fullmatch(r'(?:\.query.+)?\.set_index\("code"\)\.loc\["(\w+)"(?:, |\]\[)"(\w+)"\]', where)
    if one:
        end = {"lowest": "low"}.get(one[2], one[2])
        return part(cells.column(heads[one[2]])[labels[one[1]]], end).lstrip("−" * (end == "delta_interval"))
    chosen, name, summary = re.fullmatch(  # type: ignore[union-attr]
        r'(?:\.query\("(.+)"\))?\["(\w+)"\]\.(.+)', where
    ).groups()
    printed = {
        code: part(cell, name) for code, cell in cells.column(heads[name]).items() if part(cell, name) != "–"
    }
    if chosen:
        column, limit = re.fullmatch(r"(\w+) >= ([.\d]+)", chosen).groups()  # type: ignore[union-attr]
        among = cells.column(heads[column])
        printed = {code: cell for code, cell in printed.items() if number(among[code]) >= float(limit)}
    return summarized(list(printed.values()), summary)


def summarized(cells: Sequence[str], summary: str) -> str:
    values = [number(cell) for cell in cells]
    if summary in ("min()", "max()"):
        return min(cells, key=number) if summary == "min()" else max(cells, key=number)
    if summary == "median()":
        return f"about {statistics.median(values)}"
    limits = [float(one) for one in re.findall(r"\d*\.\d+", summary)]
    counts: dict[str, Callable[[float], bool]] = {
        "notna": lambda value: True,
        "ge": lambda value: value >= limits[0],
        "lt": lambda value: value < limits[0],
        "between": lambda value: limits[0] <= value < limits[1],
        "sum": lambda value: True,
    }
    if summary == "sum()":
        return str(int(sum(values)))
    return str(sum(map(counts[summary.partition("(")[0]], values)))


def same(printed: str, in_table: str) -> bool:
    printed = {"no": "0", "none": "0", "once": "1"}.get(printed, printed)
    if in_table.startswith("about "):
        return abs(number(printed) - float(in_table[6:])) <= 0.0051
    return printed == in_table


@pytest.fixture(scope="module", params=nightly_but(STUDIES, here=["shipped"]))
def written(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Store]:
    make, settled_by = STUDIES[request.param]
    folder = tmp_path_factory.mktemp("paper")
    store = make(folder / "study")
    report.paper(store, PLAN, folder / "paper", formats=["csv", "md"], settled_by=settled_by)
    return folder / "paper", store


def numbers(folder: Path) -> Iterator[dict[str, str]]:
    """Yield the numbers of the results, without the names, reasons and cautions between them."""
    with (folder / "results.csv").open(encoding="utf-8-sig", newline="") as file:
        for row in csv.DictReader(file):
            if not _WORDS.search(row["call"] + row["where"]):
                yield row | {"printed": row["printed"].removeprefix("'")}


def in_table(row: dict[str, str], folder: Path, labels: dict[str, str]) -> tuple[str, str] | None:
    """Return the table that has a number of the text, and what it prints for it; None where none has it."""
    call, where = row["call"], row["where"]
    kind = next((one for one in _TABLES if call.startswith(one)), None)
    if kind and _PARTICIPANTS.search(where):
        return None  # the table has their degrees of freedom
    if kind:
        name, heads = _TABLES[kind]
        cells = Cells(folder / f"{name}.csv")
        if "confidence_level" in where:
            level = {head for head in cells.heads if head.endswith("% CI")}
            return name, level.pop().removesuffix("% CI")
        return name, expected(where, cells, heads, labels)
    if call.startswith("adjudication.queue"):
        return "disagreements", settled_cell(where, Cells(folder / "disagreements.csv"))
    if '.groupby("code")' in where or '.groupby("code")' in call:
        return "codes", frequency(call + where, Cells(folder / "codes.csv"), labels)
    assert call.startswith(_ALONE), (call, where)
    return None


def test_every_number_of_the_results_is_the_tables(written: tuple[Path, Store]) -> None:
    folder, store = written
    labels = {code.id: code.label for code in store.codebook.codes}
    compared, wrong = Counter[str](), []
    for row in numbers(folder):
        found = in_table(row, folder, labels)
        if found:
            compared[found[0]] += 1
            if not same(row["printed"], found[1]):
                wrong.append((found[0], row["sentence"][:60], row["where"], row["printed"], found[1]))
    assert wrong == []
    assert {"reliability", "links", "disagreements", "codes"} <= set(compared)
    assert compared["links"] >= 5


def settled_cell(where: str, cells: Cells) -> str:
    every = {head: cells.column(head)["All codes"] for head in ("Disagreements", "Open")}
    total, still_open = (int(every[head].replace(",", "")) for head in ("Disagreements", "Open"))
    if where == ".shape[0]":
        return every["Disagreements"]
    return every["Open"] if "isna" in where else str(total - still_open)


def frequency(where: str, cells: Cells, labels: dict[str, str]) -> str:
    """Return a part of a cell such as "67 / 287 (23.3)", a line below it "36 / 40".

    Where each coder's own decisions count it is "12.4% of 240".
    """
    code = re.findall(r'\["?(\w+)"?\]|get\("(\w+)"', where)[-1]
    cell = cells.column(cells.heads[1])[labels[code[0] or code[1]]]
    if own := re.fullmatch(r"(.+)% of ([\d,]+)", cell):
        return own[1] if re.findall(r"\.(mean|size)\(", where)[-1] == "mean" else own[2]
    texts, people = cell.split("\n")
    having, decided, share = re.fullmatch(r"([\d,]+) / ([\d,]+) \((.+)\)", texts).groups()  # type: ignore[union-attr]
    kind = re.search(r"sum|size|mean|nunique", where)[0]  # type: ignore[index]
    return {"sum": having, "size": decided, "mean": share, "nunique": people.split(" / ")[0]}[kind]


def test_the_methods_say_what_the_tables_did(written: tuple[Path, Store]) -> None:
    folder, _ = written
    methods, links = ((folder / f"{name}.md").read_text("utf-8") for name in ("methods", "links"))
    assert ("mixed model" in methods) == ("Odds ratio" in links)
    assert ("pooled" in methods) == ("of pooled (" in links)
    assert ("was ruled" in methods) == ("what was ruled" in links)
    (n_tests,) = set(re.findall(r"codes of \w+ \((\d+)\)", links))
    assert f"adjusted across the {n_tests} codes" in methods
    assert "60 bootstrap resamples" in methods
    assert "seed 3" in methods
    assert ("resamples" in links) == ("pooled" not in methods)


@pytest.mark.parametrize("settled_by", nightly_but(["rulings", "nothing"], here=["rulings"]))
def test_the_figures_draw_the_numbers_of_the_tables(settled_by: SettledBy, tmp_path: Path) -> None:
    store = shipped(tmp_path / "study")
    record = record_of(
        store, function="paper", rating=PLAN.rating, n_boot=PLAN.n_boot, seed=PLAN.seed, settled_by=settled_by
    )
    sources = Sources(record, PLAN, with_texts=False, names=(), positionality=None)
    parts, _ = parts_of(sources, (), with_prose=False, codebook_layout="list")
    made = {part.name: part for part in parts}
    for figure, table, head in (
        ("links_plot", "links", "r (all texts)"),
        ("agreement", "reliability", "α"),
    ):
        words, printed = made[figure].make().description, made[table].make().frame
        numbers = printed.set_index("Code").loc[:, head]
        between = printed.iloc[:, list(printed.columns).index(head) + 1]
        for (label, number), interval in zip(numbers.items(), between, strict=True):
            assert f"{label}: {number} {interval}." in words
