"""Write docs/reference.md (a line per public name) and docs/frames.md (what each frame holds).

python scripts/make_reference.py
"""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import textwrap
import typing
from collections.abc import Iterator
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any, Final

from sense7_qual.frames import Contract
from sense7_qual.store import Store

ROOT: Final = Path(__file__).parents[1]
# The modules that users call, in the order in which a study meets them; the others are their parts.
MODULES: Final = (
    "codebook",
    "corpus",
    "redact",
    "acts",
    "store",
    "rounds",
    "codings",
    "agreement",
    "adjudication",
    "links",
    "ratings",
    "themes",
    "suggestions",
    "coders",
    "models",
    "report",
    "figures",
    "exchange",
    "widgets",
    "frames",
    "errors",
)
ROOMS: Final = (
    "acts.contents",
    "agreement.coefficients",
    "agreement.sets",
    "agreement.spans",
    "agreement.diagnosis",
    "links.models",
    "links.scales",
    "report.tables",
)
HEAD: Final = """# Reference
Every public name, by module, with the first sentence of its docstring; `help(name)` shows the rest. The
modules come first, then their rooms: `qual.report.tables` and the like.
Written by `python scripts/make_reference.py`.
"""


def reference() -> str:
    """Return the page."""
    return HEAD + "".join(section(importlib.import_module(f"sense7_qual.{name}")) for name in MODULES + ROOMS)


def section(module: ModuleType) -> str:
    lines = [f"\n## `{module.__name__.removeprefix('sense7_qual.')}`", f"{first_sentence(module.__doc__)}\n"]
    for name in sorted(module.__all__, key=lambda name: (not name.isupper(), name.lower())):
        lines += entry(module, name)
    return "\n".join(lines) + "\n"


def entry(module: ModuleType, name: str) -> list[str]:
    """Return the line of a name, and the lines of a class's methods and properties."""
    value = getattr(module, name)
    if inspect.ismodule(value):
        return [f"- `{name}` – a room: {first_sentence(value.__doc__)}"]
    if not (inspect.isclass(value) or isinstance(value, FunctionType)):
        return [f"- `{name}` – {constant(module, name)}"]
    called = "" if inspect.isclass(value) else arguments(value)
    lines = [f"- `{name}{called}` – {first_sentence(value.__doc__)}"]
    if inspect.isclass(value) and not issubclass(value, Exception):
        lines += [f"  - {line}" for method, inner in members(value) for line in member(method, inner)]
    return lines


def members(value: type) -> Iterator[tuple[str, Any]]:
    """Yield the members of a class; of `Store` those of its base first, and behind a part what is in it."""
    bases = value.__mro__[-2::-1] if value is Store else (value,)
    own = {name: one for base in bases for name, one in vars(base).items()}
    for name, one in own.items():
        yield name, one
        if isinstance(one, property) and value is Store and name in ("copies", "admin"):
            part = typing.get_type_hints(one.fget)["return"]
            yield from ((f"{name}.{inner}", there) for inner, there in vars(part).items() if inner[0] != "_")


def member(name: str, value: Any) -> list[str]:
    function = value.fget if isinstance(value, property) else getattr(value, "__func__", value)
    function = getattr(function, "func", function)  # a cached property
    if name.startswith("_") or not isinstance(function, FunctionType) or not function.__doc__:
        return []
    called = arguments(function) if function is value or hasattr(value, "__func__") else ""
    return [f"`{name}{called}` – {first_sentence(function.__doc__)}"]


def arguments(function: FunctionType) -> str:
    """Return the parameters without their types; what may be left out ends in `=…`."""
    shown: list[str] = []
    keyword = False
    for name, parameter in inspect.signature(function).parameters.items():
        if name in ("self", "cls"):
            continue
        if parameter.kind is parameter.VAR_POSITIONAL:
            keyword = True
        elif parameter.kind is parameter.KEYWORD_ONLY and not keyword:
            shown, keyword = [*shown, "*"], True
        star = "*" * (parameter.kind is parameter.VAR_POSITIONAL) + "**" * (
            parameter.kind is parameter.VAR_KEYWORD
        )
        shown.append(f"{star}{name}{'' if parameter.default is parameter.empty else '=…'}")
    return f"({', '.join(shown)})"


