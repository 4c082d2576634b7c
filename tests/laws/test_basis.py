"""Every public function that takes decisions states their basis, and every number rests on what it says.

The functions are found by their signatures. Each is called three times: with decisions that say their basis,
with the same frame without the column, and with people's decisions of two bases. What the basis of the
study of `tests/helpers/basis_study.py` has to be, and the numbers that rest on it, stand below.
"""

from __future__ import annotations

import dataclasses
import inspect
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import sense7_qual as qual
from sense7_qual._basis import Basis, state
from tests.helpers.calls import calls, public_names

TAKES = frozenset({
    "decisions", "discussed", "repeats", "gold", "first", "second", "before", "after", "people",
})  # fmt: skip
"""The names under which a function takes decisions."""
OF_DECISIONS = frozenset({"unit_id", "coder", "code", "applied"})
PASSED_ON = {
    # They check, rename or drop rows, and give the others back with the columns that they had.
    "frames.check_people",
}
AS_COMMENT = "links.models.r_script"
"""It writes a script, whose comments say it."""


def takers(folder: Path) -> dict[str, Callable[[], tuple[Callable[..., Any], dict[str, Any]]]]:
    """Return the calls of the public functions with a parameter for decisions, by their signature."""
    known = calls(folder)
    return {name: known[name] for name in public_names() if name in known and set(taken(name, folder))}


def taken(name: str, folder: Path) -> Iterator[str]:
    """Yield the parameters of a function that are annotated as frames and named as decisions are."""
    value = _found(name)
    if value is None:
        return
    for parameter in inspect.signature(value).parameters.values():
        if parameter.name in TAKES and "DataFrame" in str(parameter.annotation):
            yield parameter.name


def _found(name: str) -> Any:
    package, _, rest = name.partition(".")
    value: Any = getattr(qual, package)
    for part in rest.split("."):
        value = getattr(value, part, None)
    return value if callable(value) and not inspect.isclass(value) else None


def said(result: Any) -> str:
    """Return what a result says of its basis: in its column, its attribute, its notes or its script."""
    if isinstance(result, pd.DataFrame):
        lines = result["basis"]
        if not len(lines):
            return " ".join(map(str, lines.cat.categories))
        assert lines.notna().all()
        return " ".join(map(str, lines.unique()))
    if isinstance(result, qual.report.Table):
        return " ".join(note for note in result.notes if note.startswith("Basis"))
    if isinstance(result, Path):
        return next(line for line in result.read_text("utf-8").splitlines() if line.startswith("# Basis"))
    assert dataclasses.is_dataclass(result)
    return str(result.basis)


def made(call: Callable[[], tuple[Callable[..., Any], dict[str, Any]]], change: Callable[..., Any]) -> Any:
    """Return the result of a call whose decisions were changed."""
    function, arguments = call()
    changed = {
        name: change(value)
        if name in TAKES and isinstance(value, pd.DataFrame) and set(value) >= OF_DECISIONS
        else value
        for name, value in arguments.items()
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return function(**changed)


RULE = "drawn for this test"


def stating(decisions: pd.DataFrame) -> pd.DataFrame:
    return state(decisions, Basis(rule=RULE).with_rows(decisions))


def silent(decisions: pd.DataFrame) -> pd.DataFrame:
    return decisions.drop(columns="basis", errors="ignore")


def mixed(decisions: pd.DataFrame) -> pd.DataFrame:
    """Return decisions of which each person's second half rests on something else."""
    n = decisions.groupby("coder")["unit_id"].transform(lambda ids: pd.factorize(ids)[0])
    late = (n >= n.groupby(decisions["coder"]).transform("max") / 2).to_numpy()
    lines = [f"{RULE} · rounds “{'late' if one else 'early'}”" for one in late]
    return decisions.assign(basis=lines)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("basis")


@pytest.mark.long
def test_every_function_that_takes_decisions_states_their_basis(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    wrong, tried = [], 0
    for name, call in takers(folder).items():
        if name in PASSED_ON:
            continue
        for change, expected in ((stating, RULE), (silent, "not stated"), (mixed, "several –")):
            line = said(made(call, change))
            if name in ONE_CODER and change is mixed:
                expected = RULE
            wrong += [] if expected in line else [f"{name}, {change.__name__}: {line!r}"]
            tried += 1
    assert not wrong
    assert tried > 100


ONE_CODER: set[str] = set()
