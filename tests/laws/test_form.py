"""Files and private names that a docstring or page mentions exist; functions are short and simple, and no
line is kept from the formatter."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from scripts.measure_house import (
    LONG_BODY,
    body_length,
    complex_functions,
    complexity,
    kept_from_the_formatter,
    long_bodies,
)
from tests.helpers.modules import FILES, tree
from tests.helpers.places import ROOT

PLACES = ("deploy", "sense7_qual", "scripts", "benchmarks", "tests", "frontend/src")
PAGES = (*sorted((ROOT / "docs").glob("*.md")), ROOT / "CONTRIBUTING.md", ROOT / "README.md")
A_FILE = re.compile(r"(?<![\w./])((?:[\w.]+/)*\w+\.(?:py|tsx?|css|toml))\b(?!\()")
A_PRIVATE_NAME = re.compile(r"`{1,2}(_[a-z]\w*)(?:\(\))?`{1,2}")


def sources() -> list[Path]:
    return [each for place in PLACES for each in (ROOT / place).rglob("*") if each.is_file()]


def defined(tree: ast.AST) -> set[str]:
    """List the names that a module defines or uses: functions, classes, arguments, variables, attributes."""
    names = set()
    for node in ast.walk(tree):
        for field in ("name", "id", "attr", "arg"):
            value = getattr(node, field, None)
            if isinstance(value, str):
                names.add(value)
    return names


def lacking(said: str, files: list[str], names: set[str]) -> Iterator[str]:
    """Yield each file and private name in a text that there is not."""
    for name in (each.removeprefix("../") for each in A_FILE.findall(said)):
        if "NAME" not in name and not any(each == name or each.endswith(f"/{name}") for each in files):
            yield name
    yield from (name for name in A_PRIVATE_NAME.findall(said) if name not in names)


def docstrings(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield ast.get_docstring(node) or ""


def test_names_in_docstrings_and_pages_exist() -> None:
    files = [each.as_posix() for each in sources()]
    trees = {FILES[name]: tree(name) for name in FILES}
    names = {name for each in trees.values() for name in defined(each)}
    names |= {part for each in trees for part in (each.stem, each.parent.name)}
    said = {each: "\n".join(docstrings(module)) for each, module in trees.items()}
    said |= {page: page.read_text("utf-8") for page in PAGES}
    offenders = {
        f"{each.relative_to(ROOT)}: {name}"
        for each, text in said.items()
        for name in lacking(text, files, names)
    }
    assert sorted(offenders) == []


def test_a_name_that_is_gone_is_an_offender() -> None:
    said = "As ``_gone`` and `store/_gone.py` say, see `_kept()` and `_kept.py`."
    assert list(lacking(said, ["/x/sense7_qual/_kept.py"], {"_kept"})) == ["store/_gone.py", "_gone"]


def function(source: str) -> ast.FunctionDef:
    [made] = ast.parse(source).body
    assert isinstance(made, ast.FunctionDef)
    return made


def test_no_body_is_too_long() -> None:
    assert long_bodies() == []


def test_a_body_is_counted_without_its_docstring() -> None:
    long = function('def decide():\n    """Decide."""\n' + "    pass\n" * (LONG_BODY + 1))
    assert body_length(long) == LONG_BODY + 1


def test_no_function_has_too_many_branches() -> None:
    assert complex_functions(over=20) == []


def test_branches_are_counted_in_comprehensions_too() -> None:
    packed = "def f(a, b):\n    return [x if x else -x for x in a if x and b for y in x]\n"
    unpacked = "def f(a):\n    for x in a:\n        if x:\n            yield x\n"
    assert complexity(function(packed)) == 6  # one, two loops, a choice, a condition of two parts
    assert complexity(function(unpacked)) == 3
    assert complexity(function("def f():\n    def g(x):\n        return x or 1\n    return g\n")) == 1


def test_the_formatter_formats_everything() -> None:
    assert kept_from_the_formatter() == []
