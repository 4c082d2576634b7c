"""Identifiers in units: finding them, showing them, and replacing them by pseudonyms."""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from numbers import Real
from typing import Any, Final

import pandas as pd

from sense7_qual._arguments import check_arguments, check_least
from sense7_qual._contract import Contract, count, holding, text
from sense7_qual._messages import did_you_mean, first_three
from sense7_qual.errors import TableError
from sense7_qual.frames import require_column
from sense7_qual.redact._patterns import KINDS, PLACEHOLDER, Names, identifiers_in, same

FOUND: Final = Contract(
    "found",
    ("unit_id", "column", "turn", "start"),
    {
        "unit_id, column": text(),
        "turn": count("from 0, in the column context; otherwise missing", missing=True),
        "kind": text("of two kinds, the first in `KINDS` counts"),
        "start, end": count("code points, half-open; no two overlap"),
    },
    row="One row per identifier, in the order of the units. Missing texts hold none. It holds no text: see "
    "`preview`",
)

REPLACEMENTS: Final = Contract(
    "replacements",
    FOUND.key,
    {
        **FOUND.columns,
        "replacement": text("the pseudonym"),
        "new_start, new_end": count("its place in the text as it is"),
    },
    row="One row per replacement, in order; start and end in the text as it was. It holds no identifier",
)


_TEXTS: Final = ("text", "context")
# Of n identifiers of one kind two share a pseudonym with a chance of about n²/2⁴¹: 1 in 22,000 for 10,000.
_HEX: Final = 10
_Place = tuple[str, str, int | None]


@holding(replacements=REPLACEMENTS)
@dataclass(frozen=True, slots=True)
class Redacted:
    """Units without the identifiers that were found, and what was replaced.

    Parameters
    ----------
    units
        The units, in their order, with pseudonyms in the texts; every other column as it was.
    replacements : DataFrame
    """

    units: pd.DataFrame = field(repr=False)
    replacements: pd.DataFrame = field(repr=False)


@FOUND.returns
def find(
    units: pd.DataFrame,
    *,
    names: Collection[str] | Mapping[str, str] = (),
    kinds: Collection[str] = KINDS,
    columns: Sequence[str] = _TEXTS,
    any_case: bool = True,
    inflected: bool = True,
) -> pd.DataFrame:
    """Find direct identifiers in the texts of `units`.

    Parameters
    ----------
    units
        One row per unit_id; also messages (`columns=["Content"]`).
    names
        Names to look for as whole words ("Anna" is not found in "Annabel"), or {name as written: the person},
        where several names are one person. Composed and decomposed accents are the same; the parts
        of a name may be joined by a space, a hyphen or an apostrophe. Names typed without their accents are
        found ("Jose" for José), and of a name before 's the name alone.
    kinds
        Which of `KINDS` to look for.
    columns
        The columns of text that are searched, if present; in `context`, the text of each turn.
    any_case
        Whether "anna" and "ANNA" are Anna. With False, a name counts only as listed or in capitals:
        for lists with names that are words ("Will", "Grace", "May"). "Mark my words" is found either
        way, "mark my words" and "remark" are not.
    inflected
        Whether a name is also found with what is usually written to it ("Annas", "Ивану", "وأحمد"), with
        initials and turned round ("J. Smith", "John S.", "Smith, John"). With False, only as it is listed.
        Other endings ("Anny" in Polish) are to be listed: {"Anna": "Anna", "Anny": "Anna"}. A first name is
        not found because the full name is listed: list both.

    Raises
    ------
    TableError
        None of the columns is present, a unit_id is missing or repeated, a kind is unknown, a name is
        empty, or a context is not a JSON list of turns.

    Examples
    --------
    >>> units = pd.DataFrame({"unit_id": ["m1"], "text": ["Anna (anna@example.org) rang +49 30 901820."]})
    >>> find(units, names=["Anna"])[["kind", "start", "end"]].values.tolist()
    [['name', 0, 4], ['email', 6, 22], ['phone', 29, 42]]
    """
    check_arguments(find, locals())
    chosen = _kinds(kinds)
    listed = _names(names, any_case, inflected)
    rows = [
        (unit, column, turn, kind, start, end)
        for (unit, column, turn), text in _texts(units, columns)
        for kind, start, end in identifiers_in(text, chosen, listed)
    ]
    return FOUND.frame(rows)


