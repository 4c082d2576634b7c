"""Spans laid out on their texts: read and checked once, then cut into stretches on which nothing changes.

Texts are laid end to end. At every place where a span or a text begins or ends the line is cut; on the
stretches between the cuts each coder's codes are constant, so lengths of overlaps are sums over stretches
instead of comparisons of every span with every other one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from sense7_qual._contract import Column, Contract
from sense7_qual._messages import first_three
from sense7_qual.errors import TableError
from sense7_qual.frames import indexed_by_unit, people, require_column, without_models

Integers = npt.NDArray[np.int64]
Truths = npt.NDArray[np.bool_]
Lengths = Mapping[str, int] | pd.Series

SPANS: Final = Contract(
    "spans",
    ("unit_id", "coder", "code", "start", "end"),
    {"unit_id, coder, code": Column("id"), "start, end": Column("integer")},
    frozenset({"start", "end"}),
)
"""A frame of spans; `start` and `end` are half-open code points, both missing the whole text."""

_FINISHED: Final = Contract("coverage", ("unit_id", "coder"), {"unit_id, coder": Column("id")})


@dataclass(frozen=True, slots=True)
class Continuum:
    """Texts laid end to end, with the spans of the coders who finished them.

    Attributes
    ----------
    coders, codes : tuple of str
        C coders, sorted, and the codes in the order of their first appearance.
    unit_ids : tuple of str
        The T texts, in the order of the line.
    finished : array (C, T) of bool
        Whether the coder finished the text. Only texts finished by two or more are included.
    edges : array (K + 1,) of int64
        Where the line is cut, from 0 to its whole length in code points.
    text : array (K,) of int64
        The text of each stretch.
    of_coder, of_code, of_text, first, last : arrays (n_spans,) of int64
        The span's coder, code and text, and the cuts (places in `edges`) at which it begins and ends.
        Overlapping spans of one code by one coder are joined; adjoining ones stay two.
    """

    coders: tuple[str, ...]
    codes: tuple[str, ...]
    unit_ids: tuple[str, ...]
    finished: Truths
    edges: Integers
    text: Integers
    of_coder: Integers
    of_code: Integers
    of_text: Integers
    first: Integers
    last: Integers

    @property
    def width(self) -> Integers:
        """Length of each stretch (K,), 1 or more."""
        return np.diff(self.edges)

    @property
    def length(self) -> Integers:
        """Length of each span (n_spans,), 1 or more."""
        return self.edges[self.last] - self.edges[self.first]


def continuum(
    spans: pd.DataFrame, lengths: Lengths, coverage: pd.DataFrame | None, *, by_all: bool = False
) -> Continuum:
    """Return the spans on the texts that two or more coders finished, or every coder (`by_all`).

    `lengths` gives the code points of each text. Without `coverage` every coder in `spans` counts as having
    finished every text of `lengths`. Spans on texts that their coder has not finished are left out, as are
    those of `consensus`, `majority` and `pooled`, and of models (`warn_of_models`).
    """
    size = text_lengths(lengths)
    spans = _placed(people(SPANS.check(spans)), size)
    finished = finished_by(spans, size, coverage)
    # Coders and codes are those of the whole study, also where a text of theirs does not count.
    code, codes = pd.factorize(spans["code"])
    n_finished = finished.to_numpy(dtype=np.bool_).sum(axis=0)
    pairable = n_finished >= max(2, len(finished) if by_all else 2)
    finished = finished.loc[:, pairable]
    coder = finished.index.get_indexer(pd.Index(spans["coder"]))
    text = finished.columns.get_indexer(pd.Index(spans["unit_id"]))
    by = finished.to_numpy(dtype=np.bool_)
    counts = (coder >= 0) & (text >= 0)
    counts[counts] = by[coder[counts], text[counts]]
    long = size.reindex(finished.columns).to_numpy(dtype=np.int64)
    offset = np.concatenate([[0], np.cumsum(long)]).astype(np.int64)
    table = pd.DataFrame({"coder": coder, "code": code, "text": text})[counts]
    table["start"] = spans["start"].to_numpy(dtype=np.int64)[counts] + offset[table["text"]]
    table["end"] = spans["end"].to_numpy(dtype=np.int64)[counts] + offset[table["text"]]
    names = (tuple(map(str, labels)) for labels in (finished.index, codes, finished.columns))
    return _cut(_joined(table), offset, by, *names)


def covered(line: Continuum, chosen: Truths) -> Truths:
    """Return True for the stretches that the chosen spans of each coder cover (C, K)."""
    n_stretches = len(line.text)
    steps = np.zeros((len(line.coders), n_stretches + 1), dtype=np.int64)
    np.add.at(steps, (line.of_coder[chosen], line.first[chosen]), 1)
    np.add.at(steps, (line.of_coder[chosen], line.last[chosen]), -1)
    return np.asarray(np.cumsum(steps, axis=1)[:, :n_stretches] > 0)


def warn_of_models(*frames: pd.DataFrame | None, function: str) -> None:
    """Warn, once for all frames, which models have spans or finished texts: they are left out."""
    coders = [frame[["coder"]] for frame in frames if frame is not None and "coder" in frame.columns]
    without_models(pd.concat(coders, ignore_index=True), function=function)


def text_lengths(lengths: Lengths) -> pd.Series:
    """Return the texts' lengths by unit_id."""
    if not isinstance(lengths, pd.Series):
        lengths = pd.Series(dict(lengths), dtype="object").rename_axis("unit_id")
    size = indexed_by_unit(lengths, name="lengths")
    numbers = pd.to_numeric(size, errors="coerce").astype("float64")
    wrong = size.index[~(numbers >= 1) | (numbers % 1 != 0)]
    if len(wrong):
        raise TableError(
            f"lengths: expected whole numbers of characters from 1 – found others for {first_three(wrong)} – "
            "pass units.set_index('unit_id')['text'].str.len()."
        )
    return numbers.astype("int64")


