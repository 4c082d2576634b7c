"""Who a coder is, by name: a person, a model (``model-…``) or a computed decision (`RESERVED_CODERS`).

A rule on the name survives every file that a study is written to; a flag next to a frame would be lost.
`frames` exports these names.

Decisions of several coders can be compared if they hold what is absent (`_absent_rows`), on the same texts:
where one coder's file has "M1" and another's "m1", no text is shared.
"""

from __future__ import annotations

import unicodedata
import warnings
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Final

import pandas as pd

from sense7_qual._absent_rows import (
    applied_only as applied_only,
    applied_only_of_a_code,
    applied_only_where_incomplete,
    unstated,
)
from sense7_qual._arguments import check_arguments, require_column
from sense7_qual._messages import did_you_mean, first_three, outside
from sense7_qual._missing_words import words_for_missing
from sense7_qual._suspicious_names import PERSON_PREFIX, is_known, likely_models, likely_results
from sense7_qual.errors import TableError

RESERVED_CODERS: Final = ("consensus", "majority", "pooled")
"""Names of computed decisions, which no person can take as a pseudonym."""

# Small letters, Cyrillic, Greek and Turkish, that look as Latin ones do, small or as capitals (a part of the
# confusables of Unicode Technical Standard 39).
_LATIN: Final = str.maketrans("авекмнорстухіјѕԁһԛԝαβεηικμνορτυχγı", "abekmhopctyxijsdhqwabenikuvoptuxyi")

MODEL_PREFIX: Final = "model-"
"""The beginning of the name of every model that codes, and of no person: "model-qwen"."""


def spelling(name: str) -> str:
    """Fold a name so that names which look alike are equal: case, width and letters of the same shape.

    Examples
    --------
    >>> spelling("Ana") == spelling("ana") == spelling("\u0430n\u0430"), spelling("ana") == spelling("äna")
    (True, False)
    """
    check_arguments(spelling, locals())
    folded = unicodedata.normalize("NFKC", name).casefold()
    return unicodedata.normalize("NFKC", folded).translate(_LATIN)


def is_model(coder: str) -> bool:
    """Return True for the name of a model: "model-" and at least one more character.

    Examples
    --------
    >>> is_model("model-qwen"), is_model("modeller"), is_model("model")
    (True, False, False)
    """
    check_arguments(is_model, locals())
    return coder.startswith(MODEL_PREFIX) and len(coder) > len(MODEL_PREFIX)


