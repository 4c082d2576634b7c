"""Measure the house: what a stranger has to look at, in figures.

python scripts/measure_house.py            # a table, a figure a row
python scripts/measure_house.py --tests    # with the number of test cases (collects them: a minute)
python scripts/measure_house.py --names    # every name that can be had without an underscore, by circle
"""

from __future__ import annotations

import argparse
import ast
import functools
import importlib
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Final

from sense7_qual.frames import Contract

ROOT: Final = Path(__file__).parents[1]
PACKAGE: Final = ROOT / "sense7_qual"
LONG_BODY: Final = 40
_BRANCHES: Final = (
    ast.If,
    ast.IfExp,
    ast.For,
    ast.AsyncFor,
    ast.While,
    ast.ExceptHandler,
    ast.match_case,
    ast.Assert,
)
_KEPT: Final = re.compile(r"#\s*fmt:\s*(skip|off)")
SMALL_MODULE: Final = 60
TABLES: Final = ("acts._kinds", "store._operations.contents")
_NO_LIST: Final = "acts._validate"  # what a memo on a span holds: its words, called memo, and their quote
_LISTS: Final = ("LEAD_KINDS", "WRITTEN_KINDS", "TEAM_KINDS", "THEME_KINDS")  # before there was a table


@functools.cache
def trees() -> dict[str, ast.Module]:
    """Return the syntax tree of every module of the package, by its name without "sense7_qual."."""
    return {
        ".".join(
            part for part in path.relative_to(PACKAGE).with_suffix("").parts if part != "__init__"
        ): ast.parse(path.read_text("utf-8"))
        for path in sorted(PACKAGE.rglob("*.py"))
    }


def sizes() -> list[int]:
    return [len(path.read_text("utf-8").splitlines()) for path in PACKAGE.rglob("*.py")]


def typescript() -> int:
    """Return the lines of the front end's sources, without tests and style sheets."""
    sources = [*(ROOT / "frontend/src").rglob("*.ts"), *(ROOT / "frontend/src").rglob("*.tsx")]
    return sum(len(one.read_text("utf-8").splitlines()) for one in sources if ".test." not in one.name)


# Imports ---------------------------------------------------------------------------------------------------


def imports(name: str) -> Iterator[str]:
    """Yield the modules of the package that a module imports when it is imported itself."""
    for node in _at_once(trees()[name]):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("sense7_qual"):
            for alias in node.names:
                inner = f"{node.module}.{alias.name}".removeprefix("sense7_qual").removeprefix(".")
                while inner and inner not in trees():
                    inner = inner.rpartition(".")[0]
                if inner and inner != name:
                    yield inner


