"""How a program counts positions in a text: inferred for each source, with the evidence for it.

The REFI-QDA standard counts Unicode code points; programs that write it count UTF-16 units, or a line's end
as two, or the mark at a file's beginning. Read by the wrong rule, every selection behind the first emoji is
shifted, without a word. So each source is read by every rule, and what people do when they select decides:
they begin and end at the borders of words, and programs note the first words of a selection with it.

Under the right rule, an end lies on a border of a word with probability .98, anywhere on one alike, and a
noted quote is the one that is selected with .99; under a wrong rule it is so by chance, one in a thousand.
The rule's score is its probability given that. The other sources of the project, most probably written by the
same program, are what is known before.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Final

import numpy as np
import numpy.typing as npt

from sense7_qual.corpus import canonical

_ON_BORDER: Final = 0.98
_QUOTED: Final = 0.99
_BY_CHANCE: Final = 1e-3
_NO_SPACES: Final = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
)
_SURE: Final = 0.95
_SAME_PROGRAM: Final = 0.98


@dataclass(frozen=True, slots=True)
class Rule:
    """A way to count: in code points or UTF-16 units, CRLF as one or two, a byte order mark or not."""

    utf16: bool
    crlf_as_two: bool
    bom_counted: bool

    @property
    def name(self) -> str:
        """The words for it: what `read_project` takes as `offsets`."""
        extra = [", CRLF as two"] * self.crlf_as_two + [", BOM counted"] * self.bom_counted
        return "".join(["utf-16" if self.utf16 else "code-points", *extra])


RULES: Final = tuple(Rule(*flags) for flags in product((False, True), repeat=3))


@dataclass(frozen=True, slots=True)
class Selection:
    """A selection as a file has it: where it begins and ends, and the words noted with it."""

    start: int
    end: int
    quote: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Source:
    """A text as a file has it, and what is selected on it."""

    unit_id: str
    raw: str = field(repr=False)
    selections: tuple[Selection, ...]

    @property
    def text(self) -> str:
        """The text as units have it."""
        return canonical(self.raw)


@dataclass(frozen=True, slots=True)
class Placed:
    """Where the selections of a source are in its text, in code points, and what speaks for that.

    `score` is the probability of the rule (0–1; 1 where all rules place the selections alike); `on_borders`
    counts the ends that lie on borders of words, of two for each selection; `quotes` the noted quotes that
    were selected, of `quotes_noted`. `inside` are the selections that had an end inside a character or
    outside the text, and were moved to where one is.
    """

    rule: str
    score: float
    spans: tuple[tuple[int, int], ...]
    on_borders: int
    quotes: int
    quotes_noted: int
    inside: tuple[int, ...]


def positions(raw: str, rule: Rule) -> npt.NDArray[np.int64]:
    """Return the position of each border between characters of the canonical text, under a rule.

    Its length is that of ``canonical(raw)`` and one more; its values rise.
    """
    bare = raw.lstrip("\ufeff")
    points = np.frombuffer(bare.encode("utf-32-le"), dtype="<u4")
    widths = np.where((points > 0xFFFF) & rule.utf16, 2, 1)
    before_lf = np.zeros(len(points), dtype=bool)
    before_lf[:-1] = (points[:-1] == 0x0D) & (points[1:] == 0x0A)
    if not rule.crlf_as_two:
        widths = np.where(before_lf, 0, widths)
    ends = np.cumsum(widths)[~before_lf]
    marks = (len(raw) - len(bare)) * rule.bom_counted
    return np.concatenate([[0], ends]).astype(np.int64) + marks


def infer(sources: Sequence[Source], *, among: Sequence[Rule] = RULES) -> list[Mapping[Rule, float]]:
    """Return the probability of each of the rules `among`, for each source, in order."""
    evidence = [_evidence(source, among) for source in sources]
    total = np.sum(evidence, axis=0) if evidence else np.zeros(len(among))
    probabilities: list[Mapping[Rule, float]] = []
    for own in evidence:
        others = _SAME_PROGRAM * _shares(total - own) + (1 - _SAME_PROGRAM) / len(among)
        probabilities.append(dict(zip(among, _shares(own + np.log(others)).tolist(), strict=True)))
    return probabilities


def _shares(log_weights: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    weights = np.exp(log_weights - log_weights.max())
    shares: npt.NDArray[np.float64] = weights / weights.sum()
    return shares


def placed(source: Source, probability: Mapping[Rule, float]) -> Placed | None:
    """Return the selections where the most probable rule has them; None where that is not sure enough.

    Rules that place all selections of the source alike count as one.
    """
    alike: dict[tuple[tuple[tuple[int, int], ...], tuple[int, ...]], list[Rule]] = {}
    for rule in probability if _tells(source) else list(probability)[:1]:
        alike.setdefault(_spans(source, rule), []).append(rule)
    scores = {read: sum(probability[rule] for rule in rules) for read, rules in alike.items()}
    best = max(scores, key=lambda each: scores[each])
    if len(alike) > 1 and scores[best] < _SURE:
        return None
    rule = max(alike[best], key=lambda each: (probability[each], -RULES.index(each)))
    return _described(source, rule, scores[best], plain=len(alike) == 1)


def _described(source: Source, rule: Rule, score: float, *, plain: bool) -> Placed:
    spans, inside = _spans(source, rule)
    text = source.text
    borders = _borders(text if spans else "")
    quotes = [_quoted(text, span, each.quote) for span, each in zip(spans, source.selections, strict=True)]
    return Placed(
        rule=Rule(utf16=False, crlf_as_two=False, bom_counted=False).name if plain else rule.name,
        score=1.0 if plain else score,
        spans=spans,
        on_borders=int(sum(borders[at] for span in spans for at in span)),
        quotes=sum(quote is True for quote in quotes),
        quotes_noted=sum(quote is not None for quote in quotes),
        inside=inside,
    )


def _spans(source: Source, rule: Rule) -> tuple[tuple[tuple[int, int], ...], tuple[int, ...]]:
    """Return where selections are, in code points of the text, and which were moved to be in it."""
    at = positions(source.raw, rule)
    ends = np.array([(each.start, each.end) for each in source.selections], dtype=np.int64).reshape(-1, 2)
    index = np.minimum(np.searchsorted(at, ends), len(at) - 1)
    inside = np.flatnonzero((at[index] != ends).any(axis=1))
    spans = tuple((int(start), int(end)) for start, end in index)
    return spans, tuple(inside.tolist())


def _borders(text: str) -> npt.NDArray[np.bool_]:
    """Return True where a word begins or ends, for each border between characters, both ends included."""
    words = np.zeros(len(text) + 1, dtype=bool)
    for word in re.finditer(r"\w+(?:['’]\w+)*", text):
        words[[word.start(), word.end()]] = True
    # Sentences are selected with their marks, quotes with theirs: a border of white space is one too.
    for gap in re.finditer(r"\s+", text):
        words[[gap.start(), gap.end()]] = True
    # Chinese, Japanese, Thai and others write without spaces: any place may be the end of a word there.
    for sign in _NO_SPACES.finditer(text):
        words[[sign.start(), sign.end()]] = True
    words[[0, len(text)]] = True
    return words


def _quoted(text: str, span: tuple[int, int], quote: str) -> bool | None:
    """Return whether the words noted beside a selection are the first ones selected; None where none are."""
    noted = _plain_quote(quote)
    return None if len(noted) < 3 else " ".join(text[slice(*span)].split()).startswith(noted)


def is_quote(words: str, name: str) -> bool:
    """Return True if the words noted with a selection are its first ones."""
    return " ".join(words.split()).startswith(_plain_quote(name))


def _plain_quote(noted: str) -> str:
    return " ".join(re.sub(r"(…|\.\.\.)\s*$", "", noted).split())


def _tells(source: Source) -> bool:
    """Return True if the text holds anything that some rules count in another way."""
    return bool(re.search("[\U00010000-\U0010ffff]|\r\n|^\ufeff", source.raw))


def _evidence(source: Source, among: Sequence[Rule]) -> npt.NDArray[np.float64]:
    """Return the log-likelihood of each rule: how well what it selects looks like what people select."""
    weights = np.zeros(len(among))
    if not source.selections or not _tells(source):
        return weights
    text = source.text
    borders = _borders(text)
    n_borders, n_others = int(borders.sum()), max(int((~borders).sum()), 1)
    on, off = math.log(_ON_BORDER / n_borders), math.log((1 - _ON_BORDER) / n_others)
    read = [_spans(source, rule) for rule in among]
    for nth, selection in enumerate(source.selections):
        quotes = [_quoted(text, spans[nth], selection.quote) for spans, _ in read]
        tells = any(quotes)  # a name of another kind is the quote under no rule
        for number, (spans, inside) in enumerate(read):
            if nth in inside:
                weights[number] += 2 * math.log(_BY_CHANCE) + 2 * off
                continue
            weights[number] += sum(on if borders[at] else off for at in spans[nth])
            if tells:
                weights[number] += math.log(_QUOTED if quotes[number] else _BY_CHANCE)
    return weights
