"""Arguments of wrong kinds, over everything public: a right result, or one clear error, and nothing raw.

A new public function, class or method stands in the table of `tests/helpers/calls.py`, with one working call.
Each parameter gets some of the wrong kinds, drawn by its name; with SOAK=1 all of them.
"""

from __future__ import annotations

import collections
import inspect
import os
import random
import tempfile
import types
import typing
import uuid
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Union

import numpy as np
import pandas as pd
import pytest

import sense7_qual as qual
from sense7_qual._arguments import check_arguments
from tests.helpers.calls import calls, example, public_names
from tests.helpers.simulation import SOAK

CANARY = "zqcanary"
WRONG: dict[str, Callable[[], object]] = {
    "Series": lambda: pd.Series([CANARY, "x"]),
    "DataFrame": lambda: pd.DataFrame({"x": [CANARY]}),
    "text": lambda: "zq zq",
    "dict": lambda: {CANARY: 1},
    "None": lambda: None,
    "whole": lambda: 3,
    "zero": lambda: 0,
    "negative": lambda: -1,
    "part": lambda: 0.5,
    "nan": lambda: float("nan"),
    "inf": lambda: float("inf"),
    "huge": lambda: 10**40,
    "bytes": lambda: b"zqcanary",
    "path": lambda: Path(tempfile.gettempdir(), str(uuid.uuid4()), "there"),
    "object": object,
    "set": lambda: {CANARY},
    "generator": lambda: iter([CANARY]),
    "empty": list,
    "of None": lambda: [None],
    "of lists": lambda: [[CANARY]],
    "act": lambda: example().acts[0],
    "True": lambda: True,
    "NA": lambda: pd.NA,
}
LISTED = {"Series", "empty"}
ANY = set(WRONG)
MAY_BE: dict[Any, set[str]] = {
    str: {"text"}, bool: {"True"}, int: {"whole", "zero"}, float: {"whole", "zero", "part"},
    types.NoneType: {"None"}, bytes: {"bytes"}, Path: {"path"}, os.PathLike: {"path"},
    pd.DataFrame: {"DataFrame"}, pd.Series: {"Series"}, Mapping: {"dict"},
    Sequence: LISTED, list: LISTED, tuple: LISTED,
    Collection: LISTED | {"set", "dict"}, Iterable: LISTED | {"set", "dict", "generator"}, np.ndarray: set(),
    qual.acts.Act: {"act"}, Any: ANY, object: ANY,
}  # fmt: skip
DISTANCES = ("masi", "dice", "jaccard")
# What can be meant, beside that: any point of a scale, limits and prices of any size, a category of None.
ALSO = {
    "links.disruption.threshold": {"negative", "huge"},
    "models.chat.price_per_million": {"huge"},
    "ratings.evaluate_runs.runs": {"of lists"},
    "tables.labels_by_unit.unit_ids": {"of None", "of lists"},
    "store.Store.assign.coders": {"set", "dict", "generator"},
    "themes.fit.granularity": {"huge"},
    "acts.Proposal.theme": {"huge"},
    "agreement.units_needed.design_effect": {"huge"},
    **{f"corpus.Limits.{name}": {"huge"} for name in inspect.signature(qual.corpus.Limits).parameters},
    **{f"acts.{name}.end": {"huge"} for name in ("Act", "apply", "remove")},  # the store knows the text
    **{f"agreement.{name}_distance.{one}": {"of None"} for name in DISTANCES for one in "ab"},
    **{f"models.Chat.{name}.conversations": {"of None", "of lists"} for name in ("prepare", "estimate")},
    **{f"agreement.{name}.values": {"of lists"} for name in ("estimate", "krippendorff_alpha", "per_category",
       "specific_agreement")},
}  # fmt: skip
# What the package's own parts call with what they have counted; what takes a model to be called.
MACHINERY = {
    "acts.stamp", "corpus.Limits.unpacked", "corpus.Limits.require", "corpus.Limits.beyond",
    "models.Embedder.__call__", "models.StoredVectors.__call__",
}  # fmt: skip
N_DRAWN = len(WRONG) if SOAK else 3
SLOW = {"agreement.gamma"}  # half a minute a call: only what is refused before it begins
# Seconds a call: likewise, but in `make soak`.
LONG = set() if SOAK else {"store.Store.copies.bundle", "report.paper", "themes.to_bertopic"}


