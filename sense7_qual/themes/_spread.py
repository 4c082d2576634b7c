"""How themes are spread over conditions, ratings, turns and participants."""

from __future__ import annotations

from typing import Final

import numpy as np
import pandas as pd

from sense7_qual._arguments import check_arguments, check_least
from sense7_qual._bootstrap import FEWEST_CLUSTERS, holm
from sense7_qual._messages import first_three
from sense7_qual.errors import ArgumentError, TableError
from sense7_qual.frames import UNITS, clusters_by_unit, require_column, without_blanks
from sense7_qual.themes._against_codebook import INTERVALS, check_level, estimates
from sense7_qual.themes._neighbours import Floats
from sense7_qual.themes._results import PARTICIPANTS, SPREAD
from sense7_qual.themes._themes import Themes

#: A numeric column of so many values or fewer stands as it is: the points of a rating scale.
_MOST_POINTS: Final = 7
#: A column of more values than this is no condition.
_MOST_VALUES: Final = 50


@SPREAD.returns
def spread(
    themes: Themes,
    units: pd.DataFrame,
    *,
    by: str,
    cluster: str = "case_id",
    n_groups: int = 4,
    confidence_level: float = 0.95,
) -> pd.DataFrame:
    """Compute each theme's share of the texts in each condition, at each rating, or in each turn.

    Parameters
    ----------
    themes, units
        The result of `fit`, and the units that it was computed from. Blank texts are left out.
    by
        The column of `units` with the condition, the rating or the position. A numeric column of more than
        7 values is divided into groups of about equal numbers of texts; equal values stay together.
    cluster
        The column of participants, by which intervals are clustered. A unit without one is a cluster of its
        own.
    n_groups
        The number of groups, 2 or more.
    confidence_level
        Level of the intervals, between 0 and 1.

    Raises
    ------
    TableError
        Not a `units` frame, no such column, or a unit of the themes is not among the units.
    ArgumentError
        A column of more than 50 values that are not numbers; `n_groups` or the level is out of range.

    Notes
    -----
    The themes are taken as given. `p` is of a score test of logistic regression with the participants'
    contributions to the score, so that texts of one person may be alike: the hypothesis is that the theme has
    the same share at every value. Where nothing differed, it was below .05 for 4.7 % of themes with 60
    participants of ten texts, that of a test of the texts as if they were independent for 15 %
    (``benchmarks/themes_null.md``). Among many themes some differ by chance: `p_holm` is for all of them.

    References
    ----------
    Korn & Graubard (1998), Survey Methodology 24, 193–201: the effective sample size. Rotnitzky & Jewell
    (1990), Biometrika 77, 485–497: the score test with clusters.

    Examples
    --------
    >>> themes = Themes(
    ...     assignments=pd.DataFrame({"unit_id": list("abcd"), "theme": [0, 0, 1, 0]}),
    ...     terms=pd.DataFrame(), quotes=pd.DataFrame(), parameters={},
    ...     summary=pd.DataFrame({"theme": [0, 1], "label": ["slow", "kind"]}))
    >>> units = pd.DataFrame({"unit_id": list("abcd"), "text": "so it was", "document_id": "d",
    ...     "case_id": list("ppqq"), "position": 1, "model": ["old", "old", "new", None]})
    >>> spread(themes, units, by="model")[["theme", "value", "n_units", "n_in_theme", "share"]]
       theme value  n_units  n_in_theme  share
    0      0   new        1           0    0.0
    1      0   old        2           2    1.0
    2      0  <NA>        1           1    1.0
    3      1   new        1           1    1.0
    4      1   old        2           0    0.0
    5      1  <NA>        1           0    0.0
    """
    check_arguments(spread, locals())
    check_least(spread, 2, n_groups=n_groups)
    check_level("spread", confidence_level)
    placed = _placed(themes, units, cluster, function="spread")
    require_column(units, by, frame_name="units")
    value = _values(UNITS.check(units).set_index("unit_id")[by].loc[placed.index], n_groups)
    known = value.notna()
    parts = [_shares(themes, placed[known], value[known], confidence_level)]
    if not known.all():
        without = _shares(themes, placed[~known], value[~known].cat.codes, confidence_level)
        lost = ["overall_share", "lift", "lift_low", "lift_high"]
        parts.append(without.assign(value=None, p=np.nan, **dict.fromkeys(lost, np.nan)))
    table = pd.concat([part.astype({"value": "string"}) for part in parts if len(part)] or parts)
    overall = table.groupby("theme")["overall_share"].transform("first")  # of the texts that have a value
    table = table.assign(overall_share=overall, by=by, confidence_level=float(confidence_level))
    table["p_holm"] = table["theme"].map(_adjusted(table))
    place = pd.Series(range(len(themes.summary)), index=themes.summary["theme"])
    table = table.sort_values("theme", key=lambda theme: theme.map(place), kind="stable", ignore_index=True)
    columns = ["theme", "label", "by", "value", "n_units", "n_in_theme", "n_clusters"]
    columns += ["share", "share_low", "share_high", "overall_share", "lift", "lift_low", "lift_high"]
    columns += ["p", "p_holm"]
    return table.merge(themes.summary[["theme", "label"]], on="theme")[[*columns, "confidence_level"]]


