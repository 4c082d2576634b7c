"""A project of another program, as values of this package."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol

import pandas as pd

from sense7_qual import codings as _codings
from sense7_qual._contract import Column, Contract
from sense7_qual.acts import Act
from sense7_qual.codebook import Codebook, Revision
from sense7_qual.codings import carried
from sense7_qual.errors import ArgumentError, TableError
from sense7_qual.exchange._losses import LossReport

__all__ = ["GROUPS", "QUOTATIONS", "Project", "Study", "require_study", "rows_of", "standing"]

GROUPS: Final = Contract(
    "groups",
    ("group", "code"),
    {"group": Column("id"), "description, code": Column("string")},
    frozenset({"code"}),
)
QUOTATIONS: Final = Contract(
    "quotations",
    ("unit_id", "coder", "start", "end"),
    {"unit_id, coder": Column("id"), "start, end": Column("integer"), "name, at": Column("string")},
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Project:
    """What a REFI-QDA project file (.qdpx) holds, in the frames of this package.

    Parameters
    ----------
    name, origin, description : str
        The project's name, the program that wrote it, and what it says of itself.
    units : DataFrame
        One row per text (`frames.UNITS`): unit_id is the name of the source, case_id the case that it belongs
        to (missing where it belongs to none), and each variable is a column.
    codings : DataFrame
        One row per coding (`frames.CODINGS`), with a column for each facet of the codebook. `start` and `end`
        count Unicode code points of the text; both are missing where a whole text is coded.
    coverage : DataFrame
        Which coder finished which text (`frames.COVERAGE`); empty where a program does not note it.
    undecided : DataFrame
        unit_id, coder, code: what a coder did not decide on a finished text, since the code came later.
    memos : DataFrame
        One row per memo (`frames.MEMOS`).
    quotations : DataFrame
        One row per passage that was selected and has neither code nor memo: unit_id, coder, start, end (code
        points, half-open), name (what it is called, where that is not its words), at. `write_project` takes
        it back.
    codebook : Codebook or None
        The codes; None where the project has none.
    groups : DataFrame
        One row per code in a group of codes: group, description, code (missing in a group of none); a code
        may be in several. `write_project` takes it back. Groups of texts are columns of `units`.
    coders : tuple of str
        Who coded or wrote memos, sorted.
    offsets : DataFrame
        One row per text with selections: unit_id, rule (how positions are counted there), score (the
        probability of that rule, 0–1; missing without a text), selections, on_borders (the share of their
        ends that lie on borders of words, 0–1), quotes_noted and quotes (how many quotes are noted beside
        them, and how many of those are what is selected).
    losses : LossReport
        What was not read, or was changed.
    """

    name: str
    origin: str
    description: str
    units: pd.DataFrame
    codings: pd.DataFrame
    coverage: pd.DataFrame
    undecided: pd.DataFrame
    memos: pd.DataFrame
    quotations: pd.DataFrame
    codebook: Codebook | None
    groups: pd.DataFrame
    coders: tuple[str, ...]
    offsets: pd.DataFrame
    losses: LossReport

    def __repr__(self) -> str:
        n_codes = 0 if self.codebook is None else len(self.codebook)
        return (
            f"Project({len(self.units)} units, {n_codes} codes, {len(self.coders)} coders, "
            f"{len(self.codings)} codings, {len(self.memos)} memos, {len(self.losses)} kinds of losses)"
        )

    def decisions(self) -> pd.DataFrame:
        """Return every finished unit × coder × code, with whether the code is applied there.

        As `codings.decisions`; a code that a coder did not decide on a text has no row there.

        Raises
        ------
        TableError
            The file does not say which texts a coder finished: a code that is not on a text may be absent, or
            the text not read. Whoever knows states it in a frame `coverage` and calls `codings.decisions`.
        """
        if self.codebook is None or self.coverage.empty:
            raise TableError(
                "decisions: expected a project that says which texts each coder finished – found none, as in "
                "projects of other programs – make a frame of unit_id and coder for the texts that you know "
                "to be finished (round, finished_at, codebook missing), and pass it to codings.decisions."
            )
        decided = _codings.decisions(self.codings, self.coverage, self.codebook)
        key = ["unit_id", "coder", "code"]
        known = decided.merge(self.undecided, on=key, how="left", indicator="open_still")
        return known.loc[known["open_still"] == "left_only", decided.columns].reset_index(drop=True)


class Study(Protocol):
    """What is written: anything that has these, as a `Store` does."""

    @property
    def units(self) -> pd.DataFrame:
        """The texts."""

    @property
    def codebook(self) -> Codebook:
        """The present codebook."""

    @property
    def codebooks(self) -> Mapping[str, Codebook]:
        """Every version of it."""

    def codings(self, *, models: bool = ...) -> pd.DataFrame:
        """Return the codings that stand."""

    def coverage(self, *, models: bool = ...) -> pd.DataFrame:
        """Return which coder finished which text."""

    def memos(self) -> pd.DataFrame:
        """Return the memos that stand."""

    def proposals(self) -> pd.DataFrame:
        """Return the codes that coders proposed."""

    def decisions(
        self, *, consensus: bool = ..., before_suggestions: bool = ..., models: bool = ...
    ) -> pd.DataFrame:
        """Return what each coder decided."""

    def rulings(self) -> list[Act]:
        """Return the rulings that stand."""

    def acts(self) -> list[Act]:
        """Return every act."""

    @property
    def revisions(self) -> tuple[Revision, ...]:
        """Return how the codebook came to be."""


def standing(store: Study) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Return the codings that count, what is open since the codebook changed, and what is left out.

    Those of finished texts are carried over to the present codebook. Of texts that are not finished yet those
    count that were made under it; those under an earlier one are left out.
    """
    codings, coverage = store.codings(models=True), store.coverage(models=True)
    now, undecided = carried(codings, coverage, store.codebook, revisions=store.revisions)
    pairs = pd.MultiIndex.from_frame(coverage[["unit_id", "coder"]])
    begun = codings[~pd.MultiIndex.from_frame(codings[["unit_id", "coder"]]).isin(pairs)]
    current = begun["codebook"].fillna(store.codebook.fingerprint) == store.codebook.fingerprint
    return pd.concat([now, begun[current]], ignore_index=True), undecided, begun[~current]


def require_study(store: Study, function: str) -> None:
    """Raise `ArgumentError` where `store` is no open study."""
    if not all(hasattr(store, name) for name in ("units", "codebook", "codings", "decisions", "memos")):
        raise ArgumentError(
            f"{function}: expected an open study as store – found {type(store).__name__} – pass Store(path)."
        )


def rows_of(frame: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """Return the rows of a frame, each as its values by column."""
    return (dict(zip(frame.columns, row, strict=True)) for row in frame.itertuples(index=False, name=None))