def people(frame: pd.DataFrame, *, with_models: bool = False) -> pd.DataFrame:
    """Keep the rows of people; drop those of computed decisions and of models.

    Parameters
    ----------
    frame : DataFrame
        With a column `coder`: decisions, codings, coverage, a plan.
    with_models : bool
        Whether to keep the rows of models; then only computed decisions are dropped.

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
    """Drop the rows of models, and warn which models were left out.

    Parameters
    ----------
    frame : DataFrame
        With a column `coder`.
    function : str
        The name with which the warning begins.
    but : collection of str
        Models to keep, because they were asked for by name.

    Warns
    -----
    UserWarning
        Rows of models were dropped.
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
    """Rename coders as models ("model-…") in a frame from elsewhere.

    Parameters
    ----------
    frame : DataFrame
        With a column `coder` (decisions, codings, coverage), or an axis of that name
        (`agreement.from_wide`).
    models : sequence of str
        The coders that are models. "gpt" becomes "model-gpt"; names of this form are kept.

    Returns
    -------
    DataFrame
        A copy.

    Raises
    ------
    TableError
        `frame` has no column or axis `coder`, one of `models` is not among its coders or is a computed
        decision, or two coders would get the same name.

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
    """Rename models as people, so that they count as people everywhere.

    For those who treat a model as one more coder: report it in the paper. For a person whose name is asked
    about, too: a coder called "final" or "gpt" gets the name of a person, "person-final".

    Parameters
    ----------
    frame : DataFrame
        As for `as_models`.
    models : sequence of str
        The models, or people with such names; "model-gpt" and "gpt" become "person-gpt", "model-x" "x".

    Returns
    -------
    DataFrame
        A copy.

    Raises
    ------
    TableError
        As for `as_models`; or a name in `models` is neither a model's nor asked about.

    Examples
    --------
    >>> decisions = pd.DataFrame({"unit_id": "m1", "coder": ["ana", "model-gpt"], "code": "interest",
    ...                           "applied": [True, False]})
    >>> as_people(decisions, ["model-gpt"])["coder"].tolist()
    ['ana', 'person-gpt']
    """
    check_arguments(as_people, locals())
    others = [name for name in models if not is_model(name) and _as_person(name) == name]
    if others:
        raise TableError(
            f"as_people: expected names of models, such as 'model-gpt' – found {first_three(others)} – leave "
            "these out."
        )
    return _renamed(frame, models, _as_person)


def _as_person(name: str) -> str:
    """Return the name of a person: without what marks a model, and marked where it would be asked about."""
    bare = name.removeprefix(MODEL_PREFIX)
    asked = not is_known(bare) and (likely_models([bare]) or likely_results([bare]))
    return PERSON_PREFIX + bare if asked else bare


def pseudonyms(coder: pd.Series, named: Mapping[str, str] | None) -> pd.Series:
    """Rename the coders of a file; refuse names that would identify a person, without showing them."""
    known = list(coder.dropna().unique())
    new = {name: (named or {}).get(name, name) for name in known}
    wrong = len((named or {}).keys() - set(known))
    if wrong or len(set(new.values())) < len(known):
        found = f"{wrong} other names" if wrong else "one pseudonym for two coders"
        raise TableError(
            f"coders: expected a pseudonym of its own for coders of the table – found {found} – spell the "
            "coders as the table does, and give each another pseudonym."
        )
    n_personal = sum(map(_is_personal, new.values()))
    if n_personal:
        raise TableError(
            f"coders: expected pseudonyms, because every table prints them – found {n_personal} of "
            f'{len(known)} with a full name or an e-mail address – pass coders={{"…": "ana", …}}.'
        )
    return coder.map(new).astype("string")


def _is_personal(name: str) -> bool:
    """Return True for an e-mail address or a full name; "Coder A" and "Rater 2" name nobody."""
    words = name.replace(",", " ").split()
    is_name = len(words) > 1 and all(len(one) > 1 and not any(map(str.isdigit, one)) for one in words)
    return "@" in name or is_name


def check_coder_names(names: Iterable[str], *, frame_name: str) -> None:
    """Raise `TableError` if names differ only in case: two coders', or one and that of a model or consensus.

    "Consensus" would count as a person next to the people it settles, "Model-x" as a person, "Ana" as a coder
    other than "ana". "model-" alone names no model, and "NA" or "?" nobody.
    """
    check_arguments(check_coder_names, locals())
    known = list(dict.fromkeys(name.strip() for name in names))
    nobody = words_for_missing(known)
    if nobody:
        raise TableError(
            f"{frame_name}: expected a coder in every row – found {first_three(nobody)}, as what is missing "
            "is called – fill in who coded, or drop these rows; if it is a person, take another pseudonym."
        )
    computed = [name for name in known if name.lower() in RESERVED_CODERS and name not in RESERVED_CODERS]
    if computed:
        raise TableError(
            f"{frame_name}: the names {', '.join(RESERVED_CODERS)} are reserved for computed decisions, in "
            f"lower case – found coder {first_three(computed)} – write {computed[0].lower()!r} if it is "
            "computed, or give the person another pseudonym."
        )
    unclear = [name for name in known if name.lower().startswith(MODEL_PREFIX) and not is_model(name)]
    if unclear:
        raise TableError(
            f"{frame_name}: models are called 'model-…' in lower case, and people are not – "
            f"found coder {first_three(unclear)} – name the model like 'model-a', or give the person another "
            "pseudonym."
        )
    one_case(known, name="coder", frame_name=frame_name)


def check_people(decisions: pd.DataFrame) -> pd.DataFrame:
    """Check that people's decisions can be compared, and return them without computed decisions.

    Coders' names, codes and ids of units must differ in more than upper and lower case (ids that one coder
    decided on may differ in case alone). Among several coders, the decisions of each must include what is
    absent, which exports of applied codes, and sheets of ones and blanks, do not. A coder is refused if all
    of their decisions are "applied", they did not decide on all that others did, and

    - one of their texts lacks a code that another coder decided on there, or
    - three or more applied in a row are no coincidence: nobody has an absent decision, or, with the share of
      "applied" among the coders who have some, fewer than 0.2 coders would be expected to come out so.

    The same holds of the decisions on one code, where they lack texts that the coder decided on, and of all
    decisions on texts on which the coder lacks a code. Models are held to it as people are.
    """
    check_arguments(check_people, locals())
    for name in ("unit_id", "coder", "code", "applied"):
        require_column(decisions, name, frame_name="decisions")
    check_coder_names(decisions["coder"].unique(), frame_name="decisions")
    compared = people(decisions)
    one_case(compared["code"].unique(), name="code", frame_name="decisions")
    refuse_other_case(compared, frame_name="decisions")
    refuse_applied_only(people(decisions, with_models=True), frame_name="decisions")
    return people(decisions, with_models=True)


def _coders(frame: pd.DataFrame) -> pd.Series:
    n_columns = list(frame.columns).count("coder")
    if n_columns != 1:
        raise TableError(
            f"frame: expected one column 'coder', found {n_columns} – pass decisions, codings or coverage."
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
            f"models: the names {first_three(taken)} are already taken – rename one of the two first."
        )
    check_coder_names(names, frame_name="frame")
    return coder.replace(new)


def one_case(names: Iterable[str], *, name: str, frame_name: str) -> None:
    """Raise `TableError` if two names differ only in upper and lower case."""
    check_arguments(one_case, locals())
    known = list(dict.fromkeys(names))
    folded = Counter(each.casefold() for each in known)
    alike = [each for each in known if folded[each.casefold()] > 1]
    if alike:
        raise TableError(
            f"{frame_name}: expected every {name} to differ in more than upper and lower case – found "
            f"{first_three(alike)} – use one spelling, or rename one of them."
        )


def refuse_applied_only(people: pd.DataFrame, *, frame_name: str) -> None:
    """Raise `TableError` if the decisions of one of several coders lack what was absent."""
    coders = applied_only(people)
    if coders:
        n = int(people["coder"].isin(coders).sum())
        raise TableError(
            f"{frame_name}: expected each coder's absent decisions, too – found {n} decisions of coder "
            f"{first_three(coders)}, all applied, and none on other texts or codes that were decided on "
            "– add a row with applied=False for each code that is not on a text that they coded "
            '(codings.from_table does so: blank="absent", finished=…); if you selected codes, pass all.'
        )
    _refuse_incomplete(people, frame_name=frame_name)


def _refuse_incomplete(people: pd.DataFrame, *, frame_name: str) -> None:
    """Raise `TableError` if a coder's decisions lack what was absent of one code, or on most texts."""
    asked = set(people.loc[unstated(people), "coder"])
    if not asked:
        return
    of_code = applied_only_of_a_code(people)
    of_code = of_code[of_code["coder"].isin(asked)]
    if len(of_code):
        first = of_code.iloc[0]
        more = f" and {len(of_code) - 1} more" if len(of_code) > 1 else ""
        raise TableError(
            f"{frame_name}: expected each coder's absent decisions, too – found {int(of_code['n'].sum())} "
            f"of coder {first['coder']!r} on code {first['code']!r}{more}, all applied, and none on other "
            "texts of that coder, on which others decided – add a row with applied=False where "
            "the code is not on a text that they coded; if a code was not open there, drop the others' rows."
        )
    coders = [coder for coder in applied_only_where_incomplete(people) if coder in asked]
    if coders:
        raise TableError(
            f"{frame_name}: expected each coder's absent decisions, too – found that all decisions of coder "
            f"{first_three(coders)} are “applied” on texts on which they lack codes that others decided on – "
            "add a row with applied=False for each code that is not on a text that they coded."
        )


def refuse_other_case(people: pd.DataFrame, *, frame_name: str) -> None:
    """Raise `TableError` if unit ids differ only in case, and no coder decided on two of them.

    A coder who did has two texts, whose ids a program made of capital and small letters.
    """
    ids = pd.Series(people["unit_id"].unique(), dtype="string")
    folded = ids.str.casefold()
    alike = ids[folded.duplicated(keep=False)]
    if not len(alike):
        return
    rows = people.loc[people["unit_id"].isin(alike), ["unit_id", "coder"]].drop_duplicates()
    rows["folded"] = rows["unit_id"].str.casefold()
    by_two = rows.loc[rows.duplicated(["folded", "coder"]), "folded"]
    apart = alike[~alike.str.casefold().isin(by_two)]
    if len(apart):
        raise TableError(
            f"{frame_name}: expected every unit_id to differ in more than upper and lower case – found "
            f"{first_three(apart)}, each from different coders – use one spelling, or rename one of them."
        )