def first_sentence(docstring: str | None) -> str:
    """Return the first paragraph of a docstring up to the end of its first sentence, in one line."""
    paragraph = textwrap.dedent(docstring or "").strip().split("\n\n")[0]
    line = re.sub(r"\s+", " ", paragraph.replace("``", "`"))
    return re.split(r"(?<=[.?!])\s(?=[A-Z`\"])", line)[0]


def constant(module: ModuleType, name: str) -> str:
    """Return what the source says under (or, after #:, above) the assignment of a constant."""
    source = Path(str(module.__file__)).read_text(encoding="utf-8")
    body = ast.parse(source).body
    for node, after in zip(body, [*body[1:], None], strict=True):
        target = node.target if isinstance(node, ast.AnnAssign) else None
        if isinstance(target, ast.Name) and target.id == name:
            said = after.value if isinstance(after, ast.Expr) else None
            if isinstance(said, ast.Constant) and isinstance(said.value, str):
                return first_sentence(said.value)
            above = source.splitlines()[node.lineno - 2].strip()
            if above.startswith("#:"):
                return first_sentence(above.removeprefix("#:"))
    value = getattr(module, name)
    if isinstance(value, Contract):
        return f"The frame of {value.name}: {', '.join(value.columns)}; one row per {', '.join(value.key)}."
    return f"`{value!r}`."


FRAMES: Final = """# Frames
What each frame holds that a function takes or returns. A star: no table and no figure needs the column.
Written by `python scripts/make_reference.py`.
"""


def frames() -> str:
    """Return the page of frames: a table for each contract, under the functions that return it."""
    functions: dict[int, list[str]] = {}
    contracts: dict[int, Contract] = {}
    for name, contract in _declared():
        functions.setdefault(id(contract), []).append(name)
        contracts[id(contract)] = contract
    parts = [_table(contract, functions[place]) for place, contract in contracts.items()]
    return FRAMES + "".join(parts)


def _declared() -> Iterator[tuple[str, Contract]]:
    """Yield the contracts of frames that are taken, then those of what functions and classes return."""
    for name in MODULES:
        module = importlib.import_module(f"sense7_qual.{name}")
        for shown in sorted(module.__all__):
            value = getattr(module, shown)
            if isinstance(value, Contract):
                yield f"{name}.{shown}", value
            for method, inner in [("", value), *(vars(value).items() if inspect.isclass(value) else ())]:
                function = getattr(inner, "fget", None) or getattr(inner, "__func__", inner)
                called = f"{name}.{shown}{'.' * bool(method)}{method}"
                if "_returns" in getattr(function, "__dict__", {}):
                    yield called, function._returns
                yield from (
                    (f"{called} → {part}", one) for part, one in getattr(function, "_holds", {}).items()
                )


def _table(contract: Contract, names: list[str]) -> str:
    lines = [
        f"\n## {', '.join(f'`{name}`' for name in dict.fromkeys(names))}",
        f"{contract.row}. Key: {', '.join(contract.key)}.\n",
    ]
    lines += ["| column | type | what it is | may be missing |", "|---|---|---|---|"]
    for name, column in contract.columns.items():
        star = "" if name in contract.printed else " \\*"
        what = column.what.replace("|", "\\|")
        whole = column.kind in ("boolean", "count") or name in set(contract.key) - contract.missing_in_key
        missing = "yes" if column.missing and not whole else ""
        lines.append(f"| `{name}`{star} | {contract.dtypes.get(name, 'any')} | {what} | {missing} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    (ROOT / "docs" / "frames.md").write_text(frames(), encoding="utf-8")
    (ROOT / "docs" / "reference.md").write_text(reference(), encoding="utf-8")
