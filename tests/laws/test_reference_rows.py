"""Every row of the reference values is met by a test: none is left unread."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from pathlib import Path

from sense7_qual.agreement import coefficients
from tests.helpers.places import ROOT
from tests.helpers.reference import REFERENCE

TESTS = ROOT / "tests"
READS = (REFERENCE.name, "import reference_rows")


def claimed() -> dict[str, set[str]]:
    """The strings of each test module that reads the reference values."""
    found: dict[str, set[str]] = {}
    for path in TESTS.rglob("test_*.py"):
        source = path.read_text("utf-8")
        if any(words in source for words in READS) and path.name != Path(__file__).name:
            for text in strings(ast.parse(source)):
                found.setdefault(text, set()).add(path.name)
    return found


def strings(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def test_every_statistic_of_the_reference_is_claimed_by_a_test_that_reads_it() -> None:
    rows = json.loads(REFERENCE.read_text("utf-8"))
    known = set(claimed())
    assert {"u_alpha_2016", "masi_distance", "rank_biserial"} <= known  # the search finds what is there
    assert len(rows) >= 151
    # test_coefficients.py reads the rows of every public coefficient by this list.
    unread = {row["statistic"] for row in rows} - known - set(coefficients.__all__)
    assert unread == set()
