"""What of a study a bundle does not hold, and what stands in its place.

A stand-in keeps what numbers are computed from: a text keeps its length, so that offsets stay, and texts that
are alike stay alike; a memo, a proposal, the note of a ruling and the paraphrase of a quote stay
there, without their words.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, Literal

import pandas as pd

from sense7_qual import redact
from sense7_qual.codebook import Code, Codebook, Facet
from sense7_qual.store._operations.contents import WITHHELD, Cover, published_text

__all__ = [
    "Place", "Texts", "all_texts", "published_acts", "published_codebooks", "published_units",
]  # fmt: skip

Texts = Literal["withheld", "redacted", "all"]

Place = tuple[str, int | None, int | None]
"""Words of a unit; without a span, its whole text."""

_Row = tuple[str, str, int | None, str, int, int]
_TELLING: Final = 12  # characters of a quote that are looked for in other texts, too
_CONTRACT: Final = ("unit_id", "text", "document_id", "case_id", "position")
_EXAMPLES: Final = ("examples", "counter_examples")
_RULES: Final = ("label", "definition", "use_when", "avoid_when", "source", "rules_source")
_PLACE: Final = ["unit_id", "column", "turn", "start", "end"]
_ABOUT: Final = ("name", "title", "version", "description", "source", "licence")
_BLOCK, _GAP = "\u25ae", "\u25af"


def published_units(
    units: pd.DataFrame,
    texts: Texts,
    *,
    names: Collection[str],
    variables: Sequence[str],
    paraphrased: Sequence[Place] = (),
) -> tuple[pd.DataFrame, tuple[str, ...], pd.DataFrame | None]:
    """Return the units as the bundle has them, the columns that it leaves out, and what was redacted.

    All columns stay with texts="all"; else numbers, truth values and times do, and of others the `variables`:
    a column of words may hold what a participant wrote. What is `paraphrased` in print counts as found.
    """
    if texts == "all":
        return units, (), None
    bare = (
        pd.api.types.is_any_real_numeric_dtype, pd.api.types.is_bool_dtype,
        pd.api.types.is_datetime64_any_dtype,
    )  # fmt: skip
    told = {*_CONTRACT, *variables} | ({"context"} if texts == "redacted" else set())
    kept = [name for name in units if name in told or any(each(units[name].dtype) for each in bare)]
    left_out = tuple(str(name) for name in units if name not in kept)
    if texts == "withheld":
        covered = pd.array(_covered(units["text"]), dtype="string").astype(units["text"].dtype)
        return units[kept].assign(text=covered), left_out, None
    found = redact.find(units, names=names)
    if paraphrased:
        known = _paraphrased(units, paraphrased)
        found = pd.concat([found, pd.DataFrame(known, columns=list(found.columns)).astype(found.dtypes)],
                          ignore_index=True)  # fmt: skip
    return _blackened(units[kept], found), left_out, found


def _paraphrased(units: pd.DataFrame, places: Sequence[Place]) -> list[_Row]:
    """Return where words stand for which a paraphrase is printed, also in other texts and turns before."""
    texts: dict[str, str] = dict(zip(units["unit_id"], units["text"], strict=True))
    whole = [
        (unit_id, 0 if start is None else start, len(texts[unit_id]) if end is None else end)
        for unit_id, start, end in places if unit_id in texts
    ]  # fmt: skip
    kind = "paraphrased"
    rows: dict[_Row, None] = {
        (unit_id, "text", None, kind, start, end): None for unit_id, start, end in whole
    }
    said = {texts[unit_id][start:end].strip() for unit_id, start, end in whole}
    patterns = [re.compile(re.escape(words)) for words in said if len(words) >= _TELLING]
    for unit_id, column, turn, text in all_texts(units):
        for match in (one for each in patterns for one in each.finditer(text)):
            rows[unit_id, column, turn, kind, match.start(), match.end()] = None
    return list(rows)


def all_texts(units: pd.DataFrame) -> Iterator[tuple[str, str, int | None, str]]:
    """Yield every text of the units, and every turn before one, with its place."""
    for unit_id, text in zip(units["unit_id"], units["text"], strict=True):
        yield unit_id, "text", None, text
    if "context" not in units:
        return
    for unit_id, context in zip(units["unit_id"], units["context"], strict=True):
        for turn, said in enumerate(json.loads(context) if isinstance(context, str) else ()):
            yield unit_id, "context", turn, said["text"]


def _covered(texts: Iterable[str]) -> list[str]:
    """Return for each text blocks of its length; which of them are gaps tells different texts apart."""
    numbers: dict[str, int] = {}
    covered = []
    for text in texts:
        number = numbers.setdefault(text, len(numbers))
        bits = f"{number:b}"[::-1][: len(text)]
        covered.append("".join(_GAP if bit == "1" else _BLOCK for bit in bits).ljust(len(text), _BLOCK))
    return covered


def _blackened(units: pd.DataFrame, found: pd.DataFrame) -> pd.DataFrame:
    """Return the units with a block for each letter that was found: offsets stay as they are."""
    rows = {unit_id: row for row, unit_id in enumerate(units["unit_id"])}
    changed: dict[str, list[Any]] = {}
    for unit_id, column, turn, start, end in found[_PLACE].itertuples(index=False, name=None):
        values, row = changed.setdefault(column, units[column].tolist()), rows[unit_id]
        if column == "context":
            turns = json.loads(values[row])
            turns[int(turn)]["text"] = _cut(turns[int(turn)]["text"], int(start), int(end))
            values[row] = json.dumps(turns, ensure_ascii=False)
        else:
            values[row] = _cut(values[row], int(start), int(end))
    columns = {
        name: pd.Series(values, index=units.index, dtype=units[name].dtype)
        for name, values in changed.items()
    }
    return units.assign(**columns)


def _cut(text: str, start: int, end: int) -> str:
    return text[:start] + _BLOCK * (end - start) + text[end:]


def published_codebooks(
    codebooks: Mapping[str, Codebook], repeats: Callable[[str], bool], texts: Texts
) -> dict[str, Codebook]:
    """Return the versions of the codebook without their examples, which may be participants' words.

    The same example has the same number in every version, so that a change of examples stays one.
    """
    if texts == "all":
        return dict(codebooks)
    numbers: dict[str, str] = {}

    def stand_in(example: str) -> str:
        return numbers.setdefault(example, f"[example {len(numbers) + 1}, withheld]")

    def rule(value: Any) -> Any:
        if isinstance(value, str):
            return WITHHELD if repeats(value) else value
        return tuple(rule(each) for each in value)

    def without(code: Code) -> Code:
        values: dict[str, Any] = {name: rule(getattr(code, name)) for name in _RULES}
        values |= {name: tuple(map(stand_in, getattr(code, name))) for name in _EXAMPLES}
        return replace(code, **values)

    def plain(facet: Facet) -> Facet:
        values = tuple(replace(each, label=rule(each.label)) for each in facet.values)
        return replace(facet, label=rule(facet.label), values=values)

    return {
        fingerprint: replace(
            book,
            codes=tuple(map(without, book.codes)),
            facets=tuple(map(plain, book.facets)),
            **{name: rule(getattr(book, name)) for name in _ABOUT},
        )
        for fingerprint, book in codebooks.items()
    }


def published_acts(
    lines: Iterable[dict[str, Any]], repeats: Callable[[str], bool], texts: Texts
) -> Iterator[dict[str, Any]]:
    """Yield the lines of the record as the bundle has them.

    A text that is withheld leaves its hash behind, and not the salt with which that was made: so nobody can
    find a short quote by trying.
    """
    cover = Cover(repeats)
    for line in lines:
        stands = line.get("text") if texts == "all" else published_text(line, cover)
        if "text" in line and stands != line["text"]:
            line = {name: value for name, value in line.items() if name not in ("salt", "text")}
            line |= {"withheld": True} if stands is None else {"withheld": True, "text": stands}
        yield line
