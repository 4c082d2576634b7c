"""Links of codes with a rating: each code by itself, and all codes in one model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import pandas as pd

from sense7_qual import _present
from sense7_qual._arguments import check_arguments
from sense7_qual._messages import first_three
from sense7_qual.codebook import Codebook
from sense7_qual.errors import ArgumentError, TableError
from sense7_qual.links import JOINT, LINKS
from sense7_qual.report._table import (
    Alignment,
    Table,
    basis_notes,
    bootstrap_note,
    caution_notes,
    family_note,
    left_then_right,
    made_with,
    reason_notes,
    row_label,
    waiting_cells,
    waits,
)

_WITH_MODEL: Final[Mapping[str, str]] = {
    "human": "people's, on the texts coded by hand",
    "model": "the model's, on all texts, as if it made no errors",
    "model + human": "people's on the texts coded by hand, with the model's on all texts",
}
_RANKS: Final = ("mean_difference", "rank_biserial", "rank_biserial_low")
_ODDS: Final = ("odds_ratio", "odds_ratio_low", "odds_ratio_p")
_OWN: Final = "Odds ratio (own texts)"
_BETWEEN: Final = "Odds ratio (people)"


def link(
    links: pd.DataFrame,
    *,
    source: str | Sequence[str] | None = None,
    codebook: Codebook | None = None,
    digits: int = 2,
    rating: str | None = None,
    cluster_name: str = "clusters",
    notes: Sequence[str] = (),
) -> Table:
    """Tabulate the association of codes with a rating, one row per code and source.

    Parameters
    ----------
    links : DataFrame
        The result of `links.code_to_rating` or `links.models.with_model`. A missing number is printed as "–"
        and its reason in the foot.
    source : str, or sequence of str, optional
        Whose decisions: a coder, "majority", "consensus" or "pooled" (of `with_model` "human", "model" or
        "model + human"); or several, for a row each under every code. It has to be said where `links` has
        several: which are printed is a choice to be made before the results.
    codebook : Codebook, optional
        Gives the labels and the order of the codes.
    digits : int
        Decimals of the mean difference, the effects and their intervals (1–6); p has three.
    rating : str, optional
        What was rated, for the title.
    cluster_name : str
        What the clusters are, as a plural, such as "participants".
    notes : sequence of str
        Further lines for the foot.

    Returns
    -------
    Table
        Code, source (of several), texts with and without the code, mean difference, the odds ratio of a
        participant's own texts with interval, degrees of freedom, p and adjusted p, that between participants
        with interval and p, and rank-biserial r over all texts with its own interval and p. Adjusted is the p
        of the hypothesis (`links.code_to_rating`). Where it has no test, as with ratings that are the same in
        all texts of each participant, r has the adjusted p.
        With "pooled" the percentage of the variance of r that is due to the choice of coder. Where `links`
        was computed with `equivalence`, its adjusted p.

    Raises
    ------
    TableError
        A column is missing, there is no such source, a code has several rows for it, or rows were computed
        with different levels or seeds.
    CodebookError
        A code is not in the codebook.
    ArgumentError
        `digits` is out of range.

    References
    ----------
    Benjamini & Hochberg (1995), Journal of the Royal Statistical Society B 57(1), 289–300: the adjusted p.

    Examples
    --------
    >>> from sense7_qual.links import LINKS
    >>> result = LINKS.example(
    ...     code="prosocial", source="majority", n_with=61, n_without=239, n_clusters=40,
    ...     mean_difference=0.35, rank_biserial=0.214, rank_biserial_low=-0.012, rank_biserial_high=0.41,
    ...     p=0.0004, p_adjusted=0.0028, family="codes of majority", odds_ratio=1.52, odds_ratio_low=0.97,
    ...     odds_ratio_high=2.38, odds_ratio_p=0.068, odds_ratio_p_adjusted=0.12, odds_ratio_df=24,
    ...     n_clusters_both=25, between_odds_ratio=1.21, between_odds_ratio_low=0.55,
    ...     between_odds_ratio_high=2.66, between_odds_ratio_p=0.64, n_boot=2000, confidence_level=0.95,
    ...     seed=7)
    >>> link(result, source="majority").rows[0][:9]
    ('prosocial', '61', '239', '0.35', '1.52', '[0.97, 2.38]', '24', '.068', '.120')
    >>> link(result, source="majority").rows[0][9:]
    ('1.21', '[0.55, 2.66]', '.640', '.21', '[−.01, .41]', '< .001')
    """
    check_arguments(link, locals())
    LINKS.require(links)
    sources = [source] if isinstance(source, str) else list(source or _only_source(links))
    rows = [
        row | {"row_label": _labelled(row, sources)} for row in _present.of_sources(links, sources, codebook)
    ]
    interval = _present.interval_name(rows, frame_name="links")
    columns = _columns(rows, sources, interval, digits)
    n_left = sum(_side(head) == "left" for head, _ in columns)
    return Table(
        title=f"Association of codes with {rating or 'the rating'}",
        headers=tuple(head for head, _ in columns),
        rows=tuple(
            (*cells[:n_left], *waiting_cells(row, len(columns) - n_left)) if waits(row) else cells
            for row, cells in zip(rows, zip(*(cells for _, cells in columns), strict=True), strict=True)
        ),
        notes=(
            *basis_notes(links[links["source"].astype("string").isin(sources)]),
            *_notes(rows, sources, interval, cluster_name, _adjusted_note(links, rows)),
            "These are associations: they do not show that what a code describes raised or lowered a rating.",
            *notes,
            made_with(codebook, rows),
        ),
        alignments=tuple(_side(head) for head, _ in columns),
    )


def _only_source(links: pd.DataFrame) -> list[str]:
    known = [str(name) for name in links["source"].unique()]
    if len(known) > 1:
        raise ArgumentError(
            "link: expected source where links are of several – found none, and the sources "
            f"{first_three(known)} – name one, or several in a list."
        )
    return known


def _labelled(row: Mapping[str, Any], sources: Sequence[str]) -> str:
    return str(row["label"]) if len(sources) == 1 else f"{row['label']} / {row['source']}"


def _side(head: str) -> Alignment:
    return "left" if head in ("Code", "Source") else "right"


def _columns(
    rows: Sequence[Mapping[str, Any]], sources: Sequence[str], interval: str, digits: int
) -> list[tuple[str, list[str]]]:
    """Return head and cells of each column."""
    columns = [
        ("Code", [str(row["label"]) for row in rows]),
        ("Source", [str(row["source"]) for row in rows]),
        ("n with", [_present.count(row["n_with"]) for row in rows]),
        ("n without", [_present.count(row["n_without"]) for row in rows]),
        ("Mean diff.", [_present.number(row["mean_difference"], digits) for row in rows]),
    ]
    if len(sources) == 1:
        del columns[1]
    ranks = [
        ("r (all texts)", [_present.coefficient(row["rank_biserial"], digits) for row in rows]),
        (interval, [_interval(row, digits) for row in rows]),
    ]
    if has_odds(rows):
        columns += _odds_columns(rows, interval, digits) + ranks
        columns.append(("p of r", [_present.p_value(row["p"]) for row in rows]))
    else:
        columns += _between_columns(rows, interval, digits) + ranks + _tests(rows, "p")
    if "pooled" in sources:
        columns.append(("Between coders (%)", [_between(row) for row in rows]))
    if _margin(rows):
        p = [_present.p_value(row["equivalence_p_adjusted"]) for row in rows]
        columns.append(("Equivalence, adjusted p", p))
    return columns


def _odds_columns(
    rows: Sequence[Mapping[str, Any]], interval: str, digits: int
) -> list[tuple[str, list[str]]]:
    """Return the odds ratio of own texts, then that between participants; the hypothesis has adjusted p."""
    own = [
        (_OWN, [_present.number(row["odds_ratio"], digits) for row in rows]),
        (interval, [_ends(row, "odds_ratio", digits) for row in rows]),
        ("df", [_present.number(row["odds_ratio_df"], 1).removesuffix(".0") for row in rows]),
        *_tests(rows, "odds_ratio_p"),
    ]
    if of_hypothesis(rows) == "odds_ratio":
        return own + _between_columns(rows, interval, digits)
    of_between = _between_columns(rows, interval, digits)
    return [*own[:3], ("p of own texts", own[3][1]), *of_between[:2], *_tests(rows, "between_odds_ratio_p")]


def _between_columns(
    rows: Sequence[Mapping[str, Any]], interval: str, digits: int
) -> list[tuple[str, list[str]]]:
    """Return the odds ratio between participants, where there is one."""
    name = "between_odds_ratio"
    if all(pd.isna(row[name]) for row in rows):
        return []
    return [
        (_BETWEEN, [_present.number(row[name], digits) for row in rows]),
        (interval, [_ends(row, name, digits) for row in rows]),
        ("p (people)", [_present.p_value(row[f"{name}_p"]) for row in rows]),
    ]


def of_hypothesis(rows: Sequence[Mapping[Any, Any]]) -> str:
    """Return the odds ratio that the hypothesis is about: that of own texts, unless links say otherwise."""
    is_between = any(row.get("hypothesis") == "between" for row in rows)
    return "between_odds_ratio" if is_between else "odds_ratio"


def _tests(rows: Sequence[Mapping[str, Any]], p: str) -> list[tuple[str, list[str]]]:
    """Return the columns of p and adjusted p."""
    return [
        ("p", [_present.p_value(row[p]) for row in rows]),
        ("Adjusted p", [_present.p_value(row[f"{p}_adjusted"]) for row in rows]),
    ]


def _ends(row: Mapping[str, Any], name: str, digits: int) -> str:
    return _present.number_interval(row[f"{name}_low"], row[f"{name}_high"], digits)


def _interval(row: Mapping[str, Any], digits: int) -> str:
    return _present.interval(row["rank_biserial_low"], row["rank_biserial_high"], digits)


def _between(row: Mapping[str, Any]) -> str:
    """Return the share due to the choice of coder; no other source than pooled can have one."""
    return _present.percent(row["between_coder_share"]) if row["source"] == "pooled" else ""


def has_odds(rows: Sequence[Mapping[Any, Any]]) -> bool:
    """Return True if the tests of odds ratios are printed: they were computed, and not r alone has any."""
    p = f"{of_hypothesis(rows)}_p"
    r_alone = any(not pd.isna(row["p"]) for row in rows) and all(pd.isna(row[p]) for row in rows)
    return _asked_for_odds(rows) and not r_alone


def _asked_for_odds(rows: Sequence[Mapping[Any, Any]]) -> bool:
    return any(not pd.isna(row["odds_ratio"]) or not pd.isna(row["odds_ratio_reason"]) for row in rows)


def _margin(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the margin of equivalence in words; nothing where links were computed without one."""
    of = next((row for row in rows if not pd.isna(row.get("equivalence_margin"))), None)
    return "" if of is None else margin_words(of["equivalence_effect"], of["equivalence_margin"])