def preview(units: pd.DataFrame, found: pd.DataFrame, *, width: int = 20) -> pd.DataFrame:
    """Show the identifiers found, with a few words around each, to check before replacing them.

    Parameters
    ----------
    units, found
        The units, and what `find` returned for them, or some of its rows; or the `replacements` of `apply`,
        to see the pseudonyms.
    width
        Code points to show on either side: no more than it takes to decide.

    Returns
    -------
    pandas.DataFrame
        One row per row of `found`, by kind: kind, before, identifier, replacement (where it is known), after,
        then unit_id and the other columns of `found`. What you keep of it goes to `apply(found=…)`.
        **This frame holds participants' text and identifiers**: do not leave it in a notebook that you share.

    Raises
    ------
    TableError
        A row of `found` is not of these units, or lies outside its text.

    Examples
    --------
    >>> units = pd.DataFrame({"unit_id": ["m1"], "text": ["I am @anna_k here"]})
    >>> preview(units, find(units), width=5)[["kind", "before", "identifier", "after"]].values.tolist()
    [['handle', 'I am ', '@anna_k', ' here']]
    >>> preview(units, apply(units).replacements)["replacement"].tolist()
    ['[HANDLE-1]']
    """
    check_arguments(preview, locals())
    check_least(preview, 0, width=width)
    FOUND.require(found)
    texts = dict(_texts(units, [str(column) for column in units if column in set(found["column"])]))
    shown = []
    for place, _, start, end in _rows(found, texts):
        text = texts[place]
        shown.append((text[max(start - width, 0) : start], text[start:end], text[end : end + width]))
    around = pd.DataFrame(shown, columns=["before", "identifier", "after"], dtype="string")
    both = pd.concat([found.reset_index(drop=True), around], axis=1)
    first = ["kind", "before", "identifier", *(["replacement"] if "replacement" in both else []), "after"]
    ordered = both[[*first, *(column for column in both if column not in first)]]
    return ordered.sort_values("kind", key=lambda kinds: kinds.map(_rank), kind="stable", ignore_index=True)


def summary(units: pd.DataFrame, found: pd.DataFrame) -> pd.DataFrame:
    """Count each identifier found: the quickest way to see a wrong one.

    Parameters
    ----------
    units, found
        As of `preview`.

    Returns
    -------
    pandas.DataFrame
        One row per kind and identifier as written (upper and lower case are one), the most frequent of a
        kind first: kind, identifier, replacement (where it is known), n (places), n_units. **It holds
        identifiers**, and no other text. `found.value_counts("kind")` counts by kind,
        `found.value_counts("unit_id")` by unit.

    Raises
    ------
    TableError
        As `preview`.

    Examples
    --------
    >>> units = pd.DataFrame({"unit_id": ["m1", "m2"], "text": ["Anna, anna and a@b.org", "Anna"]})
    >>> summary(units, find(units, names=["Anna"])).values.tolist()
    [['email', 'a@b.org', 1, 1], ['name', 'Anna', 3, 2]]
    """
    check_arguments(summary, locals())
    shown = preview(units, found, width=0)
    by = ["kind", "folded", *(["replacement"] if "replacement" in shown else [])]
    counted = shown.assign(folded=shown["identifier"].str.casefold()).groupby(by, sort=False)
    each = counted.agg(
        identifier=("identifier", "first"), n=("unit_id", "size"), n_units=("unit_id", "nunique")
    )
    each = each.reset_index().assign(rank=lambda rows: rows["kind"].map(_rank))
    each = each.sort_values(["rank", "n"], ascending=[True, False], kind="stable", ignore_index=True)
    return each[["kind", "identifier", *by[2:], "n", "n_units"]]


def _rank(kind: str) -> int:
    return KINDS.index(kind) if kind in KINDS else len(KINDS)


