"""What repeats a participant's words: passages of theirs in other texts, cells, memos, reasons and codebooks.

Texts are compared by their letters and digits alone (`normalised`): case, white space, punctuation, accents
and soft hyphens make no difference.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import accumulate
from typing import Any, Final, Literal, NamedTuple

import numpy as np
import pandas as pd

from sense7_qual._messages import did_you_mean
from sense7_qual.acts import Act, kinds_where, words_written
from sense7_qual.codebook import Codebook
from sense7_qual.errors import CodebookError, StoreError
from sense7_qual.store._stored.hash_chain import Link
from sense7_qual.store._stored.study_notes import Withdrawal

Remaining = tuple[str, str, str | None]
"""What still holds a participant's words (as in `Forgotten.still_held`), where, and since when."""

UNIT: Final = "unit to judge"
_PASSAGE: Final = 25  # letters and digits: longer than a turn of phrase, shorter than most sentences
_OVERLAP: Final = 12  # of them: two or three words
_HINT: Final = 10  # of them: by these most texts are passed over quickly
_FEW: Final = 2  # participants: what stands beside the texts of more is a question or label of the study's
_KEYS: Final = frozenset({"unit_id", "text", "document_id", "case_id", "position"})
_NONE: Final[frozenset[str]] = frozenset()

ToJudge = tuple[str, str, str]
"""What may repeat a participant's words (as in `Forgotten.still_held`), the id of the act, unit, codebook or
note that has it, and of a unit the column."""

_THEIRS: Final = "theirs"
SAID: Final = kinds_where(lambda kind: kind.text in ("written", "reason"))
_WRITTEN: Final = kinds_where(lambda kind: kind.text == "written")