def may_be(hint: Any) -> set[str]:
    """Return the kinds of `WRONG` that an annotation allows, and that are right for that reason."""
    union = typing.get_origin(hint) in (Union, types.UnionType)
    members = typing.get_args(hint) if union else (hint,)
    return set().union(*(MAY_BE.get(typing.get_origin(each) or each, set()) for each in members))


def parameters() -> list[str]:
    return sorted(set(public_names()) - MACHINERY)


def drawn(parameter: str) -> list[str]:
    """Return the wrong kinds that a parameter is given."""
    return random.Random(parameter).sample(list(WRONG), N_DRAWN)


def hints_of(function: Callable[..., Any]) -> dict[str, Any]:
    made = function.__init__ if inspect.isclass(function) else function
    return typing.get_type_hints(getattr(made, "__func__", made))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("calls")


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # a word where a path is asked names a file there


@pytest.mark.long
def test_every_public_function_class_and_method_has_a_working_call(folder: Path) -> None:
    lacking, gone = (
        set(public_names()) - set(calls(folder)) - MACHINERY,
        set(calls(folder)) - set(public_names()),
    )
    assert not lacking, f"add a working call to the table in tests/helpers/calls.py: {sorted(lacking)}"
    assert not gone, f"take these out of the table in tests/helpers/calls.py: {sorted(gone)}"


# What needs a model's folder, a server or a consent is refused here, and says so.
REFUSED_HERE = {"models.embedder", "models.Chat.__call__", "store.Store.admin.add_coder"}


@pytest.mark.long
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", [name for name in parameters() if name not in SLOW])
def test_the_calls_work_and_give_every_parameter(name: str, folder: Path) -> None:
    function, arguments = calls(folder)[name]()
    assert set(arguments) >= {
        each.name
        for each in inspect.signature(function).parameters.values()
        if each.kind is not each.VAR_KEYWORD and name != "acts.Act"
    }
    if name in REFUSED_HERE:
        with pytest.raises(qual.QualError):
            function(**arguments)
    else:
        function(**arguments)


@pytest.mark.long
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", parameters())
def test_a_wrong_kind_of_argument_gives_one_clear_error(name: str, folder: Path) -> None:
    """Also no participant's words in it, and no number for what cannot have been meant."""
    make = calls(folder)[name]
    hints, wrong = hints_of(make()[0]), []
    for parameter in make()[1]:
        allowed = may_be(hints[parameter]) | ALSO.get(f"{name}.{parameter}", set())
        for kind in drawn(f"{name}.{parameter}"):
            if name in SLOW | LONG and kind in allowed:
                continue
            called = parameter if name not in REFUSED_HERE else ""
            outcome = outcome_of(make, parameter, kind, "" if kind in allowed else called)
            if outcome is not None and not (outcome == "no error" and kind in allowed):
                wrong.append(f"{parameter}={kind}: {outcome}")
    assert not wrong, "\n".join(wrong)


def outcome_of(make: Callable[[], Any], parameter: str, kind: str, called: str) -> str | None:
    """Return what is wrong with how a call takes a wrong argument; None where it says so well.

    `called` is what the message must name; empty where the value is of a kind that the parameter takes.
    """
    function, arguments = make()
    arguments[parameter] = WRONG[kind]()
    try:
        result = function(**arguments)
    except qual.QualError as error:
        message = str(error)
        if called and CANARY in message:
            return f"a participant's words: {message}"
        return None if called in message else f"does not name it: {message}"
    except Exception as error:  # noqa: BLE001 – that is what is looked for
        return f"{type(error).__name__}: {error}"
    if isinstance(result, qual.widgets.CodingWidget):
        result.close()
    return "no error"