@PARTICIPANTS.returns
def participants_by_theme(themes: Themes, units: pd.DataFrame, *, cluster: str = "case_id") -> pd.DataFrame:
    """Count the participants of each theme, and compute the largest share of one participant.

    Parameters
    ----------
    themes, units, cluster
        As for `spread`. Units without a participant are counted separately.

    Raises
    ------
    TableError
        As for `spread`.

    References
    ----------
    Hill (1973), Ecology 54, 427–432: the effective number, of order 2.

    Examples
    --------
    >>> themes = Themes(
    ...     assignments=pd.DataFrame({"unit_id": list("abcd"), "theme": [0, 0, 0, 0]}),
    ...     terms=pd.DataFrame(), quotes=pd.DataFrame(), parameters={},
    ...     summary=pd.DataFrame({"theme": [0], "label": ["slow"]}))
    >>> units = pd.DataFrame({"unit_id": list("abcd"), "text": "so slow", "document_id": "d",
    ...     "case_id": list("pppq"), "position": 1})
    >>> participants_by_theme(themes, units)[["n_clusters", "n_effective", "largest_share", "one_carries"]]
       n_clusters  n_effective  largest_share  one_carries
    0           2          1.6           0.75         True
    """
    check_arguments(participants_by_theme, locals())
    placed = _placed(themes, units, cluster, function="participants_by_theme")
    own = placed["participant"]
    everybody = own.value_counts().to_numpy(dtype=float)
    table = themes.summary[["theme", "label"]].copy()
    counted = [own[placed["theme"] == theme] for theme in table["theme"]]
    table["n_units"] = [len(part) for part in counted]
    table["n_without"] = [int(part.isna().sum()) for part in counted]
    texts = [part.value_counts().to_numpy(dtype=float) for part in counted]
    table["n_clusters"] = [len(part) for part in texts]
    table["n_effective"] = [part.sum() ** 2 / (part**2).sum() if len(part) else np.nan for part in texts]
    table["n_effective_random"] = [_effective_of_a_draw(part.sum(), everybody) for part in texts]
    table["largest_share"] = [part.max() / part.sum() if len(part) else np.nan for part in texts]
    table["one_carries"] = table["largest_share"].gt(0.5).astype("boolean").mask(table["n_clusters"] == 0)
    return table


def _effective_of_a_draw(n: float, of_each: np.ndarray) -> float:
    """Return n² over the expected sum of squares, where `n` texts are drawn without replacement."""
    total = of_each.sum()
    if not n:
        return np.nan
    pairs = n * (n - 1) * (of_each * (of_each - 1)).sum() / (total * (total - 1)) if total > 1 else 0.0
    return float(n**2 / (n + pairs))


def _placed(themes: Themes, units: pd.DataFrame, cluster: str, *, function: str) -> pd.DataFrame:
    """Return by unit that is in the run and has a text: its theme, participant, and cluster."""
    units = UNITS.check(units)
    theme_of = themes.assignments.astype({"unit_id": "string"}).set_index("unit_id")["theme"]
    absent = theme_of.index.difference(pd.Index(units["unit_id"]))
    if len(absent):
        raise TableError(
            f"{function}: expected the units of the themes – found no {first_three(absent)} – pass the frame "
            "that `fit` was given."
        )
    with_text = units.loc[units["text"].fillna("").str.strip() != "", "unit_id"]
    whose = clusters_by_unit(units, cluster)
    assert whose is not None  # noqa: S101 – for the type checker
    placed = pd.DataFrame({"theme": theme_of[theme_of.index.isin(with_text)]})
    placed["participant"] = whose.astype("string").reindex(placed.index)
    own = placed.index.to_series()
    return placed.assign(cluster=placed["participant"].fillna("\0" + own))