@dataclass(frozen=True, slots=True, repr=False)
class Words:
    """What a participant wrote: ids and passages of units, and what may repeat them.

    `noted_before` is what earlier withdrawals of the same participant found, when their words were there to
    find it by. `judgements` fills as chains are read: what was found in each act by its id (empty: nothing).
    """

    case_id: str
    unit_ids: tuple[str, ...]
    withdrawn_units: frozenset[str]
    repeated: Repeated
    noted_before: tuple[ToJudge, ...]
    judgements: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, units: pd.DataFrame, before: Sequence[Withdrawal], case_id: str) -> Words:
        """Return the words of the participant `case_id` in `units`, or that were there `before`."""
        earlier = [each for each in before if each.case_id == case_id]
        noted = [unit_id for each in earlier for unit_id in each.unit_ids]
        stored = units.loc[units["case_id"] == case_id, "unit_id"].tolist()
        if not noted and not stored:
            raise StoreError(
                f"forget: expected a participant (case_id) of this study – found {str(case_id)[:60]!r} – "
                f"{did_you_mean(case_id, units['case_id'].dropna().unique())}"
            )
        unit_ids = tuple(dict.fromkeys([*noted, *stored]))
        repeated = find_repeated(units, units["unit_id"].isin(unit_ids))
        remaining = set(units["unit_id"])
        to_judge = [
            each for note in earlier for each in note.to_judge if each[0] != UNIT or each[1] in remaining
        ]
        to_judge += [(UNIT, unit_id, column) for unit_id, column in repeated.to_judge]
        to_judge += [("note", each.id, "") for each in before if repeated.passages.in_text(each.why)]
        return cls(case_id, unit_ids, frozenset(unit_ids), repeated, tuple(dict.fromkeys(to_judge)))

    @property
    def remaining_in_units(self) -> Iterator[Remaining]:
        """What of the units and notes of the study may repeat their words."""
        for what, key, column in self.noted_before:
            if what == UNIT:
                yield what, f"unit {key!r}, column {column!r}", None
            if what == "note":
                yield what, f"note {key}", None

    def repeated_in(self, text: str) -> bool:
        """Return True if `text` surely has a passage of theirs in it."""
        return self.repeated.passages.in_text(text) == "sure"

    def repeating(self, chain: Sequence[Link]) -> Iterator[str]:
        """Yield the hashes of what was written on other things and surely repeats a passage."""
        for link in chain:
            if link.act is not None and self._judgement(link.act) == _THEIRS:
                yield str(link.fields["text_hash"])

    def repeating_rows(self, rows: Iterable[tuple[str, object, Mapping[str, object]]]) -> Iterator[str]:
        """Yield the same of damaged tables: of each text its hash, itself and what is known of its act."""
        for name, text, act in rows:
            is_own = act.get("kind") in (*_WRITTEN, None)
            is_open = is_own and act.get("unit_id") not in self.withdrawn_units
            if is_open and isinstance(text, str) and self.repeated_in(words_written(text)):
                yield name

    def remaining_in_acts(self, chain: Sequence[Link]) -> Iterator[Remaining]:
        """Yield the memos that may repeat their words, and the reasons and names that do or may: these cannot
        be taken out of what they say."""
        noted, rounds = {key: what for what, key, _ in self.noted_before}, set()
        for act in (link.act for link in chain if link.act is not None):
            what = self._judgement(act) or noted.get(act.act_id, "")
            again = what == "round" and act.round in rounds
            if what not in ("", _THEIRS) and (act.text or what == "round") and not again:
                yield what, f"act {act.act_id} of {act.coder!r}", act.at
                rounds.add(act.round)

    def _judgement(self, act: Act) -> str:
        if act.act_id not in self.judgements:
            self.judgements[act.act_id] = self._judge(act)
        return self.judgements[act.act_id]

    def _judge(self, act: Act) -> str:
        in_text = self.repeated.passages.in_text
        if act.kind in _WRITTEN and act.text and act.unit_id not in self.withdrawn_units:
            doubtful = f"{act.traits.noun} to judge"
            return {"": "", "doubtful": doubtful, "sure": _THEIRS}[in_text(words_written(act.text))]
        if act.traits.text == "reason" and in_text(_reason(act)):
            return act.traits.noun
        return "round" if act.round is not None and in_text(act.round) else ""

    def to_judge(self, codebooks: Mapping[str, bytes]) -> tuple[ToJudge, ...]:
        """Return the notes for a later call, which no longer has the words to compare with."""
        passages = [
            (what, act_id, "") for act_id, what in self.judgements.items() if what not in ("", _THEIRS)
        ]
        passages += [("codebook", name, "") for name in self._repeating_codebooks(codebooks)]
        return tuple(dict.fromkeys([*self.noted_before, *passages]))

    def remaining_in_codebooks(self, contents: Mapping[str, bytes]) -> Iterator[Remaining]:
        """Yield the versions of the codebook, here as YAML by fingerprint, that repeat their words or may.

        A version's fingerprint vouches for all of it, so an example in it cannot be taken out.
        """
        for name in self._repeating_codebooks(contents):
            yield "codebook", f"codebooks/{name}.yaml", None

    def _repeating_codebooks(self, contents: Mapping[str, bytes]) -> list[str]:
        noted = {key for what, key, _ in self.noted_before if what == "codebook"}
        in_text = self.repeated.passages.in_text
        return [
            name
            for name, content in contents.items()
            if name in noted or any(in_text(text) for text in _scalars(content))
        ]


def _scalars(content: bytes) -> Iterator[str]:
    """Yield every text of a codebook in YAML; of bytes that are none, all."""
    try:
        return texts_in(asdict(Codebook.from_yaml(content)))
    except (CodebookError, UnicodeDecodeError):
        return texts_in(content.decode("utf-8", "replace"))


def texts_in(value: object) -> Iterator[str]:
    """Yield every text in a value of mappings and lists; names of members are none."""
    waiting = [value]
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict | list | tuple):
            waiting += value.values() if isinstance(value, dict) else value


def _reason(act: Act) -> str:
    try:
        return str(json.loads(str(act.text))["why"])
    except (ValueError, KeyError, TypeError, RecursionError):  # of another version
        return str(act.text)


