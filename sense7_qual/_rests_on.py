"""How a result states the basis of the decisions that it was computed from (`_basis` says what one is)."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

import pandas as pd

from sense7_qual._basis import (
    COLUMN,
    NOT_STATED,
    SEVERAL,
    from_people,
    is_mixed,
    line_of,
    of_coders,
    of_people,
    partly_reviewed,
    state,
    stated_column,
    that_count,
)
from sense7_qual._coder_names import is_model
from sense7_qual._reasons import Caution, Reason

Function = TypeVar("Function", bound=Callable[..., Any])


def rests_on(*names: str, called: Sequence[str] = (), models: bool = False) -> Callable[[Function], Function]:
    """Decorate a function that takes decisions as the parameters `names`: its result states their basis.

    A frame gets it as the column ``basis``; where it has a column `source`, each row that of its source. Any
    other result gets it as its attribute ``basis``. Where there are decisions of several parameters, `called`
    says what each is called in the line. Models are left out of it unless `models` says that the function
    compares them (those of its parameter `models`), or the call with `with_models` that they count. A
    function's `source` or `coder` says whose decisions of the first frame it takes.
    """

    def add(function: Function) -> Function:
        signature = inspect.signature(function)

        @functools.wraps(function)
        def stating(*args: Any, **named: Any) -> Any:
            result = function(*args, **named)  # first: it refuses what is no frame of decisions
            given = signature.bind(*args, **named).arguments
            frames = {
                label: given[name]
                for label, name in zip(called or names, names, strict=True)
                if isinstance(given.get(name), pd.DataFrame) and "unit_id" in given[name]
            }
            counted = bool(given.get("with_models", False))
            if models:
                frames = {name: _with_named(frame, given.get("models")) for name, frame in frames.items()}
            of = given.get("source", given.get("coder"))
            by_source = len(frames) == 1 and "source" in getattr(result, "columns", ())
            if isinstance(of, str) and frames and not by_source:
                first = next(iter(frames))
                frames[first] = _of_source(frames[first], of, with_models=counted)
            return with_basis(result, frames, with_models=models or counted)

        stating.__dict__["_rests_on"] = names
        return stating  # type: ignore[return-value]

    return add


def with_basis(result: Any, frames: Mapping[str, pd.DataFrame], *, with_models: bool = False) -> Any:
    """Return a result that states the basis of the decisions in `frames`, by what they are called."""
    if not frames:
        return result  # no decisions were given
    own = {name: that_count(frame, with_models=with_models) for name, frame in frames.items()}
    if isinstance(result, pd.DataFrame):
        if "source" in result.columns and len(frames) == 1:
            [decisions] = frames.values()
            return _by_source(result, decisions, with_models=with_models)
        mixed = any(map(is_mixed, own.values()))
        stated = result.assign(**{COLUMN: stated_column(_line_of_several(own), len(result), result.index)})
        return _with_cautions(stated, [mixed] * len(result), partly_reviewed(*own.values()))
    if is_dataclass(result) and any(one.name == COLUMN for one in fields(result)):
        return replace(result, **{COLUMN: _line_of_several(own)})  # type: ignore[type-var]
    return result


def _with_named(decisions: pd.DataFrame, models: str | Sequence[str] | None) -> pd.DataFrame:
    """Return decisions without those of models that are not among the ones named, if any are."""
    if models is None or "coder" not in decisions:
        return decisions
    named = {models} if isinstance(models, str) else {str(name) for name in models}
    return of_coders(decisions, lambda name: not is_model(name) or name in named)


def _of_source(decisions: pd.DataFrame, source: str, *, with_models: bool) -> pd.DataFrame:
    """Return the decisions of a source with its basis, or those of the people from whom it is computed."""
    own = of_coders(decisions, lambda name: name == source)
    if len(own) and source != "majority":
        return own
    people = of_people(decisions, with_models=with_models)
    if not len(people):
        return own if len(own) else decisions
    if source != "majority":
        return people
    return state(people, from_people(people, source, with_models=with_models))


def _line_of_several(frames: Mapping[str, pd.DataFrame]) -> str:
    lines = {name: line_of(frame) for name, frame in frames.items()}
    if len(set(lines.values())) <= 1:
        return next(iter(lines.values()), NOT_STATED)
    mixed = SEVERAL if any(line.startswith(SEVERAL) for line in lines.values()) else ""
    return mixed + "; ".join(f"{name}: {line.removeprefix(SEVERAL)}" for name, line in lines.items())


def _by_source(result: pd.DataFrame, decisions: pd.DataFrame, *, with_models: bool) -> pd.DataFrame:
    sources = result["source"].astype("object")
    lines = {name: line_of_source(decisions, str(name), with_models=with_models) for name in sources.unique()}
    stated = pd.Categorical(sources.map(lines), categories=sorted(set(lines.values())))
    mixed = [lines[name].startswith(SEVERAL) for name in sources]
    stating = result.assign(**{COLUMN: pd.Series(stated, index=result.index)})
    return _with_cautions(stating, mixed, partly_reviewed(decisions))


def _with_cautions(result: pd.DataFrame, mixed: Sequence[bool], partly: Collection[str]) -> pd.DataFrame:
    """Add what the basis says to the cautions of rows that have a number."""
    if "caution" not in result or "code" not in result or not (any(mixed) or partly):
        return result
    reasons = result["reason"] if "reason" in result else pd.Series(None, index=result.index, dtype="object")
    cautions = []
    rows = zip(result["caution"], reasons, result["code"], mixed, strict=True)
    for said, reason, code, of_several in rows:
        if not pd.isna(reason) and reason == Reason.WAITING_FOR_REVIEW:
            cautions.append(said)
            continue
        every = [] if pd.isna(said) else [str(said)]
        every += [Caution.MIXED_BASIS] if of_several else []
        every += [Caution.PARTLY_REVIEWED] if str(code) in partly else []
        cautions.append(", ".join(every) or None)
    column = pd.Series(pd.array(cautions, dtype="object"), index=result.index)
    return result.assign(caution=column.astype(result["caution"].dtype))


def line_of_source(decisions: pd.DataFrame, source: str, *, with_models: bool = False) -> str:
    """Return the line of one source of decisions: a coder, or what is computed from all people's."""
    people = of_people(decisions, with_models=with_models)
    if source == "majority" and len(people):
        return str(from_people(people, source, with_models=with_models))
    own = of_coders(decisions, lambda name: name == source)
    return line_of(own if len(own) else people)
