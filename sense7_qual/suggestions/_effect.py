"""Where suggestions were shown, what coders made of them, and what showing them does to coding."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, cast

import numpy as np
import pandas as pd

from sense7_qual._arguments import check_arguments, read_once
from sense7_qual._bootstrap import FEWEST_CLUSTERS
from sense7_qual._reasons import Reason
from sense7_qual._rests_on import rests_on
from sense7_qual.acts import Act, standing
from sense7_qual.acts.contents import Proposal, Suggested, Suggestion
from sense7_qual.errors import ArgumentError, TableError
from sense7_qual.frames import (
    DECISIONS,
    SUGGESTIONS,
    clusters_by_unit,
    is_model,
    labels_by_unit,
    people,
    without_models,
)
from sense7_qual.rounds import coders_named
from sense7_qual.suggestions._results import ANSWERS, EFFECT, MADE_WHEN, MODEL_USES

_KEY: Final = ["code", "unit_id", "coder"]


@rests_on("decisions")
@EFFECT.returns
def effect(
    decisions: pd.DataFrame,
    shown: pd.Series,
    *,
    units: pd.DataFrame,
    suggestions: pd.DataFrame | None = None,
    cluster: str = "case_id",
    confidence_level: float = 0.95,
) -> pd.DataFrame:
    """Estimate the effect of shown suggestions on how often codes are applied and coders agree.

    The difference is an effect of suggestions if chance alone decided which units had none (`withheld`).

    Parameters
    ----------
    decisions
        The `decisions` frame of people; computed coders (consensus, majority) do not count.
    shown
        True or False by unit_id: whether coders were shown suggestions (``shown(store.acts())``). Units
        without a value do not count.
    units, cluster
        Units, and the column of their participants, by which the interval is clustered.
    suggestions
        Suggestions for all these units, computed afterwards for those without: adds how often coders decided
        as suggested. If that is larger where they saw suggestions, these pulled the decisions.
    confidence_level
        Level of the interval, between 0 and 1.

    Raises
    ------
    TableError
        A frame does not meet its contract, or `shown` is not indexed by unit_id.
    ArgumentError
        `confidence_level` is out of range.

    Notes
    -----
    Means over units; the variance of their difference by linearisation over participants, with Student's t.

    References
    ----------
    Cameron & Miller (2015), A practitioner's guide to cluster-robust inference, Journal of Human Resources
    50, 317–372.

    Examples
    --------
    >>> ids = [f"u{i}" for i in range(40)]
    >>> units = pd.DataFrame({"unit_id": ids, "case_id": [f"p{i % 10}" for i in range(40)]})
    >>> shown = pd.Series([i % 4 > 0 for i in range(40)], index=pd.Index(ids, name="unit_id"))
    >>> decisions = pd.DataFrame({"unit_id": ids, "coder": "ana", "code": "interest",
    ...                           "applied": [i % 2 == 0 for i in range(40)]})
    >>> effect(decisions, shown, units=units)[["measure", "shown", "withheld", "difference"]].round(2)
       measure  shown  withheld  difference
    0  applied   0.33       1.0       -0.67
    """
    check_arguments(effect, locals(), but=("shown",))
    if not 0 < confidence_level < 1:
        raise ArgumentError(
            f"effect: expected confidence_level between 0 and 1 – found {confidence_level!r} – use 0.95."
        )
    own = people(without_models(DECISIONS.check(decisions), function="effect")).sort_values(_KEY)
    ids = pd.Index(own["unit_id"].unique(), dtype="string")
    side = labels_by_unit(shown, ids, name="shown")
    if not side.dropna().isin([True, False]).all():
        raise TableError("shown: expected True or False by unit – found other values – True means shown.")
    groups = cast(pd.Series, clusters_by_unit(units, cluster))  # both are given
    alone = pd.Series(ids, index=ids)
    of_unit = groups.reindex(ids).astype("string").fillna("\0" + alone)
    rows = [
        {"code": code, "measure": measure}
        | _compared(values, side.reindex(values.index), of_unit.reindex(values.index), confidence_level)
        for measure, by_code in _measures(own, suggestions).items()
        for code, values in by_code.groupby(level="code", sort=False)
        for values in [values.droplevel("code")]
    ]
    return pd.DataFrame(rows, columns=list(EFFECT.columns))


def _measures(own: pd.DataFrame, suggestions: pd.DataFrame | None) -> dict[str, pd.Series]:
    """Return by measure its value of each code and unit."""
    unit = own.groupby(["code", "unit_id"])["applied"].agg(["sum", "size"])
    n, k = unit["size"].astype(float), unit["sum"].astype(float)
    several = n >= 2
    same = (k * (k - 1) + (n - k) * (n - k - 1)) / (n * (n - 1)).where(several)
    measures = {"applied": k / n, "between_coders": same[several]}
    if suggestions is not None:
        frame = SUGGESTIONS.check(suggestions)
        both = own.merge(frame[["unit_id", "code", "suggested"]], on=["unit_id", "code"])
        agreed = (both["applied"] == both["suggested"]).astype(float)
        measures["with_suggestion"] = agreed.groupby([both["code"], both["unit_id"]]).mean()
    return measures


def _compared(values: pd.Series, side: pd.Series, groups: pd.Series, level: float) -> dict[str, object]:
    known = side.notna()
    values, groups = values[known].astype(float), groups[known]
    with_them = side[known].astype(bool)
    means = [float(values[with_them].mean()), float(values[~with_them].mean())]
    clusters = [groups[with_them].nunique(), groups[~with_them].nunique()]
    row: dict[str, object] = {
        "shown": means[0],
        "withheld": means[1],
        "difference": means[0] - means[1],
        "low": np.nan,
        "high": np.nan,
        "n_shown": int(with_them.sum()),
        "n_withheld": int((~with_them).sum()),
        "n_clusters": int(groups.nunique()),
        "reason": None,
    }
    if min(clusters) < FEWEST_CLUSTERS:
        return row | {"reason": Reason.FEW_CLUSTERS if min(clusters) else Reason.NO_COMPARISON}
    from scipy import special

    away = np.where(
        with_them, (values - means[0]) / with_them.sum(), -(values - means[1]) / (~with_them).sum()
    )
    sums = pd.Series(away, index=groups.to_numpy()).groupby(level=0).sum()
    n = min(clusters)  # the smaller side carries the uncertainty
    error = np.sqrt(len(sums) / (len(sums) - 1) * (sums**2).sum() * n / (n - 1))
    half = special.stdtrit(n - 1, (1 + level) / 2) * error
    ends = np.clip([means[0] - means[1] - half, means[0] - means[1] + half], -1, 1)
    return row | {"low": float(ends[0]), "high": float(ends[1])}


def shown(acts: Iterable[Act]) -> pd.Series:
    """List the units that were due for suggestions: True if shown, False if withheld by chance.

    Parameters
    ----------
    acts
        The acts of the study, ``store.acts()``.

    Returns
    -------
    pandas.Series
        True or False by unit_id, for `effect`. True also if the model suggested nothing, because the coder
        saw that. Units that nobody finished while suggestions were on are left out.

    Examples
    --------
    >>> from sense7_qual.acts.contents import show_suggestions
    >>> from sense7_qual.codebook import Codebook
    >>> book = Codebook.read("sense7")
    >>> seen = [show_suggestions(coder="ana", unit_id=i, codebook=book, model="words", withheld=i == "m2")
    ...         for i in ("m1", "m2")]
    >>> shown(seen).to_dict()
    {'m1': True, 'm2': False}
    """
    check_arguments(shown, locals())
    by_unit: dict[str, bool] = {}
    for act, one in _readable(acts):
        unit_id = str(act.unit_id)
        by_unit[unit_id] = by_unit.get(unit_id, False) or not one.withheld
    return pd.Series(
        list(by_unit.values()),
        index=pd.Index(list(by_unit), dtype="string", name="unit_id"),
        name="shown",
        dtype=bool,
    )


@MADE_WHEN.returns
def made_when(acts: Iterable[Act]) -> pd.DataFrame:
    """List the codings as they are now, and whether each was made before, after or without suggestions.

    Parameters
    ----------
    acts
        The acts of the study, ``store.acts()``, with each coder's in the order of time.

    Notes
    -----
    A suggestion with withdrawn content counts as shown. A coding that was made before and moved or
    changed afterwards counts as after.
    """
    acts = read_once(acts)
    check_arguments(made_when, locals())
    every = list(acts)
    place = {act.act_id: at for at, act in enumerate(every)}
    first: dict[tuple[str, str], int] = {}
    for at, act in enumerate(every):
        if act.kind == "show_suggestions" and not (act.text and Suggested.from_text(act.text).withheld):
            first.setdefault((act.coder, str(act.unit_id)), at)
    rows = []
    for act in standing(every, subject="coding"):
        seen = first.get((act.coder, str(act.unit_id)))
        when = "without" if seen is None else "before" if place[act.act_id] < seen else "after"
        rows.append((act.act_id, act.unit_id, act.coder, act.code, "model" if is_model(act.coder) else when))
    return MADE_WHEN.frame(rows)


@MODEL_USES.returns
def model_uses(acts: Iterable[Act]) -> pd.DataFrame:
    """List the acts that show the use of a model, also if it was undone or its content withdrawn.

    Parameters
    ----------
    acts
        The acts of the study, ``store.acts()``.
    """
    check_arguments(model_uses, locals())
    used = ((act, _use(act)) for act in acts)
    return MODEL_USES.frame([(act.act_id, act.coder, act.unit_id, use) for act, use in used if use])


def _use(act: Act) -> str | None:
    """Return for what a model was used, if the act shows that one was."""
    if is_model(act.coder) or any(map(is_model, coders_named(act))):
        return "coding"
    if act.kind == "propose" and act.text and Proposal.from_text(act.text).origin:
        return "proposal"
    return act.traits.model_use or None


@ANSWERS.returns
def answers(acts: Iterable[Act]) -> pd.DataFrame:
    """List every suggestion shown to a coder, with the coder's answer.

    Parameters
    ----------
    acts
        The acts of the study, ``store.acts()``, with each coder's in the order of time.

    Examples
    --------
    >>> from sense7_qual.acts.contents import Suggestion, show_suggestions
    >>> from sense7_qual.acts import apply, finish
    >>> from sense7_qual.codebook import Codebook
    >>> mine = {"coder": "ana", "unit_id": "m1", "codebook": Codebook.read("sense7")}
    >>> done = [finish(**mine),
    ...         show_suggestions(**mine, model="words",
    ...                          suggestions=[Suggestion(code="interest", start=0, end=9)]),
    ...         apply(**mine, code="interest", start=0, end=5)]
    >>> answers(done)["answer"].tolist()
    ['edited']
    """
    check_arguments(answers, locals())
    by_text: dict[tuple[str, str | None, str | None], list[Act]] = {}
    for act in acts:
        by_text.setdefault((act.coder, act.unit_id, act.round), []).append(act)
    rows = [row for own in by_text.values() for row in _of_text(own)]
    frame = ANSWERS.frame(rows)
    return frame.sort_values(["coder", "shown_at"], kind="stable", ignore_index=True)


def _of_text(own: Sequence[Act]) -> list[dict[str, object]]:
    """Return the rows of one coder, unit and round."""
    first = next(_readable(own), None)
    if first is None or first[1].withheld:
        return []
    act, suggested = first
    at = next(place for place, one in enumerate(own) if one.act_id == act.act_id)
    had = {one.code for one in standing(own[:at], subject="coding")}
    now = standing(own)
    return [
        {
            "unit_id": act.unit_id,
            "coder": act.coder,
            "round": act.round,
            "code": one.code,
            "model": suggested.model,
            "probability": one.probability,
            "start": one.start,
            "end": one.end,
            "when": suggested.when,
            "shown_at": act.at,
            "before": one.code in had,
            "answer": _answer(one, now, had=one.code in had),
        }
        for one in suggested.suggestions
    ]


def _answer(suggestion: Suggestion, now: Iterable[Act], *, had: bool) -> str:
    """Return a coder's answer to a suggestion, from their current acts on the unit."""
    of_code = [act for act in now if act.code == suggestion.code]
    spans = [(act.start, act.end) for act in of_code if act.traits.subject == "coding"]
    if had:
        return "agreed" if spans else "withdrawn"
    if spans:
        return "accepted" if (suggestion.start, suggestion.end) in spans else "edited"
    return "rejected" if any(act.traits.subject == "rejection" for act in of_code) else "none"


def _readable(acts: Iterable[Act]) -> Iterator[tuple[Act, Suggested]]:
    """Yield the acts that showed suggestions, but for those that a withdrawal emptied."""
    for act in acts:
        if act.kind == "show_suggestions" and act.text is not None:
            yield act, Suggested.from_text(act.text)
