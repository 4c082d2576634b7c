"""Disruption: what one poor turn does to the later turns of its conversation and to the scores after it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import pandas as pd

from sense7_qual._arguments import check_arguments
from sense7_qual._bootstrap import FEWEST_CLUSTERS
from sense7_qual._messages import first_three
from sense7_qual._reasons import Caution, Reason
from sense7_qual._rests_on import rests_on
from sense7_qual.errors import ArgumentError, TableError
from sense7_qual.links._disruption_contrasts import Compared, compared_turns
from sense7_qual.links._inputs import RatingRange, checked_units, numbered, numbers_of, ratings_of
from sense7_qual.links._resample import (
    Resampling,
    decided_by,
    interval,
    jackknife_p,
    left_out,
    resampled,
    settings,
)
from sense7_qual.links._results import DISRUPTION


@rests_on("decisions")
@DISRUPTION.returns
def disruption(
    units: pd.DataFrame,
    *,
    rating: str,
    rating_range: RatingRange = None,
    document_id: str = "document_id",
    position: str,
    threshold: float = 2,
    cluster: str | None = None,
    outcomes: Sequence[str] = (),
    decisions: pd.DataFrame | None = None,
    source: str | None = None,
    n_boot: int = 2000,
    confidence_level: float = 0.95,
    seed: int = 0,
) -> pd.DataFrame:
    """Compare later ratings, and scores after the task, with and without a first poor turn.

    Parameters
    ----------
    units : DataFrame
        unit_id and the columns named; one row per turn. A turn without a rating is left out.
    rating : str
        The column of numeric ratings, taken as equally spaced.
    rating_range : pair of numbers, or mapping of str to pair, optional
        As for `code_to_rating`; a mapping can also name outcomes.
    document_id : str, default "document_id"
        The column that names the conversation of each turn.
    position : str
        The column of numbers that orders the turns of a conversation; only their order counts.
    threshold : float
        The highest rating of a poor turn.
    cluster : str, optional
        The column of the participant; by default conversations are treated as independent.
    outcomes : sequence of str
        Columns of numeric scores given once per conversation and repeated on its turns.
    decisions : DataFrame, optional
        unit_id, coder, code, applied: adds the contrasts for poor turns with each code.
    source : str, optional
        A coder, "majority" or "consensus". Needed with `decisions`.
    n_boot, confidence_level, seed
        As for `code_to_rating`.

    Raises
    ------
    TableError
        A column is missing; a rating, position or outcome is not a number; a conversation has a position
        twice, no name, two clusters or two values of an outcome; a unit of `decisions` is unknown.
    ArgumentError
        `threshold` is not a number, `source` is missing, or a setting is out of its range.

    Notes
    -----
    Poor turns are not assigned, so none of this shows what they cause: conversations with a poor turn may
    have been poorer all along. Four contrasts narrow that down:

    - an outcome: the scores of conversations with a poor turn against those without one; one row each.
    - `later_turns`: the mean rating of the later turns. A rated turn with later ones takes part as long as no
      earlier turn was poor: *with* if it is poor itself, *without* if not, whatever follows. A comparison
      with conversations that never had a poor turn would select them by their later ratings, and find an
      effect where there is none. Since those *without* may have a poor turn later, an effect is estimated too
      small. Selection remains: a poor turn indicates a poor conversation.
    - `later_turns_adjusted`: the same rows as far as they have an earlier turn, by linear regression on
      the turn's own rating, the mean of the earlier turns, and the place in the conversation (a level each,
      from the eighth on one). Conversations, participants, places and moods that last from turn to turn all
      put the later ratings on a line in those before, the poor ones as well as the good ones; the difference
      is the step down from that line where a turn is poor. At least three different ratings must occur.
    - `within_document`: in each conversation, the mean after its first poor turn (mean_with) minus the mean
      before it (mean_without), less the difference that is expected if the same ratings had come in any
      other order with the first poor turn not at an end; so selection and regression to the mean are taken
      out. A drift over the conversation is taken out as far as conversations without a poor turn show one,
      in a straight line; what else comes with the order of turns (better first turns, moods) is not. It errs
      towards 0: of an effect that turns all later turns poor, the order shows only a part. *With* are the
      conversations that have turns before and after, *without* those, of two turns or more, that give the
      drift.

    So `later_turns_adjusted` is the best evidence of an effect of a poor turn. In simulated studies of 50
    participants without an effect (ICC of conversations .4; alone, with first turns better by .8, with
    a drift of −.1 a turn, with an autocorrelation of .4, with all three) its p fell below .05 in 3 to 6 %,
    that of `within_document` in 5 to 9 %, and the interval of `later_turns` lay below 0 in all of them. It
    found an effect of .5 on all later turns in 82 % of the studies, `within_document` in 70 % (300 studies
    each: benchmarks/disruption_designs.md).

    Its limits: an effect in proportion to the rating (the worse the turn, the lower the later ones) is a line
    and not a step; and a line that is bent for other reasons (most ratings at an end of the scale) may look
    like a step.

    Cohen's d divides by the pooled standard deviation of the two groups of rows; `within_document` by that of
    the means before and after (Lakens 2013, d_av). The interval is the percentile interval of resampled
    clusters, widened for few of them (Hesterberg 2015); p is from leaving out each cluster in turn, with
    Student's t.

    Third parties quote d = 1.142 from the SENSE-7 paper for the effect of a poor turn on overall perceived
    empathy; how it was computed was not checked.

    References
    ----------
    Cohen (1988), Statistical Power Analysis for the Behavioral Sciences. Lakens (2013), Calculating and
    reporting effect sizes to facilitate cumulative science, Frontiers in Psychology 4, 863.

    Examples
    --------
    >>> units = pd.DataFrame({"unit_id": list("abcdefgh"), "document_id": list("11112222"),
    ...     "position": [1, 2, 3, 4] * 2, "empathy": [4, 2, 3, 2, 5, 4, 4, 5]})
    >>> contrasts = disruption(units, rating="empathy", document_id="document_id", position="position")
    >>> contrasts[["contrast", "n_with", "n_without", "mean_difference"]].round(3).head(1).values.tolist()
    [['later_turns', 1, 4, -1.542]]
    """
    check_arguments(disruption, locals())
    how = settings("disruption", n_boot=n_boot, confidence_level=confidence_level, seed=seed)
    outcomes = [outcomes] if isinstance(outcomes, str) else list(outcomes)
    cluster = document_id if cluster is None else cluster
    units = checked_units(units, rating, document_id, position, cluster, *outcomes)
    _refuse_off_scale(units, rating, outcomes, rating_range)
    turns = _turns(units, rating, document_id, position, cluster, outcomes)
    turns["poor"] = turns["rating"] <= float(threshold)
    index = _index_turns(turns)
    setting_columns = {"confidence_level": how.confidence_level, "seed": how.seed}
    rows = []
    for code, chosen in [(None, None), *_coded(units, decisions, source)]:
        for name, compared in compared_turns(turns, _exposed(index, chosen), outcomes).items():
            row = {"contrast": name, "code": code, **_row(compared, how), **setting_columns}
            row["caution"] = _CAUTIONS.get(name, Caution.SELECTION)
            # Any difference between conversations makes this contrast: its p would speak of nothing else.
            rows.append(row | ({"p": np.nan} if name == "later_turns" else {}))
    return DISRUPTION.frame(rows)


def _refuse_off_scale(
    units: pd.DataFrame, rating: str, outcomes: Sequence[str], rating_range: RatingRange
) -> None:
    for name in (rating, *outcomes):
        ratings_of(units, name, rating_range, is_rating=name == rating)


def _turns(
    units: pd.DataFrame, rating: str, document_id: str, position: str, cluster: str, outcomes: Sequence[str]
) -> pd.DataFrame:
    """Return the rated turns in order: unit_id, document, cluster, rating, place (1, 2 …), outcomes."""
    rated = units[~np.isnan(numbers_of(units, rating))].reset_index(drop=True)
    turns = pd.DataFrame(
        {
            "unit_id": rated["unit_id"],
            "document": numbered(rated, document_id),
            "cluster": numbered(rated, cluster),
            "rating": numbers_of(rated, rating),
            "position": numbers_of(rated, position),
        }
        | {f"outcome {name}": numbers_of(rated, name) for name in outcomes}
    )
    _refuse_unordered(turns, position)
    for column in ("cluster", *(f"outcome {name}" for name in outcomes)):
        by_document = turns.groupby("document")[column]
        several = by_document.max() > by_document.min()
        if several.any():
            named = rated.loc[turns["document"].isin(several.index[several]), document_id].unique()
            raise TableError(
                f"units: expected one value of {cluster if column == 'cluster' else column[8:]!r} per "
                f"{document_id!r} – found several for {first_three(named)} – correct them."
            )
    turns = turns.sort_values(["document", "position"], ignore_index=True)
    return turns.assign(place=turns.groupby("document").cumcount() + 1)


def _refuse_unordered(turns: pd.DataFrame, position: str) -> None:
    missing = turns["position"].isna()
    twice = turns.duplicated(["document", "position"], keep=False) & ~missing
    for bad, problem in ((missing, "none"), (twice, "one more than once in a conversation")):
        if bad.any():
            raise TableError(
                f"units: expected a {position!r} for every rated turn, each once per conversation – found "
                f"{problem} for units {first_three(turns.loc[bad, 'unit_id'])} – correct them."
            )


def _index_turns(turns: pd.DataFrame) -> pd.DataFrame:
    """Return the turns before which none was poor, with the means of the earlier and the later turns."""
    by_document = turns.groupby("document")
    poor = turns["poor"]
    earlier_poor = poor.groupby(turns["document"]).cumsum() - poor
    size = by_document["rating"].transform("size")
    so_far = by_document["rating"].cumsum()
    total = by_document["rating"].transform("sum")
    at_risk = turns.assign(
        later=(total - so_far) / (size - turns["place"]).where(lambda n: n > 0),
        earlier=(so_far - turns["rating"]) / (turns["place"] - 1).where(lambda n: n > 0),
    )
    return at_risk[earlier_poor == 0]


def _coded(
    units: pd.DataFrame, decisions: pd.DataFrame | None, source: str | None
) -> list[tuple[str, pd.Index]]:
    """Return each code with the units that have it."""
    if decisions is None:
        return []
    if source is None:
        raise ArgumentError(
            "disruption: expected the source of the decisions – found none – pass source='majority', "
            "'consensus' or a coder."
        )
    decided = decided_by(decisions, units, source, function="disruption")
    applied = decided[decided["applied"]]
    return [
        (str(code), pd.Index(applied.loc[applied["code"] == code, "unit_id"]))
        for code in decided["code"].unique()
    ]


def _exposed(index: pd.DataFrame, chosen: pd.Index | None) -> pd.DataFrame:
    """Leave out the poor turns that do not have the code."""
    return index if chosen is None else index[~index["poor"] | index["unit_id"].isin(chosen)]


def _row(compared: Compared, how: Resampling) -> dict[str, object]:
    """Return the numbers of one contrast."""
    row: dict[str, object] = {
        "n_documents": compared.n_documents,
        "n_clusters": len(compared.sums),
        "n_with": compared.n_with,
        "n_without": compared.n_without,
        "mean_with": compared.mean_with,
        "mean_without": compared.mean_without,
        "reason": compared.reason,
    }
    if compared.reason is not None:
        return row
    difference, d = compared.statistic(compared.sums.sum(axis=0))
    row |= {"mean_difference": difference, "cohens_d": d}
    if np.isnan(difference) or np.isnan(d):
        return row | {"reason": Reason.NO_COMPARISON if np.isnan(difference) else Reason.CONSTANT_RATING}
    if compared.fewest < FEWEST_CLUSTERS:
        return row | {"reason": Reason.FEW_CLUSTERS}
    without = left_out(compared.sums, compared.statistic)[:, 0]
    p = jackknife_p(difference, without, compared.fewest)
    if np.isnan(p):
        return row | {"reason": Reason.NO_VARIATION_BETWEEN_CLUSTERS}
    resamples = resampled(compared.sums, compared.statistic, how)
    for at, names in enumerate((("difference_low", "difference_high"), ("d_low", "d_high"))):
        *ends, n_undefined = interval(resamples[:, at], compared.fewest, how)
        row |= dict(zip(names, ends, strict=True)) | {"n_undefined": n_undefined}
    return row | {"p": p, "n_boot": how.n_boot}


_CAUTIONS: Final = {"later_turns_adjusted": None, "within_document": Caution.TURN_OR_MOOD}
