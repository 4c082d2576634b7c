"""Who a coder is, by name: a person, a model (``model-…``) or a computed decision (`RESERVED_CODERS`).

A rule on the name survives every file that a study is written to, where a flag beside a frame would be lost.
`frames` exports these names.
"""

from __future__ import annotations

import unicodedata
import warnings
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Final

import pandas as pd

from sense7_qual._arguments import check_arguments, require_column
from sense7_qual._comparable import one_case, refuse_applied_only, refuse_other_case
from sense7_qual._messages import did_you_mean, first_three, outside
from sense7_qual.errors import TableError

__all__ = [
    "MODEL_PREFIX",
    "RESERVED_CODERS",
    "as_models",
    "as_people",
    "check_coder_names",
    "check_people",
    "is_model",
    "people",
    "spelling",
    "without_models",
]  # fmt: skip

RESERVED_CODERS: Final = ("consensus", "majority", "pooled")
"""Names of computed decisions, which no person can take as a pseudonym."""

# Small letters, Cyrillic, Greek and Turkish, that look as Latin ones do, small or as capitals (a part of the
# confusables of Unicode Technical Standard 39).
_LATIN: Final = str.maketrans("авекмнорстухіјѕԁһԛԝαβεηικμνορτυχγı", "abekmhopctyxijsdhqwabenikuvoptuxyi")

MODEL_PREFIX: Final = "model-"
"""What the name of every model that codes begins with, and of no person: "model-qwen"."""


def spelling(name: str) -> str:
    """Return what names that look alike have in common: no case or width, no letters of the same shape.

    Examples
    --------
    >>> spelling("Ana") == spelling("ana") == spelling("\u0430n\u0430"), spelling("ana") == spelling("äna")
    (True, False)
    """
    check_arguments(spelling, locals())
    folded = unicodedata.normalize("NFKC", name).casefold()
    return unicodedata.normalize("NFKC", folded).translate(_LATIN)


def is_model(coder: str) -> bool:
    """Return True for the name of a model: "model-" and at least one character more.

    Examples
    --------
    >>> is_model("model-qwen"), is_model("modeller"), is_model("model")
    (True, False, False)
    """
    check_arguments(is_model, locals())
    return coder.startswith(MODEL_PREFIX) and len(coder) > len(MODEL_PREFIX)


def people(frame: pd.DataFrame, *, with_models: bool = False) -> pd.DataFrame:
    """Return the rows of people, without those of computed decisions and of models.

    Parameters
    ----------
    frame : DataFrame
        With a column `coder`: decisions, codings, coverage, a plan.
    with_models : bool
        Whether the rows of models stay: then computed decisions alone are left out.

    Returns
    -------
    DataFrame
        These rows in their order, with their index.

    Raises
    ------
    TableError
        `frame` has no column `coder`.

    Examples
    --------
    >>> decisions = pd.DataFrame({"unit_id": "m1", "coder": ["ana", "modeller", "model-qwen", "consensus"]})
    >>> people(decisions)["coder"].tolist()
    ['ana', 'modeller']
    """
    check_arguments(people, locals())
    coder = _coders(frame)
    out = coder.isin(RESERVED_CODERS)
    return frame[~(out if with_models else out | _of_models(coder))]


def without_models(frame: pd.DataFrame, *, function: str, but: Collection[str] = ()) -> pd.DataFrame:
    """Return the rows of people and of computed decisions, and warn which models were left out.

    Parameters
    ----------
    frame : DataFrame
        With a column `coder`.
    function : str
        What the warning begins with.
    but : collection of str
        Models whose rows stay, because they were asked for by name.

    Warns
    -----
    UserWarning
        Rows of models were left out.
    """
    check_arguments(without_models, locals())
    coder = _coders(frame)
    left_out = _of_models(coder) & ~coder.isin(list(but))
    if not left_out.any():
        return frame
    warnings.warn(
        f"{function}: models are not counted among people – left out: "
        f"{first_three(sorted(coder[left_out].str.strip().unique()))}.",
        UserWarning,
        stacklevel=outside(),
    )
    return frame[~left_out]


def as_models(frame: pd.DataFrame, models: Sequence[str]) -> pd.DataFrame:
    """Return a frame from elsewhere in which the coders `models` have the names of models.

    Parameters
    ----------
    frame : DataFrame
        With a column `coder` (decisions, codings, coverage), or an axis of that name
        (`agreement.from_wide`).
    models : sequence of str
        Which of its coders are models. "gpt" becomes "model-gpt"; what is called so already stays as it is.

    Returns
    -------
    DataFrame
        A copy.

    Raises
    ------
    TableError
        `frame` has no column or axis `coder`, one of `models` is none of its coders or is a computed
        decision, or two coders would have one name.

    Examples
    --------
    >>> decisions = pd.DataFrame({"unit_id": "m1", "coder": ["ana", "gpt"], "code": "interest",
    ...                           "applied": [True, False]})
    >>> as_models(decisions, ["gpt"])["coder"].tolist()
    ['ana', 'model-gpt']
    """
    check_arguments(as_models, locals())
    return _renamed(frame, models, lambda name: name if is_model(name) else MODEL_PREFIX + name)


