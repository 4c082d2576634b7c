"""Rows without a stated basis are asked about like a spreadsheet's, also next to decisions of a record."""

from __future__ import annotations

import warnings
from pathlib import Path

import pandas as pd
import pytest

from sense7_qual import agreement
from sense7_qual._basis import NOT_STATED
from sense7_qual.errors import TableError
from tests.helpers.basis_study import Study, unit

N = 12
COLD = (0, 3, 6, 9)
KEY = ["unit_id", "coder", "code", "applied"]


def sheet(coder: str, *, complete: bool) -> pd.DataFrame:
    """Return a coder's decisions on two codes; incomplete, *cold* only where it is applied."""
    rows = [(unit(place), coder, "warm", place % 2 == 0) for place in range(N)]
    rows += [(unit(place), coder, "cold", place in COLD) for place in range(N) if complete or place in COLD]
    return pd.DataFrame(rows, columns=KEY)


def recorded(path: Path, coder: str) -> pd.DataFrame:
    """Return the same decisions, complete, from a record."""
    study = Study(path)
    for place in range(N):
        codes = [*(["warm"] if place % 2 == 0 else []), *(["cold"] if place in COLD else [])]
        study.store.append(list(study.code(coder, place, None, *codes)))
    return study.store.decisions()


def test_a_column_that_states_nothing_lets_no_incomplete_rows_in(tmp_path: Path) -> None:
    bare = pd.concat([sheet("ana", complete=True), sheet("ben", complete=False)], ignore_index=True)
    beside_a_record = pd.concat([recorded(tmp_path / "s", "ana"), sheet("ben", complete=False)])
    for frame in (bare, bare.assign(basis=NOT_STATED), bare.assign(basis=None), beside_a_record):
        with pytest.raises(TableError, match="'ben'"):
            agreement.by_code(frame, n_boot=2)


def test_complete_rows_next_to_a_record_are_let_in(tmp_path: Path) -> None:
    both = pd.concat([recorded(tmp_path / "s", "ana"), sheet("ben", complete=True)])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = agreement.by_code(both, n_boot=2).set_index("code")
    assert found.loc["cold", ["n_units", "alpha"]].tolist() == [N, 1]


def test_what_is_missing_in_a_record_is_not_asked_about(tmp_path: Path) -> None:
    """There it waits for review, or was left open, as an abstention is."""
    ana = recorded(tmp_path / "s", "ana")
    ben = ana.assign(coder="ben")
    ben = ben[(ben["code"] == "warm") | ben["applied"]]
    assert agreement.by_code(pd.concat([ana, ben]), n_boot=2)["n_units"].tolist()[0] == N


def test_what_shows_is_said_of_rows_that_state_nothing() -> None:
    ana = pd.DataFrame([(f"u{n:02}", "ana", "warm", n % 3 == 0) for n in range(60)], columns=KEY)
    reverse = ana.assign(coder="ben", applied=~ana["applied"])
    for frame in (pd.concat([ana, reverse]), pd.concat([ana, reverse]).assign(basis=NOT_STATED)):
        with pytest.warns(UserWarning, match="run against"):
            agreement.by_code(frame, n_boot=2)
