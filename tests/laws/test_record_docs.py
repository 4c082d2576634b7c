"""The page on the record names what the store can do; its examples run, as do those on other pages."""

from __future__ import annotations

import doctest
import inspect
import re

import pytest

from sense7_qual import rounds
from sense7_qual.store import Store
from tests.helpers.places import ROOT

PAGE = (ROOT / "docs" / "record.md").read_text("utf-8")
ADJUDICATION = (ROOT / "docs" / "adjudication.md").read_text("utf-8")
FILES = (ROOT / "docs" / "files.md").read_text("utf-8")
TRAINING = (ROOT / "docs" / "training.md").read_text("utf-8")
METHODS = [
    name
    for name, member in inspect.getmembers(Store)
    if not name.startswith("_") and callable(member) and name not in ("coders", "memos")
]
ROUNDS = [name for name in rounds.__all__ if inspect.isfunction(getattr(rounds, name))]


@pytest.mark.parametrize("name", METHODS)
def test_the_page_names_every_method_of_the_store(name: str) -> None:
    assert re.search(rf"\b{name}\b", PAGE), f"docs/record.md does not name Store.{name}"


@pytest.mark.parametrize("name", [name for name in ROUNDS if name != "visible"])
def test_the_page_names_every_function_of_rounds(name: str) -> None:
    assert re.search(rf"\b{name}\b", PAGE), f"docs/record.md does not name rounds.{name}"


@pytest.mark.long
@pytest.mark.parametrize(
    ("page", "fewest"),
    [(PAGE, 30), (TRAINING, 10), (ADJUDICATION, 20), (FILES, 5)],
    ids=["record", "training", "adjudication", "files"],
)
def test_the_examples_run(page: str, fewest: int) -> None:
    examples = "\n".join(re.findall(r"^```python\n(>>>.*?)^```$", page, flags=re.MULTILINE | re.DOTALL))
    test = doctest.DocTestParser().get_doctest(examples, {}, "page.md", None, None)
    assert len(test.examples) > fewest
    runner = doctest.DocTestRunner(verbose=False)
    runner.run(test)
    assert runner.failures == 0
