"""What of a study a bundle does not hold, what replaces it, and the look for words that would repeat it.

A stand-in keeps what numbers are computed from: a text keeps its length, so that offsets stay, and texts that
are alike stay alike; a memo, a proposal, the note of a ruling and the paraphrase of a quote stay
there, without their words.
"""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any, Final, Literal

import pandas as pd

from sense7_qual import redact
from sense7_qual._formats import CROWD_ID
from sense7_qual._messages import did_you_mean, first_three, word
from sense7_qual.acts.contents import AnalysisPlan
from sense7_qual.codebook import Code, Codebook, Facet
from sense7_qual.errors import ArgumentError
from sense7_qual.store._operations.contents import CONTENTS, WITHHELD, Cover, published_text
from sense7_qual.store._stored.rare_passages import (
    Written,
    all_texts,
    repeating_rarely,
    said_in,
    words_of_codebook,
)
from sense7_qual.store._stored.repeated_passages import Passages, passages_of, short_text

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
        pd.api.types.is_any_real_numeric_dtype,
        pd.api.types.is_bool_dtype,
        pd.api.types.is_datetime64_any_dtype,
    )
    told = {*_CONTRACT, *variables} | ({"context"} if texts == "redacted" else set())
    kept = [name for name in units if name in told or any(each(units[name].dtype) for each in bare)]
    left_out = tuple(str(name) for name in units if name not in kept)
    if texts == "withheld":
        covered = pd.array(_covered(units["text"]), dtype="string").astype(units["text"].dtype)
        return units[kept].assign(text=covered), left_out, None
    found = redact.find(units, names=names)
    if paraphrased:
        known = _paraphrased(units, paraphrased)
        found = pd.concat(
            [found, pd.DataFrame(known, columns=list(found.columns)).astype(found.dtypes)], ignore_index=True
        )
    return _blackened(units[kept], found), left_out, found


def _paraphrased(units: pd.DataFrame, places: Sequence[Place]) -> list[_Row]:
    """Return where words stand for which a paraphrase is printed, also in other texts and turns before."""
    texts: dict[str, str] = dict(zip(units["unit_id"], units["text"], strict=True))
    whole = [
        (unit_id, 0 if start is None else start, len(texts[unit_id]) if end is None else end)
        for unit_id, start, end in places
        if unit_id in texts
    ]
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


IDS: Final = ("unit_id", "document_id", "case_id")
_NAMES: Final = (
    "round",
    "code",
    "facets",
    "coder",
    "unit_id",
    "memo_id",
    "target",
    "step",
    "moved_from",
    "answers",
)
_TEXTS: Final = tuple(kind for kind, content in CONTENTS.items() if content.keeps)
_FIELDS: Final = (*_NAMES, *IDS, "column", "codebook", "analysis plan", "title", "keywords", *_TEXTS)
# Looked at where they have a space.
_WORDLESS: Final = frozenset({*IDS, "memo_id", "target", "step", "moved_from", "answers"})
_SPACE: Final = re.compile(r"\s")
_SHORTEST: Final = 12  # letters and digits that repeat something
_UUID: Final = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{32}|[0-9a-f]{64}")
_KINDS_OF_IDS: Final = ("url", "email", "handle", "name")  # ids of digits alone look like telephone numbers
_PARTED: Final = re.compile(r"[\s,._-]+")


def check_accepted(accept: Collection[str], columns: Sequence[str]) -> None:
    """Raise `ArgumentError` where what is accepted is no field of a bundle and no column of the units."""
    known = (*_FIELDS, *columns)
    for name in accept:
        if name not in known:
            raise ArgumentError(
                f"bundle: expected a field or column in accept that you have looked at – found "
                f"{word(name)} – {did_you_mean(str(name), dict.fromkeys(known))}"
            )