def apply(
    units: pd.DataFrame,
    *,
    names: Collection[str] | Mapping[str, str] = (),
    kinds: Collection[str] = KINDS,
    columns: Sequence[str] = _TEXTS,
    any_case: bool = True,
    inflected: bool = True,
    found: pd.DataFrame | None = None,
    key: str | bytes | None = None,
) -> Redacted:
    """Replace direct identifiers by pseudonyms, the same one for the same identifier.

    Parameters
    ----------
    units, names, kinds, columns, any_case, inflected
        As of `find`.
    found
        What to replace: the rows of `find` that you keep after `preview`, and your own (any `kind` of
        letters, such as "place"). By default everything that `find` finds.
    key
        A secret of at least 16 characters, kept outside of the study and of the notebook: give it from the
        environment (`os.environ["REDACTION_KEY"]`) or the keyring. With it a pseudonym is a keyed hash
        (HMAC-SHA256): the same in every corpus for which the key is used, and without the key not to be found
        by trying all telephone numbers, [NAME-c265e59faa]. Without it pseudonyms are numbered in their order,
        [NAME-1], after those already in the texts.

    Returns
    -------
    Redacted
        The units with pseudonyms, and the table of replacements. Applied again to these units, nothing more
        is found. Columns other than `columns` are left as they are: look at your variables, too.

    Raises
    ------
    TableError
        As `find`; the key is short; rows of `found` overlap or are not of these units.

    Notes
    -----
    "Anna" and "Anna Meyer" have two pseudonyms unless `names` says that they are one person. Spellings are
    one: accents, case, endings and initials of a name; "+49 (0)30" and "0049 30"; an address and the same
    written out. "030 90" and "+49 30 90" are two: nobody tells the country. A numbered pseudonym is safe to
    show; a keyed one is as safe as its key, because names can be tried one by one. It has 40 bits: two of n
    identifiers of a kind share one with a chance of about n²/2⁴¹ (10,000: 1 in 22,000), which is refused
    within one call. The key is in no frame, error or repr.

    Examples
    --------
    >>> units = pd.DataFrame({"unit_id": ["m1", "m2"], "text": ["Anna said hi", "ANNA, Ben and I"]})
    >>> done = apply(units, names=["Anna", "Ben"])
    >>> done.units["text"].tolist()
    ['[NAME-1] said hi', '[NAME-1], [NAME-2] and I']
    >>> done.replacements[["unit_id", "start", "end", "replacement", "new_end"]].values.tolist()[1]
    ['m2', 0, 4, '[NAME-1]', 8]
    >>> apply(units, names=["Anna"], key="kept in a safe place").units["text"].tolist()[0]
    '[NAME-c265e59faa] said hi'
    """
    check_arguments(apply, locals())
    secret = _key(key)
    if found is None:
        found = find(units, names=names, kinds=kinds, columns=columns, any_case=any_case, inflected=inflected)
    texts = dict(_texts(units, columns))
    listed = _names(names, any_case, inflected)
    pseudonyms = _Pseudonyms(secret, texts.values())
    changed: dict[_Place, str] = {}
    rows = []
    for place, spans in _by_place(found, texts).items():
        pieces, last, new = [], 0, 0
        for kind, start, end in spans:
            written = texts[place][start:end]
            value = listed.person(written) if kind == "name" else same(kind, written)
            replacement = pseudonyms.of(kind, value)
            new += start - last
            rows.append((*place, kind, start, end, replacement, new, new + len(replacement)))
            pieces += [texts[place][last:start], replacement]
            last, new = end, new + len(replacement)
        changed[place] = "".join([*pieces, texts[place][last:]])
    return Redacted(_with(units, changed), REPLACEMENTS.frame(rows))


class _Pseudonyms:
    """One pseudonym for each identifier."""

    def __init__(self, key: bytes | None, texts: Collection[str]) -> None:
        self._key = key
        self._tags: dict[tuple[str, str], str] = {}
        self._taken: dict[str, int] = {}
        for one in texts if key is None else ():
            for label, number in PLACEHOLDER.findall(one):
                if number.isdecimal():
                    self._taken[label] = max(self._taken.get(label, 0), int(number))

    def of(self, kind: str, value: str) -> str:
        label = kind.upper()
        if (label, value) not in self._tags:
            self._tags[label, value] = f"[{label}-{self._tag(label, value)}]"
            if len(set(self._tags.values())) < len(self._tags):
                raise TableError(
                    f"apply: two identifiers of the kind {kind} would get the same pseudonym with this key. "
                    "Nothing was replaced. Use another key."
                )
        return self._tags[label, value]

    def _tag(self, label: str, value: str) -> str:
        if self._key is None:
            self._taken[label] = self._taken.get(label, 0) + 1
            return str(self._taken[label])
        message = f"{label}\0{value}".encode("utf-8", "surrogatepass")
        return hmac.new(self._key, message, hashlib.sha256).hexdigest()[:_HEX]


def _key(key: str | bytes | None) -> bytes | None:
    if key is None:
        return None
    secret = key.encode() if isinstance(key, str) else key
    if not isinstance(secret, bytes) or len(secret) < 16 or len(set(secret)) < 6:
        raise TableError(
            "apply: the key must have at least 16 characters, six of them different. Make one with "
            "secrets.token_urlsafe(), keep it apart from the study, and read it from the environment or the "
            "keyring."
        )
    return secret


def _kinds(kinds: Collection[str]) -> frozenset[str]:
    chosen = [kinds] if isinstance(kinds, str) else list(kinds)
    unknown = [kind for kind in chosen if kind not in KINDS]
    if unknown:
        raise TableError(
            f"expected kinds of identifier – found {first_three(unknown)} – {did_you_mean(unknown[0], KINDS)}"
        )
    return frozenset(chosen)