def require_lengths(rows: pd.DataFrame, size: pd.Series, *, frame_name: str) -> None:
    """Raise `TableError` where rows are of a text that has no length."""
    unknown = rows.loc[~rows["unit_id"].isin(size.index), "unit_id"].unique()
    if len(unknown):
        raise TableError(
            f"{frame_name}: expected units with a length – found none for {first_three(unknown)} – add "
            "them to lengths, or drop their rows."
        )


def _placed(spans: pd.DataFrame, size: pd.Series) -> pd.DataFrame:
    """Return the spans with numbers for both ends, or say which do not lie in their text."""
    require_lengths(spans, size, frame_name="spans")
    whole = (spans["start"].isna() & spans["end"].isna()).to_numpy(dtype=np.bool_)
    long = size.reindex(spans["unit_id"]).to_numpy(dtype=np.int64)
    start = np.where(whole, 0, spans["start"].fillna(-1)).astype(np.int64)
    end = np.where(whole, long, spans["end"].fillna(-1)).astype(np.int64)
    wrong = (start < 0) | (start >= end) | (end > long)
    if wrong.any():
        raise TableError(
            f"spans: expected 0 ≤ start < end ≤ length of the text – found others on units "
            f"{first_three(spans.loc[wrong, 'unit_id'])} – count code points, end excluded, or leave both "
            "out for the whole text."
        )
    return spans.assign(start=start, end=end)


def finished_by(spans: pd.DataFrame, size: pd.Series, coverage: pd.DataFrame | None) -> pd.DataFrame:
    """Return True where a coder (rows) finished a text (columns)."""
    if coverage is None:
        return pd.DataFrame(True, index=pd.Index(sorted(spans["coder"].unique())), columns=size.index)
    for name in ("unit_id", "coder"):
        require_column(coverage, name, frame_name="coverage")
    rows = _FINISHED.check(coverage[["unit_id", "coder"]].drop_duplicates())
    rows = people(rows)
    require_lengths(rows, size, frame_name="coverage")
    coder, coders = pd.factorize(rows["coder"], sort=True)
    marked: npt.NDArray[Any] = np.zeros((len(coders), len(size)), dtype=np.bool_)
    marked[coder, size.index.get_indexer(pd.Index(rows["unit_id"]))] = True
    return pd.DataFrame(marked, index=pd.Index(coders), columns=size.index)


def _joined(table: pd.DataFrame) -> pd.DataFrame:
    """Join overlapping spans of one code by one coder."""
    table = table.sort_values(["coder", "code", "text", "start", "end"], ignore_index=True)
    of = table.groupby(["coder", "code", "text"], sort=False)
    before = of["end"].cummax().groupby([table["coder"], table["code"], table["text"]]).shift()
    # The first of a group has nothing before it; a span that begins before all that precede end goes on.
    new = (before.isna() | (table["start"] >= before)).to_numpy(dtype=np.bool_)
    joined = table.groupby(np.cumsum(new), sort=False)
    return joined.agg(
        coder=("coder", "first"),
        code=("code", "first"),
        text=("text", "first"),
        start=("start", "min"),
        end=("end", "max"),
    )


def _cut(
    table: pd.DataFrame,
    offset: Integers,
    finished: Truths,
    coders: tuple[str, ...],
    codes: tuple[str, ...],
    unit_ids: tuple[str, ...],
) -> Continuum:
    start, end = table["start"].to_numpy(dtype=np.int64), table["end"].to_numpy(dtype=np.int64)
    edges = np.unique(np.concatenate([offset, start, end]))
    return Continuum(
        coders=coders,
        codes=codes,
        unit_ids=unit_ids,
        finished=finished,
        edges=edges,
        text=np.searchsorted(offset, edges[:-1], side="right") - 1,
        of_coder=table["coder"].to_numpy(dtype=np.int64),
        of_code=table["code"].to_numpy(dtype=np.int64),
        of_text=table["text"].to_numpy(dtype=np.int64),
        first=np.searchsorted(edges, start),
        last=np.searchsorted(edges, end),
    )
