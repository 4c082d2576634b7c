"""The page on agreement names every public name, and its examples run."""

from __future__ import annotations

import doctest
import inspect
import re
from pathlib import Path

from scripts.measure_house import listed, public_modules
from sense7_qual import agreement
from tests.helpers.places import ROOT

PAGE = (ROOT / "docs" / "agreement.md").read_text("utf-8")
NAMES = sorted(
    {name for module in public_modules() if "agreement" in module.__name__ for name in listed(module)}
    - {"Estimate", "Patterns"}
)
COEFFICIENTS = [
    "brennan_prediger",
    "cohen_kappa",
    "conger_kappa",
    "fleiss_kappa",
    "gwet_ac",
    "krippendorff_alpha",
    "light_kappa",
    "percent_agreement",
    "scott_pi",
    "specific_agreement",
]


def test_the_page_says_when_to_use_every_public_name() -> None:
    assert [name for name in NAMES if not re.search(rf"`{name}\b", PAGE)] == []


def test_each_coefficient_says_when_and_when_not_how_and_what_it_reproduces() -> None:
    parts = {
        name: re.findall(r"\*\*(When\.|When not\.|Formula\.|Missing\.|Published\.)\*\*", section)
        for name, section in re.findall(r"^### `(\w+)`\n(.*?)(?=^##)", PAGE, flags=re.MULTILINE | re.DOTALL)
    }
    assert [name for name in COEFFICIENTS if len(set(parts.get(name, ()))) < 5] == []


def test_the_page_names_nothing_that_does_not_exist() -> None:
    """Names that start a bullet or are a heading, and those of the first table, are in the package."""
    named = set(re.findall(r"^(?:### |- |- \*\*)`(\w+)`", PAGE, flags=re.MULTILINE))
    table = PAGE.partition("| question |")[2].partition("\n\n")[0]
    rows = [row.split("|")[2] for row in table.splitlines()[2:]]
    named |= {name for row in rows for name in re.findall(r"`(\w+)`", row)} - {"level"}
    source = Path(inspect.getfile(agreement)).parent
    defined = set(
        re.findall(
            r"^(?:def|class) (\w+)", "\n".join(p.read_text("utf-8") for p in source.rglob("*.py")), re.M
        )
    )
    assert len(named) >= 25
    assert named <= defined


def test_the_examples_run_and_give_the_published_numbers() -> None:
    examples = "\n".join(re.findall(r"^```python\n(.*?)^```$", PAGE, flags=re.MULTILINE | re.DOTALL))
    test = doctest.DocTestParser().get_doctest(examples, {}, "agreement.md", None, None)
    assert len(test.examples) > 20
    runner = doctest.DocTestRunner(verbose=False)
    runner.run(test)
    assert runner.failures == 0
