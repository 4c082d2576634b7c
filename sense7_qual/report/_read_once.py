"""A study that is read once, so that all that is made of it in one call is of one state."""

from __future__ import annotations

from functools import cache
from typing import Any, cast

import pandas as pd

from sense7_qual.report._review_facts import Study, require_study

__all__ = ["read_once"]


def read_once(store: Study, *, function: str) -> Study:
    """Return the study as it is now: what others code from now on does not come in half.

    Of a round of its own the decisions are read when they are first asked for. Raises `ArgumentError`, as of
    `function`, where `store` is no open study.
    """
    require_study(store, function=function)
    if isinstance(store, _ReadOnce):
        return store
    snapshot = cast(Study, _ReadOnce(store))
    for name in ("units", "codebook", "codebooks", "rounds", "plan", "revisions"):
        getattr(snapshot, name)
    for read in (
        snapshot.acts, snapshot.codings, snapshot.coverage, snapshot.decisions, snapshot.memos,
        snapshot.proposals, snapshot.quotes, snapshot.rulings,
    ):  # fmt: skip
        read()
    snapshot.decisions(before_suggestions=True)
    snapshot.decisions(consensus=True)
    snapshot.decisions(consensus=True, single=True)
    return snapshot


class _ReadOnce:
    def __init__(self, store: Study) -> None:
        self._store = store

    def __repr__(self) -> str:
        return f"ReadOnce({type(self._store).__name__})"

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        of_store = getattr(self._store, name)
        if not callable(of_store):
            vars(self)[name] = of_store
            return of_store
        read = cache(of_store)

        def read_again(**asked: Any) -> Any:
            return _own(read(**asked))

        vars(self)[name] = read_again
        return read_again


def _own(value: Any) -> Any:
    """Return the value as a caller's own: what they change of it changes nothing for the others."""
    if isinstance(value, pd.DataFrame):
        return value.copy(deep=False)
    return list(value) if isinstance(value, list) else value