def margin_words(effect: str, margin: float) -> str:
    """Return what lies within a margin of equivalence, in words.

    >>> margin_words("rank_biserial", 0.2), margin_words("odds_ratio", 1.5)
    ('r between −.20 and .20', 'an odds ratio between 1/1.5 and 1.5')
    """
    if effect == "odds_ratio":
        return f"an odds ratio between 1/{margin:.10g} and {margin:.10g}"
    printed = _present.coefficient(margin, max(2, len(f"{margin:.10g}") - 2))
    return f"r between −{printed} and {printed}"


def _adjusted_note(links: pd.DataFrame, rows: Sequence[Mapping[str, Any]]) -> str:
    """Name how p was adjusted, and over how many tests."""
    p = f"{of_hypothesis(rows)}_p_adjusted" if has_odds(rows) else "p_adjusted"
    how, then = family_note(rows, p), "adjusted in the same way"
    if any(row.get("adjustment") == "max-t" for row in rows):
        n = _present.count(links[p].notna().sum())
        how = (
            f"Adjusted p: step-down max-T over all codes × sources ({n} tests), printed here or not, with "
            "their correlation from leaving out each cluster."
        )
        then = "adjusted over these by Holm's method"
    if not _margin(rows):
        return how
    return (
        f"{how} Equivalence: the larger p of two one-sided t tests that the link is at or beyond the margin "
        f"({_margin(rows)}), {then}."
    )