def as_people(frame: pd.DataFrame, models: Sequence[str]) -> pd.DataFrame:
    """Return a frame in which the models `models` have the names of people, and count as people everywhere.

    For those who insist that a model is one more coder: say so in the paper.

    Parameters
    ----------
    frame : DataFrame
        As for `as_models`.
    models : sequence of str
        Which models; "model-gpt" becomes "gpt".

    Returns
    -------
    DataFrame
        A copy.

    Raises
    ------
    TableError
        As of `as_models`; or one of `models` is called as no model is.

    Examples
    --------
    >>> decisions = pd.DataFrame({"unit_id": "m1", "coder": ["ana", "model-gpt"], "code": "interest",
    ...                           "applied": [True, False]})
    >>> as_people(decisions, ["model-gpt"])["coder"].tolist()
    ['ana', 'gpt']
    """
    check_arguments(as_people, locals())
    others = [name for name in models if not is_model(name)]
    if others:
        raise TableError(
            f"as_people: expected names of models, such as 'model-gpt' – found {first_three(others)} – leave "
            "out who is no model."
        )
    return _renamed(frame, models, lambda name: name.removeprefix(MODEL_PREFIX))


def check_coder_names(names: Iterable[str], *, frame_name: str) -> None:
    """Raise `TableError` where a computed decision's or a model's name, or another coder's, differs in case.

    "Consensus" would count as a person beside the people whom it settles, "Model-x" as one beside people,
    "Ana" as another one than "ana". "model-" alone names no model.
    """
    check_arguments(check_coder_names, locals())
    known = list(dict.fromkeys(name.strip() for name in names))
    computed = [name for name in known if name.lower() in RESERVED_CODERS and name not in RESERVED_CODERS]
    if computed:
        raise TableError(
            f"{frame_name}: expected the names of computed decisions ({', '.join(RESERVED_CODERS)}) in lower "
            f"case, and no person called so – found coder {first_three(computed)} – write "
            f"{computed[0].lower()!r} where it is computed, or give the person another pseudonym."
        )
    unclear = [name for name in known if name.lower().startswith(MODEL_PREFIX) and not is_model(name)]
    if unclear:
        raise TableError(
            f"{frame_name}: expected models to be called 'model-…' in lower case, and no person called so – "
            f"found coder {first_three(unclear)} – name the model like 'model-a', or give the person another "
            "pseudonym."
        )
    one_case(known, name="coder", frame_name=frame_name)


def check_people(decisions: pd.DataFrame) -> pd.DataFrame:
    """Return checked decisions without computed ones, or raise `TableError` if people's cannot be compared.

    Coders' names and codes have to differ in more than upper and lower case, and so do the ids of units, but
    for two that one coder decided on. Among several coders, the decisions of each have to hold what is
    absent, which exports of applied codes, and sheets of ones and blanks, do not. A coder is refused whose
    decisions are all "applied", who did not decide on all that others did, and of whom

    - a text lacks a code that another coder decided on there, or
    - three or more applied in a row are no coincidence: nobody has an absent decision, or, with the share of
      "applied" among the coders who have some, fewer than 0.2 coders would be expected to come out so.
    """
    check_arguments(check_people, locals())
    for name in ("unit_id", "coder", "code", "applied"):
        require_column(decisions, name, frame_name="decisions")
    check_coder_names(decisions["coder"].unique(), frame_name="decisions")
    compared = people(decisions)
    one_case(compared["code"].unique(), name="code", frame_name="decisions")
    refuse_other_case(compared, frame_name="decisions")
    refuse_applied_only(compared, frame_name="decisions")
    return people(decisions, with_models=True)


def _coders(frame: pd.DataFrame) -> pd.Series:
    n_columns = list(frame.columns).count("coder")
    if n_columns != 1:
        raise TableError(
            f"frame: expected one column 'coder' – found {n_columns} – pass decisions, codings or coverage."
        )
    return frame["coder"].astype("string").str.strip()


def _of_models(coder: pd.Series) -> pd.Series:
    return coder.isin([name for name in coder.dropna().unique() if is_model(name)])


def _renamed(frame: pd.DataFrame, models: Sequence[str], name: Callable[[str], str]) -> pd.DataFrame:
    """Return the frame with these of its coders called by `name`."""
    if frame.index.name == "coder":
        return frame.set_axis(pd.Index(_new_names(frame.index.to_series(), models, name), name="coder"))
    if frame.columns.name == "coder":
        names = pd.Index(_new_names(frame.columns.to_series(), models, name), name="coder")
        return frame.set_axis(names, axis="columns")
    return frame.assign(coder=_new_names(_coders(frame), models, name))


def _new_names(coder: pd.Series, models: Sequence[str], name: Callable[[str], str]) -> pd.Series:
    coder = coder.astype("string").str.strip()
    known = list(coder.dropna().unique())
    wrong = [one for one in models if one not in known or one in RESERVED_CODERS]
    if wrong:
        raise TableError(
            f"models: expected coders of the frame – found {first_three(wrong)} – "
            f"{did_you_mean(wrong[0], [one for one in known if one not in RESERVED_CODERS])}"
        )
    new = {one: name(one) for one in models}
    names = [new.get(one, one) for one in known]
    taken = sorted({one for one in new.values() if names.count(one) > 1 or one in RESERVED_CODERS})
    if taken:
        raise TableError(
            f"models: expected names that nothing else has – found {first_three(taken)} taken – rename one "
            "of the two first."
        )
    check_coder_names(names, frame_name="frame")
    return coder.replace(new)