def _values(column: pd.Series, n_groups: int) -> pd.Series:
    """Return the values or groups of numbers as ordered categories of words, missing where there is none."""
    if pd.api.types.is_numeric_dtype(column.dtype) and not pd.api.types.is_bool_dtype(column.dtype):
        return _numbers(column.astype("Float64").astype("float64"), n_groups)
    if isinstance(column.dtype, pd.CategoricalDtype):
        order = [str(each) for each in column.cat.categories]
    else:
        order = sorted(without_blanks(column.astype("string")).dropna().unique())
    words = without_blanks(column.astype("string"))
    names = [name for name in dict.fromkeys(each.strip() for each in order) if name in set(words.dropna())]
    if len(names) > _MOST_VALUES:
        raise ArgumentError(
            f"spread: expected a column of at most {_MOST_VALUES} values, or of numbers – found "
            f"{len(names)} values in {column.name!r} – put them into groups first."
        )
    return pd.Series(pd.Categorical(words, categories=names, ordered=True), index=column.index)


def _numbers(column: pd.Series, n_groups: int) -> pd.Series:
    points = np.sort(column.dropna().unique())
    if len(points) <= _MOST_POINTS:
        group = column
    else:
        # Half of a value's own texts count as below it, so that equal values stand in one group.
        below = (column.rank(method="average") - 0.5) / column.notna().sum()
        group = (below * n_groups).floordiv(1)
    ends = [(_number(part.min()), _number(part.max())) for _, part in column.groupby(group)]
    names = [low if low == high else f"{low} to {high}" for low, high in ends]
    codes = group.map({key: place for place, key in enumerate(np.sort(group.dropna().unique()))})
    words = codes.map(dict(enumerate(names)))
    return pd.Series(pd.Categorical(words, categories=names, ordered=True), index=column.index)


def _number(value: float) -> str:
    """Return a number in as few digits as tell it from every other."""
    return f"{value:.0f}" if float(value).is_integer() else repr(float(value))


def _shares(themes: Themes, placed: pd.DataFrame, value: pd.Series, level: float) -> pd.DataFrame:
    """Return a row per theme and value that stands in `value`, whose texts are given."""
    of_value, names = pd.factorize(value, sort=True)
    cluster, clusters = pd.factorize(placed["cluster"])
    decided = np.zeros((len(names), len(clusters)))
    np.add.at(decided, (of_value, cluster), 1)
    rows = []
    for theme in themes.summary["theme"]:
        inside = (placed["theme"] == theme).to_numpy()
        applied = np.zeros_like(decided)
        np.add.at(applied, (of_value[inside], cluster[inside]), 1)
        shares = estimates(applied, decided, level)
        shares["n_units"] = shares.pop("n_decisions")
        shares["p"] = np.full(len(names), _p_of_equal_shares(applied, decided))
        n_in_theme = applied.sum(axis=1).astype(np.int64)
        rows.append(pd.DataFrame({"theme": theme, "value": names, "n_in_theme": n_in_theme, **shares}))
    columns = ["theme", "value", "n_in_theme", "n_units", "n_clusters", "share", "overall_share", "lift", "p"]
    return pd.concat(rows) if rows else pd.DataFrame(columns=[*columns, *INTERVALS])


def _p_of_equal_shares(applied: Floats, decided: Floats) -> float:
    """Return p of the hypothesis that the share is the same at each value, from counts by value and cluster.

    The score of each value is that of its difference from the share of all texts, with what that share takes
    from it. Its variance is of as many clusters as their weights are worth (Satterthwaite), which are few
    where few have a value. NaN where a value has fewer than 6 clusters, or the theme all texts or none.
    """
    from scipy import special

    known = decided.sum(axis=0) > 0
    applied, decided = applied[:, known], decided[:, known]
    n_free = len(decided) - 1
    if n_free < 1 or (decided > 0).sum(axis=1).min() < FEWEST_CLUSTERS:
        return np.nan
    residual = applied - applied.sum() / decided.sum() * decided
    weight = decided.sum(axis=1, keepdims=True) / decided.sum()
    scores = (residual - weight * residual.sum(axis=0))[1:]
    within = scores @ scores.T
    if np.linalg.matrix_rank(within) < n_free:
        return np.nan
    total = scores.sum(axis=1)
    worth = (decided - weight * decided.sum(axis=0)) ** 2
    freedom = (worth.sum(axis=1) ** 2 / (worth**2).sum(axis=1)).min()
    n_clusters = decided.shape[1]
    ratio = total @ np.linalg.solve(within, total) / n_free * (1 - len(decided) / n_clusters)
    return float(special.fdtrc(n_free, freedom, ratio))


def _adjusted(table: pd.DataFrame) -> pd.Series:
    """Return p of each theme, adjusted for all themes."""
    p = table.dropna(subset="p").groupby("theme")["p"].first()
    return pd.Series(holm(p.to_numpy()), index=p.index)