def _notes(
    rows: Sequence[Mapping[str, Any]],
    sources: Sequence[str],
    interval: str,
    cluster_name: str,
    adjusted: str,
) -> list[str]:
    notes = [_terms(rows, sources)]
    resampled = [row for row in rows if row["source"] != "pooled"]
    if any("model_weight" in row for row in rows):
        notes.append(_with_model_note(interval, cluster_name, rows))
    elif resampled:
        seed = _present.seed(rows, frame_name="links")
        notes.append(bootstrap_note(resampled, f"{interval} of r", cluster_name, "r", seed))
    if has_odds(rows):
        notes.append(_odds_note(rows, cluster_name))
        notes.append(f"p: two-sided, of an odds ratio of 1; p of r: of r = 0. {adjusted}")
    else:
        notes += [_odds_note(rows, cluster_name)] if not all(_no_between(row) for row in rows) else []
        notes.append(f"p: two-sided, of r = 0, with {cluster_name} as clusters. {adjusted}")
    if "pooled" in sources:
        notes.append(_pooled_note(interval, rows))
    notes += _ties_note(rows)
    notes += reason_notes(rows, (*_RANKS, "p") if has_odds(rows) else (*_RANKS, "p", "p_adjusted"))
    if has_odds(rows):
        lacking = [row for row in rows if any(pd.isna(row[name]) for name in _ODDS) and not waits(row)]
        notes += reason_notes(lacking, _ODDS, column="odds_ratio_reason", of="for the odds ratio")
    elif _asked_for_odds(rows):
        why = [row for row in rows if not pd.isna(row["p"])]
        notes += reason_notes(why, _ODDS, column="odds_ratio_reason", of="for an odds ratio")
    return notes + caution_notes(rows)