def words_of(units: pd.DataFrame, unit_ids: Collection[str]) -> list[Words]:
    """Return the words of the participants with the units `unit_ids`, as far as `units` still has them."""
    cases = units.loc[units["unit_id"].isin(unit_ids), "case_id"].dropna().unique()
    return [Words.of(units, [], case_id) for case_id in cases]


def without_context(units: pd.DataFrame, chosen: pd.Series) -> pd.DataFrame:
    """Return the units without the earlier turns in conversations of the `chosen` ones, but for their own."""
    remaining = units.copy()
    if "context" in remaining.columns:
        near = units["document_id"].isin(units.loc[chosen, "document_id"].dropna()) & ~chosen
        remaining["context"] = remaining["context"].mask(near)
    return remaining


@dataclass(frozen=True, slots=True, repr=False)
class Passages:
    """Runs of letters and digits by which a participant's words are known elsewhere.

    Texts are compared as `normalised` has them. A run lies over more than one word, but in scripts without
    capitals, which need not part words.

    Attributes
    ----------
    sure : frozenset of str
        Runs that are theirs: 25 letters and digits, or a whole text of 12 to 24 with three words or more,
        which no other participant's text has.
    doubtful : frozenset of str
        Runs that a person must judge: the same if another participant's text has them, or if they are in
        cells of this and several other participants; and 12 letters and digits that are rare.
    """

    sure: frozenset[str]
    doubtful: frozenset[str]
    _search: Search

    @classmethod
    def of(cls, sure: frozenset[str], doubtful: frozenset[str]) -> Passages:
        """Return the passages, ready to be searched for."""
        return cls(sure, doubtful, Search.of(sure | doubtful))

    def in_text(self, text: str) -> Literal["", "doubtful", "sure"]:
        """Return "sure" if `text` repeats them, "doubtful" if a person must judge, else an empty text."""
        runs = self._search.runs_in(text)
        if not runs.isdisjoint(self.sure):
            return "sure"
        return "" if runs.isdisjoint(self.doubtful) else "doubtful"

    def runs_in(self, text: str) -> frozenset[str]:
        """Return the runs that `text` has."""
        return self._search.runs_in(text)


@dataclass(frozen=True, slots=True, repr=False)
class Search:
    """Runs by their length, and shorter hints: a text with a run has a hint where 3 divides the place."""

    runs: Mapping[int, frozenset[str]]
    hints: frozenset[str]

    @classmethod
    def of(cls, runs: Iterable[str]) -> Search:
        """Return the runs, ready to be searched for."""
        by_length = defaultdict(set)
        for run in runs:
            by_length[len(run)].add(run)
        hints = {hint for sized in by_length.values() for run in sized for hint in _pieces(run, _HINT)}
        return cls({n: frozenset(sized) for n, sized in by_length.items()}, frozenset(hints))

    def runs_in(self, text: str) -> frozenset[str]:
        """Return the runs that `text` has."""
        line = normalised(text)
        if self.hints.isdisjoint(_pieces(line, _HINT, _OVERLAP - _HINT + 1)):
            return _NONE
        return _NONE.union(*(runs.intersection(_pieces(line, n)) for n, runs in self.runs.items()))


class Repeated(NamedTuple):
    """A participant's words, and where other units repeat them: the cells that surely do, as row numbers by
    column, and the units and columns that a person must judge."""

    unit_ids: frozenset[str]
    passages: Passages
    cells: Mapping[str, Sequence[int]]
    to_judge: Sequence[tuple[str, str]]