def _names(names: Collection[str] | Mapping[str, str], any_case: bool, inflected: bool) -> Names:
    if isinstance(names, str):
        raise TableError("expected a list of names – found one string – put it into a list.")
    listed = dict(names) if isinstance(names, Mapping) else {name: name for name in names}
    bad = [
        i
        for i, (name, person) in enumerate(listed.items())
        if not (isinstance(name, str) and isinstance(person, str)) or sum(map(str.isalnum, name)) < 2
    ]
    if bad:
        # A name may be a participant's: its place in the list is told.
        raise TableError(
            f"expected names of two letters or more – found others at place {first_three(bad)} of the list "
            "(from 0) – correct them."
        )
    return Names(listed, exact=not any_case, inflected=inflected)


def _texts(units: pd.DataFrame, columns: Sequence[str]) -> Iterator[tuple[_Place, str]]:
    """Yield every text of the units with its place: unit_id, column, turn."""
    require_column(units, "unit_id", frame_name="units")
    ids = units["unit_id"].astype("string")
    bad = (ids.isna() | ids.duplicated(keep=False)).to_numpy(dtype=bool)
    if bad.any():
        raise TableError(
            f"units: expected each unit_id once – found some missing or more than once, in {int(bad.sum())} "
            "rows – keep one of each."
        )
    present = [name for name in columns if name in units]
    if not present and len(columns):
        require_column(units, columns[0], frame_name="units")
    for column in present:
        for row, (unit, cell) in enumerate(zip(ids, units[column], strict=True)):
            if column == "context" and isinstance(cell, str):
                yield from (((unit, column, i), turn["text"]) for i, turn in enumerate(_turns(cell, row)))
            elif isinstance(cell, str):
                yield (unit, column, None), cell


def _turns(context: str, row: int) -> list[dict[str, Any]]:
    try:
        turns = json.loads(context)
    except (ValueError, RecursionError):
        turns = None
    if not isinstance(turns, list) or not all(
        isinstance(turn, dict) and isinstance(turn.get("text"), str) for turn in turns
    ):
        raise TableError(
            f"units: expected a JSON list of turns in column 'context', as corpus.read gives it – found "
            f"something else in row {row} – correct it, or name the columns: columns=['text']."
        )
    return turns


def _rows(found: pd.DataFrame, texts: Mapping[_Place, str]) -> Iterator[tuple[_Place, str, int, int]]:
    FOUND.require(found)
    for row, (unit, column, turn, kind, start, end) in enumerate(
        found[list(FOUND.columns)].itertuples(index=False, name=None)
    ):
        place = (str(unit), str(column), int(turn) if _is_whole(turn) else None)
        if (
            not (_is_whole(start) and _is_whole(end))
            or place not in texts
            or not 0 <= start <= end - 2 < end <= len(texts[place])
        ):
            raise TableError(
                f"found: expected spans of two characters or more in the texts of these units – found "
                f"another in row {row} – find them again."
            )
        if not isinstance(kind, str) or not PLACEHOLDER.fullmatch(f"[{kind.upper()}-1]"):
            raise TableError(
                f"found: expected a kind of 2 to 20 letters (a to z) – found another in row {row} – rename "
                "it."
            )
        yield place, kind, int(start), int(end)


def _is_whole(value: object) -> bool:
    return isinstance(value, Real) and float(value).is_integer()


def _by_place(found: pd.DataFrame, texts: Mapping[_Place, str]) -> dict[_Place, list[tuple[str, int, int]]]:
    places: dict[_Place, list[tuple[str, int, int]]] = {}
    for place, kind, start, end in _rows(found, texts):
        places.setdefault(place, []).append((kind, start, end))
    for (unit, _, _), spans in places.items():
        spans.sort(key=lambda span: span[1])
        if any(after[1] < before[2] for before, after in pairwise(spans)):
            raise TableError(
                f"found: expected spans that do not overlap – found some in unit {unit!r} – keep one of each."
            )
    return places


def _with(units: pd.DataFrame, changed: Mapping[_Place, str]) -> pd.DataFrame:
    """Return the units with the changed texts, each column of the type that it was."""
    ids = units["unit_id"].astype("string")
    columns = {}
    for column in dict.fromkeys(column for _, column, _ in changed):
        if column == "context":
            new = [_context(str(unit), text, changed) for unit, text in zip(ids, units[column], strict=True)]
        else:
            new = [
                changed.get((unit, column, None), text) for unit, text in zip(ids, units[column], strict=True)
            ]
        columns[column] = pd.Series(new, index=units.index, dtype=units[column].dtype)
    return units.assign(**columns)


def _context(unit: str, context: object, changed: Mapping[_Place, str]) -> object:
    if not isinstance(context, str):
        return context
    turns = _turns(context, 0)
    new = [turn | {"text": changed.get((unit, "context", i), turn["text"])} for i, turn in enumerate(turns)]
    return json.dumps(new, ensure_ascii=False) if new != turns else context