def _no_between(row: Mapping[str, Any]) -> bool:
    return bool(pd.isna(row["between_odds_ratio"]))


def _odds_note(rows: Sequence[Mapping[str, Any]], cluster_name: str) -> str:
    """Say what each odds ratio compares, and how many participants carry that of their own texts."""
    model = f"cumulative-link mixed model with random intercepts for {cluster_name}, Student's t"
    pooled = " (pooled: Satterthwaite's)" if any(row["source"] == "pooled" for row in rows) else ""
    both = _present.count_range(row["n_clusters_both"] for row in rows)
    own = (
        f"{_OWN} = odds of a higher rating of a text with the code over those of the same writer's texts "
        f"without it; df = {cluster_name} who wrote both "
        f"({both}), less 1{pooled}."
    )
    between = (
        f"{_BETWEEN} = odds of a higher rating where a writer has the code in all texts over those where in "
        "none."
    )
    said = [own] * has_odds(rows) + [between] * (not all(_no_between(row) for row in rows))
    of = "Hypothesis: between writers." if of_hypothesis(rows) != "odds_ratio" else "Hypothesis: own texts."
    return " ".join([*said, f"From one {model}.", of])


def _with_model_note(interval: str, cluster_name: str, rows: Sequence[Mapping[str, Any]]) -> str:
    """Describe the intervals, and the gain from the model in the rows of model and people."""
    note = (
        f"{interval} of r: each of the {cluster_name} left out in turn, Student's t on Fisher's z, degrees "
        f"of freedom from the {cluster_name} on the rarer side."
    )
    added = [
        f"{row_label(row)} {_present.percent(row['width_ratio'])}"
        for row in rows
        if row["source"] == "model + human" and not pd.isna(row["width_ratio"])
    ]
    if not added:
        return note
    return (
        f"{note} model + human: people's link corrected by the difference between the model's on all texts "
        "and on the same ones (predict-then-debias, Kluger et al. 2025). Width of its interval in percent of "
        f"people's alone: {', '.join(added)}."
    )


