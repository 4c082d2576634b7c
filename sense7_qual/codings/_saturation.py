"""Codes found in each participant, and the new codes to expect from further participants."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from sense7_qual._arguments import check_arguments, check_least
from sense7_qual._decisions import finish_order, of_round
from sense7_qual._messages import first_three
from sense7_qual._reasons import Reason
from sense7_qual.codings._results import DEVELOPMENT, NEW_INFORMATION, SATURATION
from sense7_qual.errors import ArgumentError, TableError
from sense7_qual.frames import clusters_by_unit, labels_by_unit, people, without_models

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Incidence:
    """Numbers of participants, and of codes that one, two, or any of them had."""

    n_clusters: int
    n_codes: int
    once: int
    twice: int


@DEVELOPMENT.returns
def development(
    codings: pd.DataFrame,
    units: pd.DataFrame,
    *,
    cluster: str,
    coverage: pd.DataFrame,
    codes: Sequence[str] | None = None,
    order: Sequence[str] | None = None,
) -> pd.DataFrame:
    """Count the codes applied so far after each participant, in the order of coding.

    Use it to show how the codes accumulate over participants. A flat end does not show that nothing new would
    come: `saturation` estimates how much could.

    Parameters
    ----------
    codings : DataFrame
        As `Store.codings` returns them; if the codebook was revised, `carried` over to its last version.
        Codings on units that their coder has not finished are left out, and so are those of models.
    units : DataFrame
        One row per unit: unit_id and the column `cluster`.
    cluster : str
        The column of `units` with the participant of each unit, such as "case_id".
    coverage : DataFrame
        As `Store.coverage` returns it. A participant counts as soon as a coder has finished one of their
        units, with or without a code.
    codes : sequence of str, optional
        The codes that count, such as those that emerged (`codebook.emerged`); by default every applied code.
    order : sequence of str, optional
        The participants in the order of coding. By default by when their first unit was first finished
        (`finish_order`).

    Raises
    ------
    TableError
        A frame breaks its contract, a finished unit has no participant, or, without `order`, no time at which
        it was finished.
    ArgumentError
        `order` lacks a participant with finished units.

    Examples
    --------
    >>> units = pd.DataFrame({"unit_id": ["m1", "m2", "m3"], "case_id": ["p1", "p1", "p2"]})
    >>> coverage = pd.DataFrame({"unit_id": ["m1", "m2", "m3"], "coder": "ana", "round": None,
    ...                          "finished_at": ["2026-02-03", "2026-02-04", "2026-02-05"], "codebook": None})
    >>> codings = pd.DataFrame({
    ...     "unit_id": ["m1", "m3", "m3"], "coder": "ana", "code": ["hope", "hope", "doubt"], "start": None,
    ...     "end": None, "round": None, "confidence": None, "found_by": None, "act_id": ["1", "2", "3"],
    ...     "at": None, "codebook": None})
    >>> result = development(codings, units, cluster="case_id", coverage=coverage)
    >>> result[["n_codes", "n_new"]].values.tolist()
    [[1, 1], [2, 1]]
    """
    check_arguments(development, locals())
    applied, finished = by_participant(codings, units, cluster, coverage, function="development")
    names = _in_order(finished, coverage) if order is None else _as_given(order, finished)
    if codes is not None:
        applied = applied[applied["code"].isin(list(codes))]
    codes_of = {name: set(part["code"]) for name, part in applied.groupby("cluster")}
    n_units = finished.groupby("cluster")["unit_id"].nunique()
    seen: set[str] = set()
    rows = []
    for place, name in enumerate(names, start=1):
        new = codes_of.get(name, set()) - seen
        seen |= new
        rows.append((place, name, n_units[name], len(seen), len(new), ", ".join(sorted(new))))
    return DEVELOPMENT.frame(rows)


@SATURATION.returns
def saturation(
    codings: pd.DataFrame,
    units: pd.DataFrame,
    *,
    cluster: str,
    emerged: Sequence[str],
    coverage: pd.DataFrame,
    more: Sequence[int] = (1, 5, 10),
    confidence_level: float = 0.95,
) -> pd.DataFrame:
    """Estimate the number of new codes in further participants, from how rare the codes so far are.

    Use it to decide whether further participants are worth coding, and to report how complete the codes were.
    Codes from before coding do not count: that theory foresaw them is no evidence of what the texts still
    contain. "Nothing new in the last three interviews" is no answer either: it occurs early by chance
    (benchmarks/saturation.md).

    Parameters
    ----------
    codings, units, cluster, coverage
        As for `development`. Texts finished before a code emerged must be reviewed for it; otherwise the code
        counts as absent there, and saturation looks farther away than it is.
    emerged : sequence of str
        The ids of the codes that emerged from the texts (`codebook.emerged`): those that count.
    more : sequence of int
        Numbers of further participants, each 1 or more. For more than there are already, a projection is
        hardly better than a guess.
    confidence_level : float
        Level of the intervals, between 0 and 1.

    Raises
    ------
    TableError
        A frame breaks its contract, or a finished unit has no participant.
    ArgumentError
        `emerged` is empty (a codebook fixed before coding cannot become saturated), or `more` or
        `confidence_level` is out of its range.

    Notes
    -----
    Of T participants Q₁ codes were found in one alone, Q₂ in two. The total is Chao2 (Chao 1987), S + Q₀ with
    Q₀ = (T − 1) / T · Q₁² / (2 Q₂), or (T − 1) / T · Q₁ (Q₁ − 1) / 2 where Q₂ = 0; its variance is Chao's,
    `total_at_least` the lower end of his interval on the scale of log Q₀, rounded down. In simulated studies
    the total was that or more in 93 % or more of them, while Chao's whole interval held it in as few as 0 %
    (benchmarks/saturation.md): Chao2 is a lower bound, and its upper end is not a bound. The new codes of k
    more participants are Q₀ (1 − (1 − Q₁ / (Q₁ + T Q₀))ᵏ) (Colwell et al. 2012, equation 18; k = 1 is almost
    Good and Turing's Q₁ / T).

    The interval does not use Chao's variance, which is 0 where Q₁ is. Q₁ is a count of rare events, one a
    code, so that Poisson's exact interval for its expectation λ (Garwood 1936) is, if anything, too wide. The
    next participant has at most λ / T new codes, k have at most k times as many, and at least as many as
    codes as common as in Chao2 would give. In simulated studies with 20 to 200 participants and 5 to 40 codes
    of unequal frequency the interval held the expectation in 96 % or more, of rare codes that come together
    in 94 % or more, except for 40 of them in 20 participants (92 %); the interval from Chao's variance in as
    few as 6 % (benchmarks/saturation.md). It is wide for many more participants, because its upper end
    assumes that all unseen codes are rare.

    References
    ----------
    Good (1953), The population frequencies of species and the estimation of population parameters, Biometrika
    40, 237–264. Chao (1987), Estimating the population size for capture-recapture data with unequal
    catchability, Biometrics 43, 783–791. Colwell, Chao, Gotelli, Lin, Mao, Chazdon & Longino (2012), Models
    and estimators linking individual-based and sample-based rarefaction, extrapolation and comparison of
    assemblages, Journal of Plant Ecology 5, 3–21. Garwood (1936), Fiducial limits for the Poisson
    distribution, Biometrika 28, 437–442.

    Examples
    --------
    Five participants; three codes were found in one of them alone, one in two:

    >>> having = {"p1": "hope", "p2": "hope doubt", "p3": "hope trust", "p4": "trust fear", "p5": "hope joy"}
    >>> units = pd.DataFrame({"unit_id": list(having), "case_id": list(having)})
    >>> coverage = pd.DataFrame({"unit_id": list(having), "coder": "ana", "round": None,
    ...                          "finished_at": None, "codebook": None})
    >>> codings = pd.DataFrame([(unit, code) for unit, codes in having.items() for code in codes.split()],
    ...                        columns=["unit_id", "code"])
    >>> codings = codings.assign(coder="ana", start=None, end=None, round=None, confidence=None,
    ...                          found_by=None, act_id=None, at=None, codebook=None)
    >>> result = saturation(codings, units, cluster="case_id", coverage=coverage, more=[1],
    ...                     emerged=["hope", "doubt", "trust", "fear", "joy"])
    >>> result[["n_codes", "n_once", "n_twice", "new_codes", "total"]].round(2).values.tolist()
    [[5.0, 3.0, 1.0, 0.51, 8.6]]
    """
    check_arguments(saturation, locals())
    _check(emerged, more, confidence_level)
    applied, finished = by_participant(codings, units, cluster, coverage, function="saturation")
    counted = applied[applied["code"].isin(list(emerged))].drop_duplicates(["cluster", "code"])
    times = counted["code"].value_counts()
    incidence = Incidence(
        int(finished["cluster"].nunique()), len(times), int((times == 1).sum()), int((times == 2).sum())
    )
    total, _, low = total_codes(incidence, confidence_level=confidence_level)
    at_least = pd.NA if math.isnan(low) else math.floor(low)
    counts = (incidence.n_clusters, incidence.n_codes, incidence.once, incidence.twice)
    of_total = (total, at_least, confidence_level, _reason(incidence))
    rows = [
        (k, *new_codes(incidence, k, confidence_level=confidence_level), *counts, *of_total) for k in more
    ]
    return SATURATION.frame(rows)


def new_codes(incidence: Incidence, k: int, *, confidence_level: float) -> tuple[float, float, float]:
    """Return the expected number of new codes in k more participants, with the ends of its interval."""
    from scipy import special

    n, once = incidence.n_clusters, incidence.once
    if n < 2:
        return math.nan, math.nan, math.nan
    tail = (1 - confidence_level) / 2
    high = k * float(special.gammaincinv(once + 1, 1 - tail)) / n
    if not once:
        return 0.0, 0.0, high
    hit = once / (once + n * _unseen(incidence))
    # What each code found once stands for: Good and Turing's 1 / n for the next one, fewer each time.
    each = (1 - hit) * (1 - (1 - hit) ** k) / hit / n
    return once * each, float(special.gammaincinv(once, tail)) * each, high


def total_codes(incidence: Incidence, *, confidence_level: float) -> tuple[float, float, float]:
    """Return Chao2: the total, its standard error, and the lower end of its interval."""
    from scipy import special

    n, once, twice = incidence.n_clusters, incidence.once, incidence.twice
    if n < 2 or not once:
        return (float(incidence.n_codes) if n >= 2 else math.nan), math.nan, math.nan
    unseen, share = _unseen(incidence), (n - 1) / n
    if twice:
        r = once / twice
        variance = twice * (share / 2 * r**2 + share**2 * r**3 + share**2 / 4 * r**4)
    else:
        total = incidence.n_codes + unseen
        variance = share * once * (once - 1) / 2 + share**2 * once * (2 * once - 1) ** 2 / 4
        variance -= share**2 * once**4 / (4 * total)
    error = math.sqrt(variance)
    if not unseen:
        return float(incidence.n_codes), error, math.nan
    z = float(special.ndtri((1 + confidence_level) / 2))
    factor = math.exp(z * math.sqrt(math.log1p(variance / unseen**2)))
    return incidence.n_codes + unseen, error, incidence.n_codes + unseen / factor


def _unseen(incidence: Incidence) -> float:
    """Return the smallest number of codes that nobody had so far (Chao2)."""
    once, twice, share = incidence.once, incidence.twice, (incidence.n_clusters - 1) / incidence.n_clusters
    return share * (once**2 / (2 * twice) if twice else once * (once - 1) / 2)


def _reason(incidence: Incidence) -> str | None:
    if incidence.n_clusters < 2:
        return Reason.FEW_CLUSTERS
    if not incidence.n_codes:
        return Reason.CODE_NEVER_APPLIED
    return None if incidence.once else Reason.NONE_FOUND_ONCE


def by_participant(
    codings: pd.DataFrame, units: pd.DataFrame, cluster: str, coverage: pd.DataFrame, *, function: str
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the codings and the coverage of finished units, each with its participant as `cluster`.

    Those of models are left out, with a warning in the name of `function`.
    """
    applied, finished = of_round(codings, coverage)
    applied, finished = people(applied), people(without_models(finished, function=function))
    labels = clusters_by_unit(units, cluster)
    if labels is None:
        raise TableError("units: expected units with their participants – found none – pass both.")
    if not len(finished):
        return applied.assign(cluster=""), finished.assign(cluster="")
    ids = pd.Index(finished["unit_id"].unique())
    known = labels_by_unit(labels, ids, name="cluster").astype("string")
    missing = known.index[known.isna()]
    if len(missing):
        raise TableError(
            f"units: expected a value in {cluster!r} for every finished unit – found none for "
            f"{first_three(missing)} – fill it in, or leave these units out of the coverage."
        )
    return (
        applied.assign(cluster=known.reindex(applied["unit_id"]).to_numpy()),
        finished.assign(cluster=known.reindex(finished["unit_id"]).to_numpy()),
    )


def _in_order(finished: pd.DataFrame, coverage: pd.DataFrame) -> list[str]:
    """Return the participants in the order in which their first units were first finished."""
    of_unit = finished.drop_duplicates("unit_id").set_index("unit_id")["cluster"].astype(str)
    at = finish_order(people(coverage)).groupby("unit_id")["at"].min().reindex(of_unit.index)
    unknown = at.index[at.isna()]
    if len(unknown):
        raise TableError(
            f"coverage: expected finished_at as ISO 8601 for every finished unit – found none for "
            f"{first_three(unknown)} – name the participants in `order` instead."
        )
    first = at.groupby(of_unit).min().rename_axis("cluster").rename("at").reset_index()
    return [str(name) for name in first.sort_values(["at", "cluster"])["cluster"]]


def _as_given(order: Sequence[str], finished: pd.DataFrame) -> list[str]:
    names, known = list(dict.fromkeys(str(one).strip() for one in order)), set(finished["cluster"])
    missing = sorted(known - set(names))
    if missing:
        raise ArgumentError(
            f"development: expected every participant with finished units in `order` – found none of "
            f"{first_three(missing)} – name all of them, or leave out `order`."
        )
    return [name for name in names if name in known]


def _check(emerged: Sequence[str], more: Sequence[int], confidence_level: float) -> None:
    if not len(emerged):
        raise ArgumentError(
            "saturation: expected the ids of codes that emerged from the texts – found none – a codebook "
            "that was fixed before coding cannot become saturated; `development` shows how its codes came."
        )
    if not len(more) or min(more) < 1:
        raise ArgumentError(
            f"saturation: expected more to be whole numbers from 1 – found {list(more)!r} – say how many "
            "further participants you think of: more=[1, 5, 10]."
        )
    if not 0 < confidence_level < 1:
        raise ArgumentError(
            f"saturation: expected confidence_level between 0 and 1 – found {confidence_level!r} – 0.95 is "
            "usual."
        )


@NEW_INFORMATION.returns
def new_information(
    codings: pd.DataFrame,
    units: pd.DataFrame,
    *,
    cluster: str,
    coverage: pd.DataFrame,
    codes: Sequence[str] | None = None,
    order: Sequence[str] | None = None,
    base_size: int = 4,
    run_length: int = 2,
    threshold: float = 0.05,
    n_orders: int = 1000,
    seed: int = 0,
) -> pd.DataFrame:
    """Count the new codes in each run of participants, relative to those of the first participants.

    Use it where a journal asks for saturation as Guest, Namey and Chen (2020) report it: "at most 5 % new
    information was reached at participant 6⁺²". It depends much on the order of coding: report the band over
    other orders (`ratio_low`, `ratio_high`) and the share of them that reached it by then (`share_reached`).
    A run without new codes occurs early by chance; `saturation` estimates the codes still to come.

    Parameters
    ----------
    codings, units, cluster, coverage, codes, order
        As for `development`. Pass as `codes` those that emerged from the texts (`codebook.emerged`).
    base_size : int
        Number of first participants to compare with, 1 or more; 4, 5 or 6 are usual.
    run_length : int
        Number of successive participants in a run, 1 or more; 2 or 3 are usual.
    threshold : float
        The highest share of new codes that counts as saturation, 0 to 1; .05 and 0 are usual.
    n_orders : int
        Number of random orders of the participants for the band.
    seed : int
        The same seed gives the same orders.

    Raises
    ------
    TableError
        As for `development`.
    ArgumentError
        A setting is out of its range.

    Notes
    -----
    Runs overlap: the first begins right after the base, the next one participant later. The new codes of a
    run are the sum of those of its participants. Saturation at place 6 with runs of two is written 6⁺²: six
    participants, and two more to see that it had been reached.

    References
    ----------
    Guest, Namey & Chen (2020), A simple method to assess and report thematic saturation in qualitative
    research, PLoS ONE 15(5), e0232076.

    Examples
    --------
    The first four participants have three codes; of the next two, one brings a fourth:

    >>> having = {"p1": "hope doubt", "p2": "hope", "p3": "trust", "p4": "doubt", "p5": "fear", "p6": "hope",
    ...           "p7": "trust"}
    >>> units = pd.DataFrame({"unit_id": list(having), "case_id": list(having)})
    >>> coverage = pd.DataFrame({"unit_id": list(having), "coder": "ana", "round": None,
    ...                          "finished_at": [f"2026-02-0{i}" for i in range(1, 8)], "codebook": None})
    >>> codings = pd.DataFrame([(unit, code) for unit, codes in having.items() for code in codes.split()],
    ...                        columns=["unit_id", "code"])
    >>> codings = codings.assign(coder="ana", start=None, end=None, round=None, confidence=None,
    ...                          found_by=None, act_id=None, at=None, codebook=None)
    >>> result = new_information(codings, units, cluster="case_id", coverage=coverage, n_orders=50)
    >>> result[["place", "n_base", "n_new", "ratio", "reached"]].round(2).values.tolist()
    [[4, 3, 1, 0.33, False], [5, 3, 0, 0.0, True]]
    """
    check_arguments(new_information, locals())
    check_least(new_information, 1, base_size=base_size, run_length=run_length, n_orders=n_orders)
    check_least(new_information, 0, seed=seed)
    if not 0 <= threshold <= 1:
        raise ArgumentError(
            f"new_information: expected threshold from 0 to 1 – found {threshold!r} – 0.05 is usual."
        )
    coded = development(codings, units, cluster=cluster, coverage=coverage, codes=codes, order=order)
    first, n = coded["n_new"].to_numpy(dtype=np.float64), len(coded)
    if n < base_size + run_length:
        return NEW_INFORMATION.empty()
    applied, _ = by_participant(codings, units, cluster, coverage, function="development")
    counted = applied if codes is None else applied[applied["code"].isin(list(codes))]
    having = _having(counted, coded["cluster"].tolist())
    rng = np.random.default_rng(seed)
    shuffled = np.stack([_found_at(having[rng.permutation(n)]) for _ in range(n_orders)])
    own, n_new = _ratios(first[None], base_size, run_length)
    others, _ = _ratios(shuffled, base_size, run_length)
    settings = {"run_length": run_length, "threshold": threshold, "n_orders": n_orders, "seed": seed}
    rows = {
        "place": np.arange(base_size, n - run_length + 1),
        "n_base": int(first[:base_size].sum()),
        "n_new": n_new[0],
        "ratio": own[0],
        **_band(others),
        "reached": _reached(own, threshold)[0],
        "share_reached": _reached(others, threshold).mean(axis=0),
        **settings,
        "reason": Reason.CODE_NEVER_APPLIED if np.isnan(own[0, 0]) else None,
    }
    return NEW_INFORMATION.frame(pd.DataFrame(rows))


def _having(applied: pd.DataFrame, names: list[str]) -> npt.NDArray[np.bool_]:
    """Return the codes of each participant as truth values (participants, codes), in the order of `names`."""
    table = pd.crosstab(applied["cluster"].astype("string"), applied["code"].astype("string"))
    found: npt.NDArray[np.bool_] = table.reindex(names, fill_value=0).to_numpy() > 0
    return found


def _found_at(having: npt.NDArray[np.bool_]) -> Floats:
    """Count the codes that each participant was the first to have, in this order."""
    places = having[:, having.any(axis=0)].argmax(axis=0)
    return np.bincount(places, minlength=len(having)).astype(np.float64)


def _ratios(new: Floats, base_size: int, run_length: int) -> tuple[Floats, Any]:
    """Return the ratio of each run in each order, and how many codes were new in it."""
    base = new[:, :base_size].sum(axis=1, keepdims=True)
    runs = np.lib.stride_tricks.sliding_window_view(new[:, base_size:], run_length, axis=1).sum(axis=2)
    return np.where(base > 0, runs / np.where(base > 0, base, 1), np.nan), runs.astype(np.int64)


def _reached(ratios: Floats, threshold: float) -> npt.NDArray[np.bool_]:
    return np.logical_or.accumulate(ratios <= threshold, axis=1)  # a missing ratio reaches nothing


def _band(ratios: Floats) -> dict[str, Floats]:
    known = ratios[~np.isnan(ratios[:, 0])]
    if not len(known):
        return {name: np.full(ratios.shape[1], np.nan) for name in ("ratio_low", "ratio_high")}
    low, high = np.quantile(known, (0.025, 0.975), axis=0)
    return {"ratio_low": low, "ratio_high": high}
