"""Links under every choice of source, analysis and exclusion, and with the whole error."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import pandas as pd

from sense7_qual import _present
from sense7_qual._arguments import check_arguments
from sense7_qual.codebook import Codebook
from sense7_qual.links import MULTIVERSE
from sense7_qual.report._table import Table, basis_notes, left_then_right, made_with

_CHOICES: Final = ["source", "analysis", "exclusion"]
_BOTH: Final = " + human"


def multiverse(
    multiverse: pd.DataFrame,
    *,
    codebook: Codebook | None = None,
    digits: int = 2,
    rating: str | None = None,
    cluster_name: str = "clusters",
    notes: Sequence[str] = (),
) -> Table:
    """Tabulate what becomes of each link under other choices, one row per code.

    Parameters
    ----------
    multiverse : DataFrame
        The result of `links.multiverse`. With the arms of several models each code has a row per model.
    codebook : Codebook, optional
        Gives the labels and the order of the codes.
    digits : int
        Decimals of the effects and their intervals (1–6); p has three.
    rating : str, optional
        What was rated, for the title.
    cluster_name : str
        What the clusters are, as a plural, such as "participants".
    notes : sequence of str
        Further lines for the foot.

    Returns
    -------
    Table
        Code, combinations with an estimate, how many of them say that texts with the code are rated higher
        and lower, and of these how many with an interval that excludes no link; the lowest and the highest
        rank-biserial r; p of all combinations together. With arms the model, people's link with the whole
        error and its interval, and the numbers of coders and prompts that it rests on.

    Raises
    ------
    TableError
        A column is missing, or rows were computed with different levels.
    CodebookError
        A code is not in the codebook.
    ArgumentError
        `digits` is out of range.

    See Also
    --------
    sense7_qual.figures.specification_curve : every combination of one code.

    Examples
    --------
    >>> result = MULTIVERSE.example(
    ...     code="prosocial", source=["ana", "ben", "model-a", "model-a + human"], exclusion="none",
    ...     analysis=["rank_biserial", "rank_biserial", "whole", "whole"], effect="rank_biserial",
    ...     estimate=[0.31, -0.02, 0.2, 0.24], low=[0.1, -0.2, 0.0, 0.08], high=[0.5, 0.2, 0.4, 0.39],
    ...     whole_p=0.012, n_coders=[None, None, None, 2], n_prompts=[None, None, 3, 1],
    ...     confidence_level=0.95)
    >>> multiverse(result).rows
    (('prosocial', '2', '1 (1)', '1 (0)', '−.02 to .31', '.012', '.24', '[.08, .39]', '2', '3'),)
    """
    check_arguments(globals()["multiverse"], locals())  # a parameter has its name
    MULTIVERSE.require(multiverse)
    every = MULTIVERSE.frame(multiverse)
    whole = every["analysis"].eq("whole")
    tried, models = every[~whole], _models(every[whole])
    codes = every.drop_duplicates("code")
    rows = _present.rows(codes, frame_name="multiverse", codebook=codebook)
    interval = _present.interval_name(
        [{"confidence_level": one} for one in every["confidence_level"]], frame_name="multiverse"
    )
    named = ["Code", "Model"] if len(models) > 1 else ["Code"]
    heads = [*named, "Combinations", "Higher", "Lower", "r", "p of all"]
    more = ["r, whole error", interval, "Coders", "Prompts"] if models else []
    cells = []
    for row in rows:
        own = [*_under_choices(tried[tried["code"] == row["code"]], row["whole_p"], digits)]
        of_code = every[whole & (every["code"] == row["code"])]
        for model in models or [""]:
            of = [row["label"], model][: len(named)]
            cells.append((*of, *own, *(_with_whole_error(of_code, model, digits) if model else ())))
    return Table(
        title=f"Association of codes with {rating or 'the rating'} under other choices",
        headers=(*heads, *more),
        rows=tuple(cells),
        notes=(
            *basis_notes(every),
            *_notes(tried, cluster_name, interval, models),
            *notes,
            made_with(codebook, rows),
        ),
        alignments=left_then_right(len(named), 5 + len(more)),
    )


def _models(whole: pd.DataFrame) -> list[str]:
    """Return the models whose codes are used with people's."""
    names = whole["source"][whole["source"].str.endswith(_BOTH)].unique()
    return [str(name).removesuffix(_BOTH) for name in names]


def _under_choices(tried: pd.DataFrame, whole_p: float, digits: int) -> Iterator[str]:
    """Yield what the combinations say of one code."""
    tried = tried[tried["estimate"].notna()]
    none = tried["effect"].eq("odds_ratio").astype("float64")
    yield _present.count(len(tried))
    for there, apart in (
        (tried["estimate"] > none, tried["low"] > none),
        (tried["estimate"] < none, tried["high"] < none),
    ):
        yield f"{_present.count(there.sum())} ({_present.count((there & apart).sum())})"
    ranks = tried.loc[tried["effect"] == "rank_biserial", "estimate"]
    ends = (_present.coefficient(one, digits) for one in (ranks.min(), ranks.max()))
    yield " to ".join(ends) if len(ranks) else _present.MISSING
    yield _present.p_value(whole_p)


def _with_whole_error(whole: pd.DataFrame, model: str, digits: int) -> Iterator[str]:
    """Yield people's link with the whole error, and what it rests on."""
    by = whole.set_index("source")
    both = by.loc[model + _BOTH]
    yield _present.coefficient(both["estimate"], digits)
    yield _present.interval(both["low"], both["high"], digits)
    for n in (both["n_coders"], by.loc[model, "n_prompts"]):
        yield _present.MISSING if n is pd.NA else _present.count(n)


def _notes(tried: pd.DataFrame, cluster_name: str, interval: str, models: Sequence[str]) -> Iterator[str]:
    options = (", ".join(map(str, tried[name].unique())) for name in _CHOICES)
    sources, analyses, exclusions = options
    yield (
        f"Every combination of source ({sources}), analysis ({analyses}) and exclusion ({exclusions}) that "
        f"has an estimate. Higher, lower = combinations in which texts with the code are rated so, and in "
        f"parentheses those whose {interval} excludes no link. r = rank-biserial correlation, lowest to "
        f"highest. p of all: of no link under any choice, from permuting ratings within {cluster_name}."
    )
    if models:
        yield (
            "Whole error: people's link, made more precise by the model's codes; its interval is over "
            f"{cluster_name}, coders and prompts. What a prompt gets wrong was measured on texts coded by "
            "hand and taken out. Prompts: those that the model's own link was computed with."
        )
    yield "These are associations: they do not show that what a code describes raised or lowered a rating."
