"""What is written to other programs: a study, as a `Store` is one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Protocol

import pandas as pd

from sense7_qual.acts import Act
from sense7_qual.codebook import Codebook, Revision
from sense7_qual.codings import carried
from sense7_qual.errors import ArgumentError

__all__ = ["Study", "require_study", "rows_of", "standing"]


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