def _at_once(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what runs on import: nothing inside functions or for type checkers alone."""
    for child in ast.iter_child_nodes(node):
        waits = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef) or (
            isinstance(child, ast.If)
            and isinstance(child.test, ast.Name)
            and child.test.id == "TYPE_CHECKING"
        )
        if not waits:
            yield child
            yield from _at_once(child)


@functools.cache
def chain_from(name: str) -> tuple[str, ...]:
    """Return the longest chain of imports that begins with a module."""
    return (name, *max((chain_from(one) for one in set(imports(name))), key=len, default=()))


def longest_chain() -> tuple[str, ...]:
    return max((chain_from(name) for name in trees() if name), key=len)


# Public names ----------------------------------------------------------------------------------------------


def public_modules() -> list[ModuleType]:
    """Return the fronts and the rooms: modules without an underscore in their names, but the commands."""
    names = [name for name in trees() if name and not re.search(r"(^|\.)_", name)]
    return [importlib.import_module(f"sense7_qual.{name}") for name in sorted(names)]


def listed(module: ModuleType) -> list[str]:
    """Return the names that a front or a room lists, but the rooms in it."""
    return [name for name in module.__all__ if not isinstance(getattr(module, name), ModuleType)]


def house(module: ModuleType) -> list[str]:
    """Return the names that other packages may import from a front or a room, and that it does not list."""
    own = trees()[module.__name__.removeprefix("sense7_qual.")].body
    names = [one.name for one in own if isinstance(one, ast.FunctionDef | ast.ClassDef)]
    names += [
        alias.name
        for node in own
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if alias.asname == alias.name
    ]
    names += [name for one in own for name in _targets(one) if isinstance(getattr(module, name), Contract)]
    return [name for name in dict.fromkeys(names) if name[0] != "_" and name not in module.__all__]


def _targets(node: ast.stmt) -> list[str]:
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    return [one.id for one in targets if isinstance(one, ast.Name)]


def circles() -> dict[str, tuple[str, str]]:
    """Return the circle (front, room or house) of every public name, and its module."""
    found = {}
    for module in public_modules():
        where = module.__name__.removeprefix("sense7_qual.")
        circle = "room" if "." in where else "front"
        found |= {f"{where}.{name}": (circle, where) for name in listed(module)}
        found |= {f"{where}.{name}": ("house", where) for name in house(module)}
    return found


def fronts() -> dict[str, int]:
    return {one.__name__: len(listed(one)) for one in public_modules() if one.__name__.count(".") == 1}


def rooms() -> dict[str, int]:
    return {one.__name__: len(listed(one)) for one in public_modules() if one.__name__.count(".") > 1}


def leaking() -> list[str]:
    """Return the public modules whose `dir` shows other names than `__all__`."""
    return [one.__name__ for one in public_modules() if set(dir(one)) != set(one.__all__)]


def store_members() -> int:
    from sense7_qual.store import Store

    return sum(not name.startswith("_") for name in dir(Store))


# Kinds of act ----------------------------------------------------------------------------------------------


@functools.cache
def kinds() -> frozenset[str]:
    from sense7_qual.acts import KINDS

    return frozenset(KINDS)


def asks_for_a_kind(node: ast.AST) -> bool:
    """Return whether a node compares an act's kind with some, or asks for the acts of one."""
    if isinstance(node, ast.Compare):
        sides = [node.left, *node.comparators]
        return any(map(_is_kind, sides)) and any(map(_names_kinds, sides))
    if isinstance(node, ast.Call) and not (isinstance(node.func, ast.Name) and node.func.id == "Act"):
        return any(one.arg in ("kind", "kinds") and _names_kinds(one.value) for one in node.keywords)
    return False


def _is_kind(node: ast.AST) -> bool:
    return (isinstance(node, ast.Attribute) and node.attr == "kind") or (
        isinstance(node, ast.Name) and node.id == "kind"
    )


def _names_kinds(node: ast.AST) -> bool:
    named = [one.value for one in ast.walk(node) if isinstance(one, ast.Constant)]
    return any(name in kinds() for name in named) or any(
        isinstance(one, ast.Name | ast.Attribute) and _last(one) in _LISTS for one in ast.walk(node)
    )


def _last(node: ast.Name | ast.Attribute) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr


def is_list_of_kinds(node: ast.AST) -> bool:
    """Return whether a node is a tuple, list, set or dictionary of two kinds or more, and of nothing else."""
    if isinstance(node, ast.Dict):
        if all(isinstance(one, ast.Attribute) for one in node.values):
            return False  # which method answers a request
        parts: list[ast.expr | None] = list(node.keys)
    elif isinstance(node, ast.Tuple | ast.List | ast.Set):
        parts = list(node.elts)
    else:
        return False
    return len(parts) > 1 and all(isinstance(one, ast.Constant) and one.value in kinds() for one in parts)


def places(of: Callable[[ast.AST], bool]) -> dict[str, int]:
    """Return how often a question is asked in each module, outside the tables of kinds."""
    counted = {name: sum(map(of, ast.walk(tree))) for name, tree in trees().items() if name not in TABLES}
    return {name: count for name, count in counted.items() if count}


def lists_of_kinds() -> dict[str, int]:
    return {name: count for name, count in places(is_list_of_kinds).items() if name != _NO_LIST}


# Shapes ----------------------------------------------------------------------------------------------------


def seam() -> dict[str, int]:
    """Return the number of methods of each protocol of the store: what a place for studies has to have."""
    return {
        node.name: sum(isinstance(method, ast.FunctionDef) for method in node.body)
        for name, tree in trees().items()
        if name.startswith("store")
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
        and any(isinstance(base, ast.Name) and base.id == "Protocol" for base in node.bases)
    }


def body_length(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Return the number of lines of a function's body, without its docstring."""
    body = function.body[1:] if ast.get_docstring(function) is not None else function.body
    return (function.end_lineno or 0) - body[0].lineno + 1 if body else 0


def long_bodies() -> list[str]:
    """Return the functions whose bodies are over `LONG_BODY` lines, as the formatter writes them."""
    return [
        f"{name}:{node.name} {body_length(node)}"
        for name, tree in trees().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and body_length(node) > LONG_BODY
    ]


def complexity(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Return the number of ways through a function: branches, loops, `and` and `or`, also in comprehensions.

    What a function or class within it does is counted there.
    """
    n_ways = 1
    for node in _within(function):
        if isinstance(node, ast.BoolOp):
            n_ways += len(node.values) - 1
        elif isinstance(node, ast.comprehension):
            n_ways += 1 + len(node.ifs)
        elif isinstance(node, _BRANCHES):
            n_ways += 1
    return n_ways


def _within(node: ast.AST) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield child
            yield from _within(child)


def complex_functions(over: int) -> list[str]:
    """Return the functions with more than so many branches."""
    return [
        f"{name}:{node.name} {complexity(node)}"
        for name, tree in trees().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and complexity(node) > over
    ]


def kept_from_the_formatter() -> list[str]:
    """Return the lines of Python that the formatter leaves as they are."""
    listed = subprocess.run(["git", "ls-files", "*.py"], cwd=ROOT, capture_output=True, text=True, check=True)
    return [
        f"{file}:{number}"
        for file in listed.stdout.split()
        if (ROOT / file).is_file()
        for number, line in enumerate((ROOT / file).read_text("utf-8").splitlines(), 1)
        if _KEPT.search(line)
    ]


def collected() -> str:
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "--no-header", "-p", "no:randomly"]
    printed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False).stdout
    return printed.strip().splitlines()[-1]


def rows() -> Iterator[tuple[str, object]]:
    lines, chain = sizes(), longest_chain()
    asked, lists = places(asks_for_a_kind), lists_of_kinds()
    yield "lines of the package", sum(lines)
    yield "modules; under 60 lines", f"{len(lines)}; {sum(size < SMALL_MODULE for size in lines)}"
    yield "longest chain of imports", f"{len(chain)}, from {chain[0]}"
    yield "names on fronts; longest front", f"{sum(fronts().values())}; {max(fronts().values())}"
    yield "names in rooms", f"{sum(rooms().values())} in {len(rooms())}"
    yield "names in the house circle", sum(circle == "house" for circle, _ in circles().values())
    yield "public modules whose dir is not their __all__", len(leaking())
    yield "members of Store", store_members()
    yield "places that ask for a kind of act", f"{sum(asked.values())} in {len(asked)} modules"
    yield "lists of kinds", f"{sum(lists.values())} in {len(lists)} modules"
    yield "methods of the store's protocols", ", ".join(f"{name} {n}" for name, n in seam().items())
    yield f"bodies over {LONG_BODY} lines", f"{len(long_bodies())}: {', '.join(long_bodies())}"
    yield "functions with over 10, 20 branches", f"{len(complex_functions(10))}, {len(complex_functions(20))}"
    yield "lines kept from the formatter", len(kept_from_the_formatter())
    yield "lines of TypeScript", typescript()


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure the house.")
    parser.add_argument("--tests", action="store_true", help="count the test cases, too")
    parser.add_argument("--names", action="store_true", help="print the public names by circle alone")
    asked = parser.parse_args()
    if asked.names:
        for name, (circle, _) in sorted(circles().items(), key=lambda item: (item[1], item[0])):
            print(f"{circle:6} {name}")
        return
    for name, figure in [*rows(), *([("test cases", collected())] if asked.tests else [])]:
        print(f"{name:46} {figure}")


if __name__ == "__main__":
    main()
