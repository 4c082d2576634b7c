"""Links corrected for coders' errors: the likely true codes, carried into the link by multiple imputation."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from sense7_qual._arguments import check_arguments, check_least
from sense7_qual._bootstrap import check_resampling
from sense7_qual._contract import Column, Contract
from sense7_qual._reasons import Reason
from sense7_qual.errors import TableError
from sense7_qual.frames import require_column
from sense7_qual.links import _inputs, _resample
from sense7_qual.links._inputs import RatingRange
from sense7_qual.links._odds import LogOdds, log_odds
from sense7_qual.links._pooled import RankEffect, columns_of, pool
from sense7_qual.links._resample import with_adjusted
from sense7_qual.links._results import CORRECTED

Floats = npt.NDArray[np.float64]

_POSTERIOR: Final = Contract(
    "posterior", ("unit_id", "code"), {"unit_id, code": Column("id"), "prevalence_by": Column("string")}
)
_DRAWS: Final = Contract(
    "posterior",
    ("unit_id", "code", "draw"),
    {"unit_id, code": Column("id"), "draw": Column("integer"), "prevalence_by": Column("string")},
)


@CORRECTED.returns
def corrected(
    posterior: pd.DataFrame,
    units: pd.DataFrame,
    *,
    rating: str,
    cluster: str,
    rating_range: RatingRange = None,
    n_imputations: int = 20,
    odds_ratios: bool = False,
    confidence_level: float = 0.95,
    seed: int = 0,
) -> pd.DataFrame:
    """Compare the ratings of units to which each code truly applies or not, corrected for coders' errors.

    Coders' errors make a link look smaller than it is. Here the true code of each unit is imputed many times
    from the probability that it applies, each imputation is analysed as in `code_to_rating`, and the results
    are combined by Rubin's rules, so that uncertainty about the truth widens the interval.

    Parameters
    ----------
    posterior : DataFrame
        `adjudication.dawid_skene(decisions, prevalence_by=…, cluster=…, n_draws=20).draws`: unit_id, code,
        draw, probability (0 to 1; missing where the model has none), prevalence_by. The prevalence must be by
        this rating. The frame `posterior` of the same result is accepted too: without the column draw, every
        imputation uses the same parameters as if they were known, and the interval is too narrow.
    units : DataFrame
        unit_id and the columns named by `rating` and `cluster`. A unit without a rating is left out.
    rating, cluster : str
        The column of numeric ratings, and that of the participant.
    n_imputations : int
        2 or more, at most the number of draws.
    odds_ratios : bool
        Whether to fit a mixed model to each imputation as well. The imputation knows the rating but not the
        participant, so that this odds ratio, unlike rank_biserial, is an approximation.
    rating_range, confidence_level
        As for `code_to_rating`.
    seed : int
        The same seed gives the same imputations.

    Raises
    ------
    TableError
        A column is missing; the prevalence is not by this rating; there are fewer draws than imputations; a
        probability is not between 0 and 1.
    ArgumentError
        `n_imputations`, `confidence_level` or `seed` is out of its range.

    Notes
    -----
    The estimand is the rank-biserial effect of the true code. It rests on the assumptions of `dawid_skene`,
    above all that coders err independently of each other and of the rating, given the truth.

    References
    ----------
    Rubin (1987), Multiple imputation for nonresponse in surveys. Cole, Chu & Greenland (2006),
    Multiple-imputation for measurement-error correction, International Journal of Epidemiology 35, 1074–1081.
    Meng (1994), Multiple-imputation inferences with uncongenial sources of input, Statistical Science 9,
    538–558: why the rating belongs in the imputation.

    Examples
    --------
    >>> units = pd.DataFrame([(f"m{i}", f"p{i // 2}", 1 + i % 5) for i in range(40)],
    ...                      columns=["unit_id", "case_id", "empathy"])
    >>> sure = pd.DataFrame({"unit_id": units["unit_id"], "code": "prosocial", "prevalence_by": "empathy",
    ...                      "probability": [float(i % 3 == 0) for i in range(40)]})
    >>> links = corrected(sure, units, rating="empathy", cluster="case_id", seed=7)
    >>> links[["n_with", "imputation_share", "parameters_drawn"]].values.tolist()
    [[14.0, 0.0, False]]
    """
    check_arguments(corrected, locals())
    check_least(corrected, 1, n_imputations=n_imputations)
    check_resampling("corrected", n_boot=n_imputations, confidence_level=confidence_level, seed=seed)
    posterior = _checked(posterior, rating, n_imputations)
    rated = _inputs.rated_units(posterior, units, rating, cluster, rating_range=rating_range)
    rows = []
    for code, of_code in posterior.groupby("code", sort=False):
        row = _row(of_code, rated, n_imputations, confidence_level, seed, odds_ratios=odds_ratios)
        rows.append({**row, "code": code, "confidence_level": confidence_level, "seed": seed})
    return _result(rows, drawn="draw" in posterior)


def _row(
    posterior: pd.DataFrame,
    rated: pd.DataFrame,
    n_imputations: int,
    confidence_level: float,
    seed: int,
    *,
    odds_ratios: bool,
) -> dict[str, object]:
    probability = _wide(posterior, n_imputations)
    known = rated.set_index("unit_id").reindex(probability.index)
    probability = probability[known["rating"].notna().to_numpy()]
    known = known.loc[probability.index]
    row: dict[str, object] = {"n_units": len(known), "n_clusters": known["cluster"].nunique()}
    if not len(known):
        return row | {"reason": Reason.NO_RATED_UNITS}
    if probability.isna().to_numpy().any():
        return row | {"reason": Reason.NO_POSTERIOR}
    row["n_with"] = float(probability.mean(axis=1).sum())
    ratings = known["rating"].to_numpy(dtype=np.float64)
    members = known["cluster"].to_numpy(dtype=np.int64)
    rng = np.random.default_rng(seed)  # of each code: no code's draws depend on which come before it
    imputed = [rng.random(len(chance)) < chance for chance in probability.to_numpy().T]
    effects = [_effect(applied, ratings, members) for applied in imputed]
    ranked = [one for one in effects if isinstance(one, RankEffect)]
    if len(ranked) < len(effects):
        return row | {"reason": next(one for one in effects if isinstance(one, str))}
    fewest = min(one.fewest for one in ranked)
    variances = np.array([np.square(one.deviations).sum() for one in ranked])
    z = pool(np.arctanh([one.effect for one in ranked]), variances, df=fewest - 1)
    low, high = np.tanh(z.interval(confidence_level))
    row |= {"rank_biserial": float(np.tanh(z.estimate)), "rank_biserial_low": low, "rank_biserial_high": high}
    row |= {"p": z.p, "imputation_share": z.between_share, "n_imputations": len(imputed)}
    row["mean_difference"] = float(np.mean([ratings[a].mean() - ratings[~a].mean() for a in imputed]))
    if odds_ratios:
        odds = [log_odds(a, ratings, members, mixed=False)["odds_ratio"] for a in imputed]
        row |= _odds_columns(odds, confidence_level)
    return row


def _effect(applied: _resample.Truths, ratings: Floats, cluster: npt.NDArray[np.int64]) -> RankEffect | str:
    """Return the effect of one imputation, or the reason why it has none."""
    counts = _resample.count(applied, ratings, cluster)
    effect, without = _resample.effect_of(counts), _resample.jackknifed_effects(counts)
    reason = _resample.reason_of(applied, counts, effect, without)
    return reason or RankEffect(effect, without, counts.clusters, counts.fewest_clusters)


def _odds_columns(odds: list[LogOdds], confidence_level: float) -> dict[str, float]:
    if any(not np.isfinite(one.standard_error) for one in odds):
        return {}
    pooled = pool(
        np.array([one.estimate for one in odds]),
        np.array([one.standard_error for one in odds]) ** 2,
        df=min(one.df for one in odds),
    )
    return columns_of("odds_ratio", pooled, confidence_level)


def _wide(posterior: pd.DataFrame, n_imputations: int) -> pd.DataFrame:
    """Return the probabilities of one code (units, imputations), units sorted."""
    if "draw" not in posterior:
        column = posterior.set_index("unit_id")["probability"].sort_index()
        return pd.DataFrame(dict.fromkeys(range(n_imputations), column))
    wide = posterior.pivot(index="unit_id", columns="draw", values="probability")  # noqa: PD010
    return wide.iloc[:, :n_imputations]


def _checked(posterior: pd.DataFrame, rating: str, n_imputations: int) -> pd.DataFrame:
    drawn = isinstance(posterior, pd.DataFrame) and "draw" in posterior
    checked = (_DRAWS if drawn else _POSTERIOR).check(posterior)
    require_column(checked, "probability", frame_name="posterior")
    probability = pd.to_numeric(checked["probability"], errors="coerce").astype("float64")
    bad = checked["probability"].notna() & ~probability.between(0, 1)
    if bad.any():
        raise TableError(
            f"posterior: expected probabilities from 0 to 1 – found others in {int(bad.sum())} rows – pass "
            "what adjudication.dawid_skene returns."
        )
    others = checked.loc[checked["prevalence_by"].fillna("") != rating, "prevalence_by"].unique()
    if len(others):
        other = "none" if pd.isna(others[0]) else repr(str(others[0]))
        raise TableError(
            f"posterior: expected the prevalence by the rating {rating!r} – found {other} – pass "
            f"prevalence_by={rating!r} to dawid_skene; without it the effects would be "
            "pulled towards 0."
        )
    n = checked["draw"].nunique() if drawn else n_imputations
    if n_imputations < 2 or (n < n_imputations and len(checked)):
        raise TableError(
            f"posterior: expected n_imputations from 2 to the number of draws – found {n_imputations}, and "
            f"{n} draws – pass n_draws={max(n_imputations, 2)} to dawid_skene."
        )
    return checked.assign(probability=probability)


def _result(rows: list[dict[str, object]], *, drawn: bool) -> pd.DataFrame:
    result = CORRECTED.frame([row | {"parameters_drawn": drawn} for row in rows])
    return with_adjusted(result, "p")
