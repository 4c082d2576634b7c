"""Arguments of wrong kinds, over everything public: a right result, or one clear error, and nothing raw.

A new public function, class or method stands in the table of `tests/helpers/calls.py`, with one working call.
What begins with `check_arguments` is called in `make nightly`: the syntax tree tells that it does, and
what the check then refuses is tried on its annotations. What checks its arguments otherwise is called here.
In a call each parameter gets some of the wrong kinds, drawn by its name; with SOAK=1 all of them.
"""

from __future__ import annotations

import ast
import collections
import inspect
import os
import random
import re
import tempfile
import textwrap
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
from tests.helpers.calls import PARTS_OF_A_STORE, calls, example, public_names
from tests.helpers.nightly import nightly_but
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
    str: {"text"},
    bool: {"True"},
    int: {"whole", "zero"},
    float: {"whole", "zero", "part"},
    types.NoneType: {"None"},
    bytes: {"bytes"},
    Path: {"path"},
    os.PathLike: {"path"},
    pd.DataFrame: {"DataFrame"},
    pd.Series: {"Series"},
    Mapping: {"dict"},
    Sequence: LISTED,
    list: LISTED,
    tuple: LISTED,
    Collection: LISTED | {"set", "dict"},
    Iterable: LISTED | {"set", "dict", "generator"},
    np.ndarray: set(),
    qual.acts.Act: {"act"},
    Any: ANY,
    object: ANY,
}
# What can be meant, beside that: any point of a scale, limits and prices of any size, a category of None.
ALSO = {
    "links.disruption.threshold": {"negative", "huge"},
    "models.chat.price_per_million": {"huge"},
    "ratings.evaluate_runs.runs": {"of lists"},
    "frames.labels_by_unit.unit_ids": {"of None", "of lists"},
    "store.Store.decisions.round": {"of None"},  # what was coded in no round
    "store.Store.assign.coders": {"set", "dict", "generator"},
    "themes.fit.granularity": {"huge"},
    "acts.contents.Proposal.theme": {"huge"},
    "acts.contents.AnalysisPlan.min_alpha": {"negative"},
    "agreement.units_needed.design_effect": {"huge"},
    **{f"corpus.Limits.{name}": {"huge"} for name in inspect.signature(qual.corpus.Limits).parameters},
    **{f"acts.{name}.end": {"huge"} for name in ("Act", "apply", "remove")},  # the store knows the text
    **{f"agreement.sets.distance.{one}": {"of None"} for one in "ab"},
    **{f"models.Chat.{name}.conversations": {"of None", "of lists"} for name in ("prepare", "estimate")},
    **{
        f"agreement.coefficients.{name}.values": {"of lists"}
        for name in ("estimate", "krippendorff_alpha", "per_category", "specific_agreement")
    },
}
# What the package's own parts call with what they have counted; what takes a model to be called.
MACHINERY = {
    "acts.stamp",
    "corpus.Limits.unpacked",
    "corpus.Limits.require",
    "corpus.Limits.beyond",
    "models.Embedder.__call__",
    "models.StoredVectors.__call__",
    "frames.Contract.example",
    "frames.Contract.frame",
    "frames.Contract.returns",
}
N_DRAWN = len(WRONG) if SOAK else 3
SLOW = {"agreement.spans.gamma"}  # half a minute a call: only what is refused before it begins
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


def is_checked_first(definition: ast.FunctionDef) -> bool:
    """Return whether nothing comes before the check but imports, and a list of what can be read only once."""
    for step in definition.body:
        match step:
            case ast.Expr(value=ast.Call(func=ast.Name(id="check_arguments"), args=[checked, given])):
                named = ast.unparse(checked).rpartition(".")[2]
                return named == definition.name and ast.unparse(given).startswith("locals()")
            case ast.Import() | ast.ImportFrom() | ast.Expr(value=ast.Constant()):
                continue
            case ast.Assign(value=ast.Call(func=ast.Name(id="read_once"))):
                continue
            case _:
                return False
    return False


def public(name: str) -> Any:
    found: Any = qual
    for part in name.split("."):
        found = (
            PARTS_OF_A_STORE[part]
            if found is qual.Store and part in PARTS_OF_A_STORE
            else getattr(found, part)
        )
    return found


def checks_first(name: str) -> bool:
    """Return whether a public function, or the maker of a class, begins with `check_arguments`."""
    found = public(name)
    made = vars(found).get("__init__", found) if inspect.isclass(found) else inspect.unwrap(found)
    if not inspect.isfunction(made) or made.__code__.co_filename == "<string>":
        return False  # the maker of a dataclass
    [definition] = ast.parse(textwrap.dedent(inspect.getsource(made))).body
    return isinstance(definition, ast.FunctionDef) and is_checked_first(definition)


def hints_of(function: Callable[..., Any]) -> dict[str, Any]:
    made = function.__init__ if inspect.isclass(function) else function
    return typing.get_type_hints(getattr(made, "__func__", made))


def parameter_hints(name: str) -> list[Any]:
    return [hint for key, hint in hints_of(public(name)).items() if key != "return"]


def takes_arrays(hint: Any) -> bool:
    """Return whether an annotation is one of NumPy's, which `check_arguments` leaves to the function."""
    return "_array_like" in str(hint)


