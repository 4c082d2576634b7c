from __future__ import annotations

import ast
import importlib
import importlib.util
import inspect
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import make_dataclass
from types import FunctionType, ModuleType

import pytest

import sense7_qual as qual
from scripts.measure_house import house
from sense7_qual.store import Store
from sense7_qual.store._copies import Admin, Copies
from tests.helpers.modules import FILES, public_names, tree
from tests.helpers.places import ROOT

HEAVY = [
    "torch",
    "bertopic",
    "sentence_transformers",
    "statsmodels",
    "altair",
    "sqlalchemy",
    "anywidget",
    "ipywidgets",
    "scipy",
    "scipy.stats",
    "sklearn",
    "graspologic_native",
    "faiss",
    "krippendorff",
    "openpyxl",
]
MODULES = [f"sense7_qual.{name}".rstrip(".") for name in FILES]


def in_a_fresh_interpreter(code: str) -> object:
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, cwd=ROOT)
    return json.loads(done.stdout)


@pytest.mark.nightly
@pytest.mark.long
def test_importing_the_package_is_cheap() -> None:
    """Under 0.3 s of the processor beyond pandas; the best of five, because other programs run too."""
    code = (
        "import json, time, pandas; start = time.process_time(); import sense7_qual; "
        "print(json.dumps(time.process_time() - start))"
    )
    assert min(float(str(in_a_fresh_interpreter(code))) for _ in range(5)) < 0.3


def test_importing_the_package_loads_nothing_heavy() -> None:
    code = f"import sys, json, sense7_qual; print(json.dumps([m for m in {HEAVY!r} if m in sys.modules]))"
    assert in_a_fresh_interpreter(code) == []


@pytest.mark.long
def test_the_pure_modules_load_nothing_heavy_either() -> None:
    """All but the doors to the outside: the store, the widgets, the models."""
    doors = {"Store", "store", "widgets", "models"}
    names = [name for name in qual.__all__ if name not in doors]
    code = (
        f"import sys, json, sense7_qual as q; [getattr(q, name) for name in {names!r}]; "
        f"print(json.dumps([m for m in {HEAVY!r} if m in sys.modules]))"
    )
    assert in_a_fresh_interpreter(code) == []


def test_every_name_of_the_package_resolves() -> None:
    values = {name: getattr(qual, name) for name in qual.__all__}
    assert [name for name, one in values.items() if not (inspect.ismodule(one) or inspect.isclass(one))] == []
    assert set(values) <= set(dir(qual))


def test_a_name_that_the_package_does_not_have() -> None:
    with pytest.raises(AttributeError, match="no attribute 'aggreement'"):
        _ = qual.aggreement


def test_the_package_says_the_same_to_type_checkers() -> None:
    """`__all__` is what the lazy import gives; the TYPE_CHECKING block is what editors see."""
    seen = {
        alias.name for node in ast.walk(tree("")) if isinstance(node, ast.ImportFrom) for alias in node.names
    }
    assert set(qual.__all__) <= seen
    assert qual.__all__ == sorted(qual.__all__)


def silent(module: ModuleType) -> Iterator[str]:
    """Yield what a module does not say of itself: what it is, or what one of its public names is."""
    names = public_names(module)
    if not (module.__doc__ or "").strip() or len(set(names)) != len(names):
        yield module.__name__
    for public in names:
        value = getattr(module, public)
        if inspect.isclass(value) or isinstance(value, FunctionType):
            said = (value.__doc__ or "").strip()
            # A dataclass without a docstring is given its signature for one.
            if not said or said.startswith(f"{public}("):
                yield f"{module.__name__}.{public}"


def test_a_front_or_a_room_lists_its_public_names() -> None:
    """In a private module the underscore says it: a list would say it twice."""
    public = [name for name in MODULES if is_public(name)]
    assert [name for name in public if not hasattr(importlib.import_module(name), "__all__")] == []


def test_every_public_name_says_what_it_is() -> None:
    assert [name for module in MODULES for name in silent(importlib.import_module(module))] == []


def test_what_says_nothing_is_noticed() -> None:
    module = ModuleType("mute")
    module.__dict__.update(__all__=["One", "two"], One=make_dataclass("One", ["x"]), two=lambda: None)
    assert list(silent(module)) == ["mute", "mute.One", "mute.two"]


def public_methods() -> list[tuple[str, str, object]]:
    found = []
    for name in MODULES:
        module = importlib.import_module(name)
        for public in public_names(module):
            value = getattr(module, public)
            if inspect.isclass(value) and value.__module__ == name:
                found += [(f"{name}.{public}", method, inner) for method, inner in vars(value).items()]
    return [(owner, method, inner) for owner, method, inner in found if not method.startswith("_")]


def test_every_public_method_says_what_it_does() -> None:
    mute = []
    for owner, method, inner in public_methods():
        function = (
            getattr(inner, "fget", None) or getattr(inner, "__func__", None) or getattr(inner, "func", inner)
        )
        if isinstance(function, FunctionType) and not function.__doc__:
            mute.append(f"{owner}.{method}")
    assert mute == []


def test_what_is_private_says_in_sentences_what_it_takes() -> None:
    """Tables of parameters are for who calls a function from a notebook; `Attributes` of a class may stay."""
    tabled = []
    for name in FILES:
        for node in ast.walk(tree(name)):
            if isinstance(node, ast.FunctionDef) and TABLE.search(ast.get_docstring(node) or ""):
                tabled.append((f"sense7_qual.{name}".rstrip("."), node.name))
    public = {(function.__module__, function.__name__) for function in public_functions()}
    assert [one for one in tabled if one not in public] == []


TABLE = re.compile(r"^(Parameters|Returns|Raises)\n---", re.MULTILINE)


def is_public(name: str) -> bool:
    return "._" not in name and name != "sense7_qual"


def public_functions() -> Iterator[FunctionType]:
    """The functions that other packages may import from a front or a room, and the methods of its classes."""
    for name in MODULES:
        if is_public(name):
            module = importlib.import_module(name)
            for shown in [*module.__all__, *house(module)]:
                value = getattr(importlib.import_module(name), shown)
                held = value.__mro__ if inspect.isclass(value) else ()
                parts = (Copies, Admin) if value is Store else ()
                for inner in [value, *(one for part in (*held, *parts) for one in vars(part).values())]:
                    function = getattr(inner, "fget", None) or getattr(inner, "__func__", None) or inner
                    function = getattr(function, "func", function)
                    if isinstance(function, FunctionType):
                        yield function


def reference() -> object:
    spec = importlib.util.spec_from_file_location("make_reference", ROOT / "scripts" / "make_reference.py")
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def test_the_reference_lists_exactly_the_public_names() -> None:
    page = (ROOT / "docs" / "reference.md").read_text("utf-8")
    listed: dict[str, list[str]] = {}
    for line in page.splitlines():
        if heading := re.fullmatch(r"## `([\w.]+)`", line):
            listed[heading[1]] = []
        elif name := re.match(r"- `(\w+)", line):
            listed[list(listed)[-1]].append(name[1])
    assert set(listed) == {name.removeprefix("sense7_qual.") for name in MODULES if is_public(name)}
    for name, names in listed.items():
        assert sorted(names) == sorted(importlib.import_module(f"sense7_qual.{name}").__all__), name


def test_the_reference_says_what_the_docstrings_say() -> None:
    page = (ROOT / "docs" / "reference.md").read_text("utf-8")
    made = reference().reference()  # type: ignore[attr-defined]
    assert page == made, "run: python scripts/make_reference.py"
