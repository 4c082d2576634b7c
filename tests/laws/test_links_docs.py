"""The page on links and ratings names every public function, and its examples run."""

from __future__ import annotations

import doctest
import inspect
import re

import pytest

from sense7_qual import links, ratings
from tests.helpers.places import ROOT

PAGE = (ROOT / "docs" / "links.md").read_text("utf-8")
FUNCTIONS = [
    name
    for module in (links, links.models, links.scales, ratings)
    for name in module.__all__
    if inspect.isfunction(getattr(module, name))
]


def test_the_page_says_when_to_use_every_public_function() -> None:
    assert [name for name in FUNCTIONS if f"`{name}`" not in PAGE] == []


def test_the_page_names_nothing_that_does_not_exist_and_says_when_to_take_each() -> None:
    headings = re.findall(r"^### `(\w+)`$", PAGE, flags=re.MULTILINE)
    table = PAGE.partition("| question |")[2].partition("\n\n")[0]
    named = {name for row in table.splitlines()[2:] for name in re.findall(r"`(\w+)`", row)}
    assert len(headings) >= 20
    assert set(headings) | named - {"interaction", "nested"} <= set(FUNCTIONS)
    for name in headings:
        section = PAGE.partition(f"### `{name}`\n")[2].partition("\n#")[0]
        assert section.startswith("**When.**"), name


@pytest.mark.long
def test_the_examples_run() -> None:
    examples = "\n".join(re.findall(r"^```python\n(.*?)^```$", PAGE, flags=re.MULTILINE | re.DOTALL))
    test = doctest.DocTestParser().get_doctest(examples, {}, "links.md", None, None)
    assert len(test.examples) > 25
    runner = doctest.DocTestRunner(verbose=False)
    runner.run(test)
    assert runner.failures == 0
