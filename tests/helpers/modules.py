"""The modules of the package: their files by name, and their syntax trees, each read once."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path
from types import FunctionType, ModuleType

from scripts.measure_house import trees
from tests.helpers.places import ROOT

PACKAGE = ROOT / "sense7_qual"


def module_files() -> dict[str, Path]:
    files = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        files[".".join(part for part in parts if part != "__init__")] = path
    return files


FILES = module_files()
"""By the name within the package: `agreement._drift`; the package itself is ''."""


def tree(name: str) -> ast.Module:
    return trees()[name]


def public_names(module: ModuleType) -> list[str]:
    """What a front or a room lists; of a private module, its functions and classes without an underscore."""
    if hasattr(module, "__all__"):
        return list(module.__all__)
    return [
        name
        for name, value in vars(module).items()
        if (inspect.isclass(value) or isinstance(value, FunctionType))
        and value.__module__ == module.__name__
        and not name.startswith("_")
    ]
