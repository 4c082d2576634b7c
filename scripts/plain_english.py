"""Count phrases that English has plainer words for, in everything that a user reads.

python scripts/plain_english.py            # how often each phrase occurs, by kind of text
python scripts/plain_english.py --where    # and every place
"""

from __future__ import annotations

import argparse
import ast
import inspect
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from types import FunctionType
from typing import Any, Final, NamedTuple

from scripts.measure_house import PACKAGE, ROOT, house, listed, public_modules, trees
from sense7_qual._commands import parser

_PERSONS: Final = (
    "coder",
    "colleague",
    "participant",
    "person",
    "people",
    "somebody",
    "anybody",
    "those",
    "author",
)
_IDIOMS: Final = ("both", "readings", "reading", "ruling", "as it", "the study")  # these do stand
PHRASES: Final[Mapping[str, re.Pattern[str]]] = {
    name: re.compile(pattern, re.IGNORECASE)
    for name, pattern in {
        "Return what/which/where/how/who/whether": r"\AReturn (?:what|which|where|how|who|whether)\b",
        "stand": rf"{''.join(f'(?<!{one} )' for one in _IDIOMS)}\b(?:stand|stands|stood)\b"
        r"(?! for\b| out\b| alone\b| by (?:itself|themselves)\b)",
        "whose": rf"(?<=[\w,] ){''.join(f'(?<!{one} )(?<!{one}s )' for one in _PERSONS)}(?-i:whose)\b",
        "such, as a noun": r"(?<!\bas )\bsuch\b(?=\s*(?:[.,;:)–?!]|(?:is|are|was|of|which|where)\b))",
        "beside": r"\bbeside\b",
        "deal, dealt": r"(?<!great )(?<!good )\b(?:deal|deals|dealt|dealing)\b(?! with\b)",
        "anew": r"\banew\b",
        "for good": r"\bfor good\b(?! reason)",
        "in the place of": r"\bin the place of\b",
        "that is there": r"\b(?:that|which|what|who) (?:is|are) (?:not )?there\b",
        "door": r"\bdoors?\b",
        "of whom": r"\bof whom\b",
        "held against": r"\b(?:held|hold|holds|holding) (?:\w+ )?against\b",
    }.items()
}
"""What is looked for, by name."""

_MADE: Final = ("reference.md", "frames.md", "command_line.md")  # from docstrings and help texts
_CODE: Final = re.compile(
    r"^```.*?^```|`[^`]*`|^ *(?:>>>|\.\.\.) .*?(?:\n\s*\n|\Z)", re.DOTALL | re.MULTILINE
)
_SCRIPT: Final = re.compile(
    r"""/\*.*?\*/|//[^\n]*|(?P<text>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`)""", re.DOTALL
)
_VALUE: Final = re.compile(r"\$\{[^{}]*\}")
_BETWEEN_TAGS: Final = re.compile(r">([^<>{}=;]*[a-z] [^<>{}=;]*)<")


class Text(NamedTuple):
    """A piece of text that a user reads: what it is, the part of the project it belongs to, where it is."""

    kind: str
    area: str
    place: str
    words: str


def docstrings() -> Iterator[Text]:
    """Yield the docstrings of all public modules, functions, classes and members."""
    for module in public_modules():
        where = module.__name__.removeprefix("sense7_qual.")
        found = {where: module} | {f"{where}.{name}": getattr(module, name) for name in _names(module)}
        for place, value in found.items():
            of = {place: value}
            if inspect.isclass(value):
                of |= {f"{place}.{name}": each for name, each in vars(value).items() if name[0] != "_"}
            for name, each in of.items():
                if doc := inspect.getdoc(_documented(each)):
                    yield Text("docstrings", where.partition(".")[0], name, _prose(doc))


def _names(module: Any) -> list[str]:
    return [*listed(module), *house(module)]


def _documented(value: Any) -> Any:
    function = (
        getattr(value, "fget", None) or getattr(value, "__func__", None) or getattr(value, "func", value)
    )
    known = inspect.isclass(function) or inspect.ismodule(function) or isinstance(function, FunctionType)
    return function if known else None


def errors() -> Iterator[Text]:
    """Yield the texts of errors, warnings and printed lines, and what else says what was expected."""
    for name, tree in trees().items():
        said = [one for node in ast.walk(tree) if _speaks(node) for one in _strings(node)]
        said += [one for one in _strings(tree) if re.search("expected |– found", one[1])]
        for line, words in dict.fromkeys(said):
            yield Text("errors", _area(name), f"{name}:{line}", words)


