"""Every public function that returns a frame says in a contract what it holds, and returns just that."""

from __future__ import annotations

import importlib.util
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from sense7_qual._contract import Contract, count, reason, share, text
from sense7_qual._reasons import Caution, Reason
from tests.helpers.calls import calls
from tests.helpers.places import ROOT

pytestmark = pytest.mark.long

WITHOUT = {
    "agreement.from_wide": "the same values with axes that have names",
    "links.models.CumulativeModel.intervals": "rows named by predictor",
    "links.models.CumulativeModel.odds_ratios": "rows named by predictor",
    "ratings.OrdinalRegression.__call__": "what `cross_validate` takes",
    "ratings.ground_truth": "a column for each dimension",
    "redact.preview": "the columns of what it is given, with the words",
    "redact.summary": "a column more where replacements are known",
    "corpus.read_sense7_messages": "the columns of the workbook",
    "store.Store.assign": "what the record holds, as `acts` and `codings` make it",
    "store.Store.codings": "what the record holds, as `acts` and `codings` make it",
    "store.Store.coverage": "what the record holds, as `acts` and `codings` make it",
    "store.Store.decisions": "what the record holds, as `acts` and `codings` make it",
    "store.Store.memos": "what the record holds, as `acts` and `codings` make it",
    "store.Store.proposals": "what the record holds, as `acts` and `codings` make it",
    "store.Store.quotes": "what the record holds, as `acts` and `codings` make it",
    "store.Store.admin.accept_loss": "acts that are lost",
    "store.Store.record_themes": "as `themes.match_recorded`",
    "suggestions.Suggester.__call__": "as `Suggester.suggest`",
    "suggestions.check": "the frame that it is given",
    "suggestions.suggest": "as the function returns it that it is given",
    "frames.Contract.check": "the frame that it is given",
    "frames.Contract.example": "the frame that it is given",
    "frames.Contract.frame": "the frame that it is given",
    "frames.as_models": "the frame that it is given",
    "frames.as_people": "the frame that it is given",
    "frames.check_people": "the frame that it is given",
    "frames.people": "the frame that it is given",
    "frames.without_models": "the frame that it is given",
}
"""Functions that give back a frame of the caller's columns, and why they have no contract."""
SOME = {"adjudication.queue", "links.code_to_rating", "links.power"}
"""Of these, arguments say which of the columns with a star there are."""
CODES = {str(one) for words in (Reason, Caution) for one in words}
ROUNDING = 1e-9


def offences(contract: Contract, frame: pd.DataFrame, *, some: bool = False) -> Iterator[str]:
    """Yield what a frame has that its contract does not say, or lacks of what it says."""
    columns = [name for name in contract.columns if name in frame or not some or name in contract.printed]
    further = "further columns" in contract.row
    if list(frame.columns)[: len(columns) if further else None] != columns:
        yield f"columns {list(frame.columns)}, not {columns}"
        return
    for name in columns:
        yield from (f"{name}: {wrong}" for wrong in in_column(contract, name, frame[name]))
    if frame.duplicated([name for name in contract.key if name in frame]).any():
        yield f"several rows per {', '.join(contract.key)}"


def in_column(contract: Contract, name: str, values: pd.Series) -> Iterator[str]:
    column = contract.columns[name]
    if column.kind != "any" and str(values.dtype) != contract.dtypes[name]:
        yield f"type {values.dtype}, not {contract.dtypes[name]}"
        return
    known = values.dropna()
    if len(known) < len(values) and (not column.missing or (column.kind == "id" and name in contract.key)):
        yield "a value is missing"
    if column.is_number and not known.between(column.low - ROUNDING, column.high + ROUNDING).all():
        yield f"from {known.min()} to {known.max()}"
    declared = CODES & set(re.findall(r"`(\w+)`", column.what))
    if declared and re.search(r"reason|caution", name):
        found = {one for value in known for one in re.split(r",? ", value)}
        yield from (f"{one} is not declared" for one in sorted(found - declared))


def declared(value: Any) -> dict[str, Contract]:
    """Return the contracts of the frame that a function returns, or of those in a result."""
    function = getattr(value, "__func__", value)
    if "_returns" in vars(function):
        return {"": function._returns}
    return dict(getattr(function, "_holds", {}))


def returns_a_frame(function: Any) -> bool:
    return str(inspect.signature(function).return_annotation) == "pd.DataFrame"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("results")


def test_every_public_function_that_returns_a_frame_has_a_contract(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    made = {name: calls(folder)[name]()[0] for name in calls(folder)}
    frames = {name for name, function in made.items() if returns_a_frame(function)}
    assert sorted(name for name in frames if not declared(made[name])) == sorted(WITHOUT)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # what a call warns of is tried elsewhere
def test_every_result_is_just_what_its_contract_says(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # what is made for a call is written here
    wrong, tried = [], 0
    for name in calls(folder):
        function, arguments = calls(folder)[name]()
        if not declared(function):
            continue
        result = function(**arguments)
        for part, contract in (declared(function) | declared(type(result))).items():
            frame = getattr(result, part) if part else result
            wrong += [f"{name} {part}: {one}" for one in offences(contract, frame, some=name in SOME)]
            tried += 1
    assert not wrong
    assert tried > 60


def test_an_offender_is_caught() -> None:
    contract = Contract(
        "kept",
        ("code",),
        {
            "code": text(),
            "n": count(),
            "alpha*": share(),
            "reason": reason("`few_units`"),
        },
        row="One row per code",
    )
    good = contract.frame([{"code": "warm", "n": 1, "alpha": 0.5, "reason": "few_units"}])
    assert not list(offences(contract, good))
    planted = {
        "alpha: from 1.5": good.assign(alpha=1.5),
        "n: type float64": good.assign(n=1.0),
        "n: from -1": good.assign(n=-1),
        "code: a value is missing": good.assign(code=pd.array([None], dtype="string")),
        "one_cluster is not declared": good.assign(reason=pd.array(["one_cluster"], dtype="string")),
        "several rows per code": pd.concat([good, good]),
        "columns ['n', 'code'": good[["n", "code", "alpha", "reason"]],
        "columns ['code', 'n', 'reason']": good.drop(columns="alpha"),
    }
    for words, frame in planted.items():
        assert any(words in one for one in offences(contract, frame)), words


def test_the_page_of_frames_says_what_the_contracts_say() -> None:
    spec = importlib.util.spec_from_file_location("make_reference", ROOT / "scripts" / "make_reference.py")
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    page = (ROOT / "docs" / "frames.md").read_text("utf-8")
    assert page == made.frames(), "run: python scripts/make_reference.py"