NAMES = parameters()
TRIED = [name for name in NAMES if not checks_first(name) or any(map(takes_arrays, parameter_hints(name)))]
"""What says by itself what it refuses, and so has to be called."""


def test_a_check_that_does_not_come_first_or_is_anothers_is_noticed() -> None:
    ways = {
        "def f(x):\n    'Say.'\n    import a\n    x = read_once(x)\n    check_arguments(f, locals())": True,
        "def f(self, x):\n    check_arguments(C.f, locals() | {'y': 1}, but=('x',))": True,
        "def f(x):\n    y = x + 1\n    check_arguments(f, locals())": False,
        "def f(x):\n    check_arguments(g, locals())": False,
        "def f(x):\n    check_arguments(f, {})": False,
        "def f(x):\n    return x": False,
    }
    for source, is_first in ways.items():
        [definition] = ast.parse(source).body
        assert isinstance(definition, ast.FunctionDef)
        assert is_checked_first(definition) is is_first, source


def test_most_of_what_is_public_checks_its_arguments_first() -> None:
    assert len(TRIED) < len(NAMES) / 3


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
REFUSED_HERE = {
    "models.embedder",
    "models.Chat.__call__",
    "store.Store.admin.add_coder",
    "store.Store.admin.end_coder",
    "store.Store.desk.seats",
}


@pytest.mark.long
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", nightly_but([name for name in NAMES if name not in SLOW], here=TRIED))
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
@pytest.mark.parametrize("name", nightly_but(NAMES, here=TRIED))
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
def test_no_right_kind_of_argument_is_refused(folder: Path) -> None:
    """NumPy's and pandas' own kinds, any list, subclasses, generators where an iterable is asked."""
    refused, table = [], calls(folder)
    for name in set(NAMES) - {"acts.Act"}:  # it checks itself, a million times a study
        function, arguments = table[name]()
        door = function.__init__ if inspect.isclass(function) else function
        for parameter, hint in hints_of(function).items():
            for kind, value in right_kinds(arguments.get(parameter), hint).items():
                try:
                    check_arguments(door, arguments | {"self": None, parameter: value})
                except qual.QualError as error:
                    refused.append(f"{name}({parameter}={kind}): {error}")
    assert refused == []


def door(hint: Any) -> Callable[[object], None]:
    """Return a function of one argument that has the annotation."""

    def made(value: object) -> None:
        check_arguments(made, {"value": value})

    made.__annotations__ = {"value": hint, "return": None}
    return made


def fits(hint: Any) -> set[str]:
    """Return the kinds of `WRONG` that an annotation lets through, whatever else is said of their size."""
    found = may_be(hint)
    found |= {"negative"} if "whole" in found else set()
    found |= {"huge"} if "part" in found else set()
    found |= {"of None"} if "[str | None]" in str(hint) else set()
    return found | ({"of None", "of lists"} if ANYTHING.search(str(hint)) else set())


ANYTHING = re.compile(r"\[(typing\.Any|object|collections\.abc\.Hashable)\]|\[collections\.abc\.\w+\[")


def test_every_annotation_refuses_every_wrong_kind() -> None:
    """What is of no kind that it names is refused, in words that name the parameter and not the value."""
    every = {str(hint): hint for name in NAMES for hint in parameter_hints(name) if not takes_arrays(hint)}
    hints = [hint for hint in every.values() if not getattr(hint, "_is_protocol", False)]
    wrong = []
    for hint in hints:
        for kind in set(WRONG) - fits(hint):
            try:
                door(hint)(WRONG[kind]())
            except qual.QualError as error:
                if CANARY in str(error) or "value" not in str(error):
                    wrong.append(f"{hint} {kind}: {error}")
            else:
                wrong.append(f"{hint} {kind}: no error")
    assert len(hints) > 50
    assert wrong == []


@pytest.mark.long
def test_generators_of_acts_are_read_once() -> None:
    x = example()
    ana = {"coder": "lead", "codebook": x.codebook}
    opening = qual.rounds.open_round("one", units=np.array(["m1"]), coders=pd.Index(["ana"]), **ana)
    opened = qual.rounds.opened(act for act in [opening])
    assert [one.name for one in opened] == ["one"]
    assert qual.rounds.visible((act for act in [opening]), viewer="ana") == [opening]
    assert len(qual.rounds.progress((one for one in opened), x.coverage)) == 1
    assert qual.rounds.assignments(act for act in [opening]) == []
    assert len(qual.rounds.planned((act for act in [opening]), units={"m1"})) == 1
    assert qual.codings.rulings((act for act in x.acts), x.codebook, revisions=())
    for function in (qual.rounds.opened, qual.rounds.assignments):
        with pytest.raises(qual.QualError, match="expected acts to be a list of Act"):
            function(act for act in ["opened"])


def test_runs_are_taken_as_nested_lists() -> None:
    runs = [[1.0, 1], [2, 2], [3, 4], [4, 4]]
    found = qual.ratings.evaluate_runs([1, 2, 3, 4], runs)
    pd.testing.assert_frame_equal(found, qual.ratings.evaluate_runs([1, 2, 3, 4], np.array(runs)))