def test_every_wrong_kind_is_drawn() -> None:
    named = {f"{name}.{one}" for name in parameters() for one in ("first", "second")}
    assert {kind for one in named for kind in drawn(one)} == set(WRONG)


class Text(str):
    """Text of a class of its own."""


class Frame(pd.DataFrame):
    """A table of a class of its own."""


def right_kinds(value: Any, hint: Any) -> dict[str, Any]:
    """Return what says the same as a value that works."""
    if isinstance(value, bool):
        return {"numpy": np.bool_(value)}
    if isinstance(value, str):
        return {"numpy": np.str_(value), "subclass": Text(value)}
    if isinstance(value, int):
        return {"numpy": np.int64(value), "narrow": np.int16(value)}
    if isinstance(value, float):
        return {"numpy": np.float64(value), "narrow": np.float32(value), "whole": 1}
    if isinstance(value, pd.DataFrame):
        return {"subclass": Frame(value)}
    if isinstance(value, Path):
        return {"text": str(value)} if str in typing.get_args(hint) else {}
    if isinstance(value, Mapping) and value and not {list, tuple, Sequence, Collection} & members_of(hint):
        return {"series": pd.Series(value, dtype=object)}
    if not isinstance(value, list | tuple) or not value:
        return {}
    same: dict[str, Any] = {"list": list(value), "tuple": tuple(value), "deque": collections.deque(value)}
    same |= {"values": dict(enumerate(value)).values(), "series": pd.Series(value, dtype=object)}
    if all(isinstance(one, str) for one in value):
        same |= {"keys": dict.fromkeys(value).keys(), "index": pd.Index(value), "array": np.array(value)}
        same |= {"strings": pd.array(value, dtype="string"), "categories": pd.Categorical(value)}
    return same | ({"generator": (one for one in value)} if Iterable in members_of(hint) else {})


def members_of(hint: Any) -> set[Any]:
    return {typing.get_origin(each) or each for each in (hint, *typing.get_args(hint))}


@pytest.mark.long
@pytest.mark.parametrize("name", parameters())
def test_no_right_kind_of_argument_is_refused(name: str, folder: Path) -> None:
    """NumPy's and pandas' own kinds, any list, subclasses, generators where an iterable is asked."""
    function, arguments = calls(folder)[name]()
    door = function.__init__ if inspect.isclass(function) else function
    if name == "acts.Act":
        return  # it checks itself, a million times a study
    for parameter, hint in hints_of(function).items():
        for value in right_kinds(arguments.get(parameter), hint).values():
            check_arguments(door, arguments | {"self": None, parameter: value})


@pytest.mark.long
def test_generators_of_acts_are_read_once() -> None:
    x = example()
    ana = {"coder": "lead", "codebook": x.codebook}
    opening = qual.rounds.open_round("one", units=np.array(["m1"]), coders=pd.Index(["ana"]), **ana)
    opened = qual.rounds.opened(act for act in [opening])
    assert [one.name for one in opened] == ["one"]
    assert qual.rounds.visible((act for act in [opening]), viewer="ana") == [opening]
    assert len(qual.rounds.progress((one for one in opened), x.coverage)) == 1
    assert qual.corpus.assignments(act for act in [opening]) == []
    assert len(qual.corpus.planned((act for act in [opening]), units={"m1"})) == 1
    assert qual.codings.rulings((act for act in x.acts), x.codebook, revisions=())
    for function in (qual.rounds.opened, qual.corpus.assignments):
        with pytest.raises(qual.QualError, match="expected acts to be a list of Act"):
            function(act for act in ["opened"])


def test_runs_are_taken_as_nested_lists() -> None:
    runs = [[1.0, 1], [2, 2], [3, 4], [4, 4]]
    found = qual.ratings.evaluate_runs([1, 2, 3, 4], runs)
    pd.testing.assert_frame_equal(found, qual.ratings.evaluate_runs([1, 2, 3, 4], np.array(runs)))