def written(
    lines: Sequence[Mapping[str, Any]],
    codebooks: Iterable[Codebook],
    units: pd.DataFrame,
    plan: AnalysisPlan,
    given: Mapping[str, Sequence[str]],
) -> Iterator[Written]:
    """Yield what a bundle holds besides the texts, each once: names and ids first, then what is said."""
    seen = set()
    analysed = [("analysis plan", "analysis plan", text) for text in _strings(json.loads(plan.to_text()))]
    for field, where, text in chain(_names(lines, units), _said(lines, codebooks, given), analysed):
        if (field, text) not in seen:
            seen.add((field, text))
            yield field, where, text


def _names(lines: Sequence[Mapping[str, Any]], units: pd.DataFrame) -> Iterator[Written]:
    for line in lines:
        for name in _NAMES:
            if name in line and (name not in _WORDLESS or _SPACE.search(line[name])):
                yield name, f"act {line['act_id']}", line[name]
    yield from (("column", f"column {n}", str(name)) for n, name in enumerate(units))
    for name in units.columns.difference(["text", "context"], sort=False):
        is_category = isinstance(units[name].dtype, pd.CategoricalDtype)
        for value in units[name].cat.categories if is_category else units[name].unique():
            if isinstance(value, str) and (name not in _WORDLESS or _SPACE.search(value)):
                yield name, "store.units", value


def _said(
    lines: Iterable[Mapping[str, Any]], codebooks: Iterable[Codebook], given: Mapping[str, Sequence[str]]
) -> Iterator[Written]:
    yield from (each for book in codebooks for each in words_of_codebook(book))
    for line in lines:
        if line.get("text") and line["kind"] in _TEXTS:
            content = json.loads(line["text"])
            yield from ((line["kind"], f"act {line['act_id']}", text) for text in _strings(content))
    yield from ((name, name, text) for name, texts in given.items() for text in texts)


def _strings(value: Any) -> Iterator[str]:
    """Yield every text in a value of JSON, names of members among them."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for name, one in value.items():
            yield str(name)
            yield from _strings(one)
    elif isinstance(value, list | tuple):
        for one in value:
            yield from _strings(one)


def never(text: str) -> bool:
    """Return False: of what is published with its texts, nothing is withheld."""
    return False


def repeating(
    words: Iterable[str],
    units: pd.DataFrame,
    left_out: Sequence[str],
    *,
    names: Collection[str],
    paraphrased: Sequence[Place],
) -> Callable[[str], bool]:
    """Return a test for what of `words` repeats participants' words.

    It has 25 letters and digits in a row of a text, of a turn before one or of a column that is left out; a
    whole text of 12 or more in three words or more; words for which a paraphrase is printed; or one of the
    `names` or another identifier that a text has, too.
    """
    texts = dict.fromkeys(text for *_, text in all_texts(units))
    beside = [str(value) for name in left_out if name != "context" for value in units[name].dropna().unique()]
    runs = {each: passages_of(each) for each in set(words) if _is_long(each)}
    passages = Passages.of(frozenset().union(*runs.values()), frozenset())
    said = frozenset().union(*(passages.runs_in(text) for text in (*texts, *beside)))
    whole = {short for text in units["text"] if (short := short_text(text))}
    whole |= {short for quote in _quotes(units, paraphrased) if (short := short_text(quote))}
    short_ones = Passages.of(frozenset(whole), frozenset())
    found = {each for each, own in runs.items() if not said.isdisjoint(own) or short_ones.in_text(each)}
    return (found | _identifying(set(words), texts, names)).__contains__


def or_rarely(
    repeats: Callable[[str], bool],
    words: Iterable[Written],
    units: pd.DataFrame,
    left_out: Sequence[str],
    *,
    accept: Collection[str],
) -> Callable[[str], bool]:
    """Return a test that also finds which of `words`, but those in the fields `accept`, repeat a rare passage
    (`rare_passages`); say where they are, before anything is written."""
    in_doubt = [each for each in words if each[0] not in accept and _is_long(each[2])]
    rare = repeating_rarely({text for *_, text in in_doubt}, said_in(units, left_out))
    listed = [(field, where) for field, where, text in in_doubt if text in rare and not repeats(text)]
    if listed:
        places = "; ".join(dict.fromkeys(f"{field}: {where}" for field, where in listed))
        warnings.warn(
            f"bundle: expected no words of participants – found {len(listed)} texts that may repeat a "
            f"passage of theirs ({places}) – they are withheld; look at them, and to publish those of a "
            f"field as they are, pass accept={sorted({field for field, _ in listed})}.",
            stacklevel=7,
        )
    return lambda text: repeats(text) or text in rare


def _is_long(text: str) -> bool:
    return len(text) >= _SHORTEST and _UUID.fullmatch(text) is None


def _quotes(units: pd.DataFrame, places: Sequence[Place]) -> Iterator[str]:
    texts = dict(zip(units["unit_id"], units["text"], strict=True))
    return (texts[unit_id][start:end] for unit_id, start, end in places if unit_id in texts)


def _identifying(words: Collection[str], texts: Iterable[str], names: Collection[str]) -> set[str]:
    """Return which of `words` have a name in them, or an identifier that stands in a text, too."""
    frame = pd.DataFrame({"unit_id": sorted(words), "text": sorted(words)})
    found = redact.find(frame, names=names, columns=["text"])
    found = redact.preview(frame, found, width=0)
    listed = set(found.loc[found["kind"] == "name", "unit_id"])
    formed = found[found["kind"] != "name"]
    if formed.empty:
        return listed
    everything = "\n".join(texts).casefold()
    in_a_text = [identifier.casefold() in everything for identifier in formed["identifier"]]
    return listed | set(formed.loc[in_a_text, "unit_id"])


def refuse_repeated(
    published: Iterable[Written], repeats: Callable[[str], bool], accept: Collection[str]
) -> None:
    """Raise `ArgumentError` where a bundle would print words that repeat a participant's."""
    seen: dict[str, tuple[str, str]] = {}
    for field, where, text in published:
        if repeats(text):
            seen.setdefault(text, (field, where))
    refused = [place for place in seen.values() if place[0] not in accept]
    if refused:
        field = refused[0][0]
        places = dict.fromkeys(where for name, where in refused if name == field)
        raise ArgumentError(
            f"bundle: expected no words of participants in {field!r} – found some that repeat a passage of a "
            f"text or an identifier ({first_three(places)}), which cannot be withheld, since the record's "
            "hashes cover names and ids – leave them out or reword them; to publish what you have looked "
            f"at as it is, pass accept=[{field!r}]."
        )