def _terms(rows: Sequence[Mapping[str, Any]], sources: Sequence[str]) -> str:
    with_model = any("model_weight" in row for row in rows)
    whose = "; ".join(_WITH_MODEL.get(source, source) for source in sources) if with_model else ""
    return (
        f"{f'Decisions: {whose}. ' if whose else ''}n = rated texts with and without the code. Mean diff. = "
        "mean rating with the code minus without. Rank-biserial r = probability that a text with the code "
        "is rated higher than one without, minus the probability that it is rated lower; positive = rated "
        "higher with the code."
    )


def _ties_note(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return how many texts of how many the majority leaves out as tied, code by code."""
    left_out = [
        f"{row_label(row)} {_present.count(row['n_tied'])} of "
        f"{_present.count(row['n_with'] + row['n_without'] + row['n_tied'])}"
        for row in rows
        if not pd.isna(row.get("n_tied")) and row["n_tied"] > 0
    ]
    whole = f"Rated texts without a majority, because coders were tied: {', '.join(left_out)}."
    return [whole] if left_out else []


def _pooled_note(interval: str, rows: Sequence[Mapping[str, Any]]) -> str:
    ways = {row.get("pooling") for row in rows if row["source"] == "pooled"}
    how = (
        " by Rubin's rules"
        if ways == {"rubin"}
        else " from one joint variance, coders with more texts weighing more"
        if ways == {"joint"}
        else ""
    )
    return (
        f"Pooled: the coders' own estimates combined on Fisher's z and on the log odds ratio{how}; the "
        f"{interval} holds the differences between coders too, and Between coders is their part of the "
        "variance of r. "
        "n with = texts to which any coder applied the code."
    )


def joint(
    joint: pd.DataFrame,
    *,
    codebook: Codebook | None = None,
    digits: int = 2,
    rating: str | None = None,
    cluster_name: str = "clusters",
    notes: Sequence[str] = (),
) -> Table:
    """Tabulate the model of a rating by all codes together, one row per code.

    Parameters
    ----------
    joint : DataFrame
        The result of `links.joint`. Comparisons of conditions, if any, follow the codes, one row per code and
        condition; their odds ratio is that in the condition over that in the first one.
    codebook : Codebook, optional
        Gives the labels and the order of the codes.
    digits : int
        Decimals of the odds ratio, its interval and the variance inflation (1–6); p has three.
    rating : str, optional
        What was rated, for the title.
    cluster_name : str
        What the clusters are, as a plural, such as "participants".
    notes : sequence of str
        Further lines for the foot.

    Raises
    ------
    TableError
        A column is missing, a code has several rows for one effect and condition, or rows were computed for
        several sources or with different levels.
    CodebookError
        A code is not in the codebook.
    ArgumentError
        `digits` is out of range.

    See Also
    --------
    sense7_qual.links.joint : the model, and what its numbers mean.

    Examples
    --------
    >>> from sense7_qual.links import JOINT
    >>> result = JOINT.example(
    ...     code="prosocial", source="majority", effect="code", n=300, n_with=61, n_clusters=40,
    ...     odds_ratio=1.5214, odds_ratio_low=0.97, odds_ratio_high=2.384, p=0.068, p_adjusted=0.068,
    ...     family="codes of majority", variance_inflation=1.04, confidence_level=0.95)
    >>> joint(result).rows
    (('prosocial', '61', '1.52', '[0.97, 2.38]', '.068', '.068', '1.04'),)
    """
    check_arguments(globals()["joint"], locals())  # a parameter has its name
    JOINT.require(joint)
    rows = _joint_rows(joint, codebook)
    interval = _present.interval_name(rows, frame_name="joint")
    compared = any(row["effect"] == "interaction" for row in rows)
    heads = ("Code", *(["Condition"] if compared else []), "n with", "Odds ratio", interval)
    return Table(
        title=f"{rating or 'The rating'} by all codes in one model",
        headers=(*heads, "p", "Adjusted p", "VIF"),
        rows=tuple(_joint_row(row, digits, compared) for row in rows),
        notes=(
            *basis_notes(joint),
            _joint_terms(rows, cluster_name),
            *([_conditions(rows)] if compared else []),
            f"p: two-sided, of an odds ratio of 1. {family_note(rows)}",
            *reason_notes(rows, ("odds_ratio",)),
            *caution_notes(rows),
            "These are associations: they do not show that what a code describes raised or lowered a rating.",
            *notes,
            made_with(codebook, rows),
        ),
        alignments=left_then_right(2 if compared else 1, 6),
    )


def _joint_rows(joint: pd.DataFrame, codebook: Codebook | None) -> list[dict[str, Any]]:
    """Return the rows of the codes, then those of each condition, in the order of the codebook."""
    sources = [str(source) for source in joint["source"].unique()]
    if len(sources) > 1:
        raise TableError(
            f"joint: expected the rows of one source – found {first_three(sources)} – pass one at a time."
        )
    rows = []
    for level in dict.fromkeys([None, *joint["level"].dropna()]):
        part = joint[joint["level"].isna() if level is None else joint["level"] == level]
        for row in _present.rows(part, frame_name="joint", codebook=codebook):
            rows.append(row if level is None else row | {"row_label": f"{row['label']} / {level}"})
    return rows


def _joint_row(row: Mapping[str, Any], digits: int, compared: bool) -> tuple[str, ...]:
    condition = "all" if row["effect"] == "code" else f"{row['level']} over {row['reference']}"
    inflation = row["variance_inflation"]
    return (
        str(row["label"]),
        *([condition] if compared else []),
        _present.count(row["n_with"]),
        _present.number(row["odds_ratio"], digits),
        _present.number_interval(row["odds_ratio_low"], row["odds_ratio_high"], digits),
        _present.p_value(row["p"]),
        _present.p_value(row["p_adjusted"]),
        "∞" if inflation == float("inf") else _present.number(inflation, digits) if _is_code(row) else "",
    )


def _is_code(row: Mapping[str, Any]) -> bool:
    return bool(row["effect"] == "code")


def _joint_terms(rows: Sequence[Mapping[str, Any]], cluster_name: str) -> str:
    main = [row for row in rows if _is_code(row)]
    source = str(main[0]["source"]) if main else "none"
    return (
        f"Source: {source}. Cumulative-link mixed model with random intercepts "
        f"({_present.count_range(row['n'] for row in main)} texts of "
        f"{_present.count_range(row['n_clusters'] for row in main)} {cluster_name}). Odds ratio = odds of a "
        "higher rating of a text with the code over those of the same writer's texts without it, with the "
        "other codes held constant. VIF = "
        "variance inflation: its square root is the factor by which the standard error grows because codes "
        "co-occur."
    )


def _conditions(rows: Sequence[Mapping[str, Any]]) -> str:
    tests = {
        str(row["label"]): _present.p_value(row["joint_p"])
        for row in rows
        if not _is_code(row) and not pd.isna(row["joint_p"])
    }
    equal = "; ".join(f"{label} {'p ' if p[0] in '<>' else 'p = '}{p}" for label, p in tests.items())
    return (
        "Condition: the odds ratio in the first condition named over that in the second; a model per code. "
        f"Equal odds ratios in all conditions (Wald's F): {equal or 'not tested'}."
    )