def find_repeated(units: pd.DataFrame, chosen: pd.Series) -> Repeated:
    """Find what the other `units` repeat of the `chosen` ones, which are a participant's.

    What another participant's text has too is not surely theirs. Nor is what their text repeats of a cell
    next to it that several others have, too: a question, say.
    """
    own = chosen.to_numpy(dtype=bool)
    long, short, echoed = _spoken(units[own])
    beside = _NONE.union(*(_runs(text, _OVERLAP) for _, _, text in _cells(units, np.flatnonzero(own))))
    units = without_context(units, chosen)
    search, others = Search.of(long | short | beside), np.flatnonzero(~own)
    texts = _matches(_texts(units, others), search)
    cells = _matches(_cells(units, others), search)
    cases = _objects(units["case_id"])
    in_texts, in_cells = (_participants(each, cases) for each in (texts, cells))
    sure = frozenset(
        run for run in long - in_texts.keys() if run not in echoed or in_cells.get(run, 0) < _FEW
    )
    stays = [each for each in cells if sure.isdisjoint(each.runs)]
    in_stays = _participants(stays, cases)
    rare = {run for run in short - in_texts.keys() if in_stays.get(run, 0) <= _FEW}
    doubtful = (long - sure) | rare | (beside - in_texts.keys() - in_cells.keys())
    near = rare | {run for run in long if run in sure or in_texts.get(run) == 1}
    repeating_cells: dict[str, list[int]] = {}
    for each in cells:
        if not sure.isdisjoint(each.runs):
            repeating_cells.setdefault(each.column, []).append(each.row)
    to_judge = [
        (str(units["unit_id"].iloc[each.row]), each.column)
        for each in [*texts, *stays]
        if not near.isdisjoint(each.runs)
    ]
    return Repeated(
        frozenset(units["unit_id"][own]), Passages.of(sure, frozenset(doubtful)), repeating_cells, to_judge
    )


class _Match(NamedTuple):
    """Runs that stand in a row and column of the units."""

    row: int
    column: str
    runs: frozenset[str]

    def __repr__(self) -> str:
        return f"_Match(row {self.row}, column {self.column!r}, {len(self.runs)} runs)"


def _matches(texts: Iterable[tuple[int, str, str]], search: Search) -> list[_Match]:
    runs_of: dict[str, frozenset[str]] = {}  # earlier turns and labels come again and again
    matches = []
    for row, column, text in texts:
        runs = runs_of.get(text)
        if runs is None:
            runs = runs_of[text] = search.runs_in(text)
        if runs:
            matches.append(_Match(row, column, runs))
    return matches


def _participants(matches: Iterable[_Match], cases: Any) -> dict[str, int]:
    """Return in how many participants' rows each run was found, counted as far as it matters."""
    of_whom: dict[str, set[object]] = defaultdict(set)
    for row, _, runs in matches:
        if cases[row] is not None:
            for run in runs:
                if len(of_whom[run]) <= _FEW:
                    of_whom[run].add(cases[row])
    return {run: len(each) for run, each in of_whom.items()}


def _spoken(theirs: pd.DataFrame) -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
    """Return the passages and whole short texts of a participant, all short runs, and which of the first
    stand beside a text that has them."""
    long: set[str] = set()
    overlaps: set[str] = set()
    echoed: set[str] = set()
    rows = range(len(theirs))
    beside: dict[int, str] = defaultdict(str)
    for row, _, text in _cells(theirs, rows):
        beside[row] += normalised(text) + " "
    for row, _, text in _texts(theirs, rows):
        passages = _runs(text, _PASSAGE)
        if short := short_text(text):
            passages = {short}
        long |= passages
        overlaps |= _runs(text, _OVERLAP)
        echoed |= {run for run in passages if run in beside[row]}
    return frozenset(long), frozenset(overlaps), frozenset(echoed)


def _texts(units: pd.DataFrame, rows: Iterable[int]) -> Iterator[tuple[int, str, str]]:
    texts = _objects(units["text"])
    return ((row, "text", texts[row]) for row in rows if texts[row])


def _cells(units: pd.DataFrame, rows: Iterable[int]) -> Iterator[tuple[int, str, str]]:
    """Yield the row, column and text of what stands beside the texts."""
    for name in variables(units):
        column = _objects(units[name])
        for row in rows:
            if text := _written(column[row]):
                yield row, name, text