def _speaks(node: ast.AST) -> bool:
    called = getattr(node, "func", None)
    name = getattr(called, "attr", getattr(called, "id", ""))
    return isinstance(node, ast.Raise) or name in ("warn", "print")


def _strings(node: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield each string below a node with its line, with "…" for each value in it; no docstring."""
    if isinstance(node, ast.JoinedStr):
        parts = [part.value if isinstance(part, ast.Constant) else "…" for part in node.values]
        yield node.lineno, "".join(map(str, parts))
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.lineno, node.value
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):  # a docstring
        return
    for child in ast.iter_child_nodes(node):
        if not (isinstance(node, ast.JoinedStr) and isinstance(child, ast.Constant)):
            yield from _strings(child)


def _area(name: str) -> str:
    """Return the package of a module; "root" for those of no package."""
    first = name.partition(".")[0]
    return first if (PACKAGE / first).is_dir() and first else "root"


def helps() -> Iterator[Text]:
    """Yield the help of every command."""
    root = parser()
    commands = next(each for each in root._actions if isinstance(each, argparse._SubParsersAction))
    for each in (root, *commands.choices.values()):
        yield Text("help", "_commands", each.prog, " ".join(each.format_help().split()))


def widgets() -> Iterator[Text]:
    """Yield the strings of the front end, and its words between tags."""
    for path in sorted((ROOT / "frontend/src").rglob("*.ts*")):
        if ".test." in path.name:
            continue
        source, place = path.read_text("utf-8"), path.relative_to(ROOT / "frontend/src").as_posix()
        found = [_VALUE.sub("…", match["text"]) for match in _SCRIPT.finditer(source) if match["text"]]
        found += _BETWEEN_TAGS.findall(_SCRIPT.sub("", source))
        yield from (Text("widgets", "frontend", place, " ".join(one.split())) for one in found if " " in one)


def pages() -> Iterator[Text]:
    """Yield the pages that are not made from docstrings and help texts, and the words of the notebooks."""
    written = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    for path in (each for each in written if each.name not in _MADE):
        for place, words in enumerate(_prose(path.read_text("utf-8"), lines=True).split("\n"), 1):
            yield Text("pages", "docs", f"{path.name}:{place}", words)
    for path in [*sorted(ROOT.glob("notebooks/*.ipynb")), *sorted(PACKAGE.rglob("_commands/**/*.ipynb"))]:
        for cell in json.loads(path.read_text("utf-8"))["cells"]:
            if cell["cell_type"] == "markdown":
                yield Text("pages", "notebooks", path.name, _prose("".join(cell["source"])))


def _prose(text: str, *, lines: bool = False) -> str:
    """Return a text without its code; on one line, or with its line breaks where places are lines."""
    prose = _CODE.sub(lambda match: "\n" * match[0].count("\n") if "\n" in match[0] else "…", text)
    return prose if lines else " ".join(prose.split())


@cache
def texts() -> tuple[Text, ...]:
    """List everything that a user reads."""
    return (*docstrings(), *errors(), *helps(), *widgets(), *pages())


def found(phrase: str) -> Iterator[tuple[Text, str]]:
    """Yield each text with the phrase, and the words around it, once for each time it occurs."""
    for text in texts():
        for match in PHRASES[phrase].finditer(text.words):
            yield text, " ".join(text.words[max(0, match.start() - 30) : match.end() + 30].split())


def counts() -> dict[str, Counter[str]]:
    """Count each phrase by the kind of text that it occurs in."""
    return {phrase: Counter(text.kind for text, _ in found(phrase)) for phrase in PHRASES}


def main() -> None:
    """Print the counts, and the places if asked for."""
    parsed = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parsed.add_argument("--where", action="store_true", help="print every place, too")
    kinds = ("docstrings", "errors", "help", "widgets", "pages")
    print(f"{'phrase':42}" + "".join(f"{kind:>12}" for kind in (*kinds, "all")))
    where = parsed.parse_args().where
    for phrase, by_kind in counts().items():
        numbers = [*(by_kind[kind] for kind in kinds), by_kind.total()]
        print(f"{phrase:42}" + "".join(f"{number:12}" for number in numbers))
        for text, words in found(phrase) if where else ():
            print(f"    {text.kind} {text.place}: {words}")


if __name__ == "__main__":
    main()