def refuse_personal(
    units: pd.DataFrame, columns: Iterable[str], names: Collection[str], accept: Collection[str]
) -> None:
    """Raise `ArgumentError` where ids look like addresses or names of people, or a column has addresses."""
    for column in (each for each in columns if each not in accept):
        values = units[column].drop_duplicates().dropna()
        values = values[[isinstance(value, str) for value in values]]
        frame = pd.DataFrame({"unit_id": values.index.astype(str), "text": values.astype("object")})
        kinds = _KINDS_OF_IDS if column in IDS else redact.KINDS
        found = redact.find(frame, names=names, columns=["text"], kinds=kinds)
        told = set(found["unit_id"].astype(int))
        if column in IDS:
            told |= {int(str(row)) for row, value in values.items() if _is_personal(value)}
        if told:
            raise ArgumentError(
                f"bundle: expected {column!r} to tell nobody who somebody is – found {len(told)} of "
                f"{len(values)} that look like addresses, names or crowd service ids of people (rows "
                f"{first_three(sorted(told))} of store.units) – make the study with other ids (corpus.read, "
                f"Store.create); if these are pseudonyms, pass accept=[{column!r}]."
            )


def _is_personal(value: str) -> bool:
    """Return True for an id of a crowd service, and for what may be a name.

    Names are two or three words of letters alone, or one with a capital.
    """
    if CROWD_ID.fullmatch(value):
        return True
    parts = [part for part in _PARTED.split(value) if part]
    if not parts or not all(part.isalpha() and len(part) > 1 for part in parts):
        return False
    return len(parts) in (2, 3) or (len(parts) == 1 and parts[0].istitle())