def _objects(column: pd.Series) -> Any:
    return column.astype(object).where(column.notna(), None).to_numpy()


def variables(units: pd.DataFrame) -> list[str]:
    """Return the columns that may hold text: the context, and variables but numbers and times."""
    number = pd.api.types.is_any_real_numeric_dtype
    bare = (number, pd.api.types.is_bool_dtype, pd.api.types.is_datetime64_any_dtype)
    return [
        str(name)
        for name in units.columns
        if name not in _KEYS and not any(each(units[name].dtype) for each in bare)
    ]


def _written(value: object) -> str:
    """Return the text in a cell, also of a list or mapping; empty where it has none."""
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        return " ".join(_written(each) for pair in value.items() for each in pair)
    if isinstance(value, list | tuple | set | np.ndarray):
        return " ".join(map(_written, value))
    return value.decode("utf-8", "ignore") if isinstance(value, bytes) else ""


_OTHER: Final = re.compile(r"[\W_]+")
_WORD: Final = re.compile(r"[^\W_]+")
_JOINED: Final = frozenset({"Mn", "Mc", "Me", "Cf"})  # accents, soft hyphens: within a word
_PLAIN: Final = {code: chr(code).lower() if chr(code).isalnum() else None for code in range(128)}


def normalised(text: str) -> str:
    """Return the letters and digits of `text` alone, in one form (NFKC, no accents) and case.

    So white space, punctuation, soft hyphens, typographic quotes and capitals make no difference.
    """
    if text.isascii():
        return text.translate(_PLAIN)
    plain = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).casefold())
    return unicodedata.normalize("NFKC", _OTHER.sub("", plain))


def _line(text: str) -> tuple[str, list[int]]:
    """Return the normalised text, and for each place how many words had begun there.

    A letter of a script without capitals counts as a word: Chinese does not part them.
    """
    plain = "".join(
        each for each in unicodedata.normalize("NFKD", text) if unicodedata.category(each) not in _JOINED
    )
    words = [normalised(word) for word in _WORD.findall(plain)]
    begins = [
        place == 0 or (letter.isalpha() and letter.upper() == letter)
        for word in words
        for place, letter in enumerate(word)
    ]
    return "".join(words), list(accumulate(begins))


def _runs(text: str, n: int) -> set[str]:
    """Return the runs of `n` letters and digits of `text` that lie over more than one word."""
    line, begun = _line(text)
    return {line[i : i + n] for i in range(len(line) - n + 1) if begun[i + n - 1] > begun[i]}


def words_in(text: str) -> set[str]:
    """Return the different words of `text`, normalised."""
    return {normalised(word) for word in set(_WORD.findall(text))}


def run_words(text: str, n: int) -> dict[str, list[str]]:
    """Return the runs of `n` letters and digits of `text` that lie over more than one word, each with the
    words that it has whole."""
    line, begun = _line(text)
    words = list(filter(None, map(normalised, _WORD.findall(text))))
    ends = list(accumulate(map(len, words)))
    whole = [(end - len(word), end, word) for word, end in zip(words, ends, strict=True)]
    return {
        line[i : i + n]: [word for begin, end, word in whole if begin >= i and end <= i + n]
        for i in range(len(line) - n + 1)
        if begun[i + n - 1] > begun[i]
    }


def passages_of(text: str) -> frozenset[str]:
    """Return the runs of 25 letters and digits of `text` that lie over more than one word."""
    return frozenset(_runs(text, _PASSAGE))


def short_text(text: str) -> str:
    """Return the letters and digits of a short text, 12 to 24 in three words or more; else nothing."""
    line, begun = _line(text)
    return line if _OVERLAP <= len(line) < _PASSAGE and begun[-1] > 2 else ""


def _pieces(line: str, n: int, step: int = 1) -> list[str]:
    return [line[i : i + n] for i in range(0, len(line) - n + 1, step)]
