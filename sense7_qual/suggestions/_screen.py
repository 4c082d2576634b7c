"""Which codes a model may decide on which texts, with a promise on its errors; the rest is for people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final, cast

import numpy as np
import numpy.typing as npt
import pandas as pd

from sense7_qual._arguments import check_arguments
from sense7_qual._basis import NOT_STATED
from sense7_qual._bootstrap import FEWEST_CLUSTERS
from sense7_qual._reasons import Reason
from sense7_qual._rests_on import rests_on
from sense7_qual.codebook import Codebook
from sense7_qual.errors import ArgumentError, TableError
from sense7_qual.frames import (
    DECISIONS,
    SUGGESTIONS,
    clusters_by_unit,
    people,
    require_column,
)
from sense7_qual.suggestions._features import check_codes, labels

Floats = npt.NDArray[np.float64]

#: Levels that are tried, in this order, with their shares of delta: absent up to …, present from ….
_ABSENT: Final = (0.01, 0.02, 0.03, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3)
_PRESENT: Final = (0.98, 0.95, 0.9, 0.8, 0.7)
#: Most of delta is for the levels at which promises are usually kept first; little for "present", of which
#: models are seldom sure enough.
_WEIGHTS: Final = (0.05, 0.1, 0.1, 0.25, 0.1, 0.2, 0.05, 0.025, 0.025, *[0.02] * len(_PRESENT))


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Screening:
    """What a model may decide, and what is left to people; made by `screen`. Neither codings nor decisions.

    Attributes
    ----------
    codes
        One row per codable code: `code`, `absent_up_to` and `present_from` (the highest probability decided
        absent, and the lowest decided present; missing if never), `n_sample`, `n_clusters` and `n_present`
        (units, participants and presences in the sample), `n_absent`, `n_decided_present`, `n_people` (units
        outside the sample by verdict), `false_absent`, `lost` and `false_present` (shares of errors in the
        sample at these levels, 0 … 1; missing if nothing was decided), `agreement` (of people on presence,
        0 … 1; missing with one coder), `reason` (why nothing is decided: not_decided, no_probabilities,
        few_clusters, code_never_applied, low_agreement, promise_not_kept).
    verdicts
        One row per code and unit without a decision: `unit_id`, `code`, `verdict` ("absent", "present",
        "people").
    parameters
        The settings, and the fingerprint of the codebook.
    basis
        Which decisions the sample rests on, in words.
    """

    codes: pd.DataFrame = field(repr=False)
    verdicts: pd.DataFrame = field(repr=False)
    parameters: dict[str, Any]
    basis: str = NOT_STATED

    def __repr__(self) -> str:
        """Say how many verdicts there are of each kind."""
        counted = self.verdicts["verdict"].value_counts()
        named = [f"{counted.get(kind, 0):,} {kind}" for kind in ("absent", "present")]
        verdicts = f"{', '.join(named)}, {counted.get('people', 0):,} for people"
        return f"Screening({verdicts}; {self.n_free:,} of {self.n_texts:,} texts need nobody)"

    @property
    def n_texts(self) -> int:
        """The number of texts outside the sample."""
        return int(self.verdicts["unit_id"].nunique())

    @property
    def n_free(self) -> int:
        """The number of those that nobody needs to read: no code of theirs is left to people.

        It can be 0 where many decisions are spared: a person who reads a text for one code has read it.
        """
        left = self.verdicts.loc[self.verdicts["verdict"] == "people", "unit_id"]
        return self.n_texts - int(left.nunique())


@rests_on("decisions")
def screen(
    suggestions: pd.DataFrame,
    decisions: pd.DataFrame,
    codebook: Codebook,
    *,
    units: pd.DataFrame,
    cluster: str = "case_id",
    false_share: float = 0.05,
    lost_share: float = 0.1,
    delta: float = 0.1,
    agreement: pd.DataFrame | None = None,
    least_agreement: float = 0.6,
    coder: str | None = None,
) -> Screening:
    """Let a model decide code by code only within guaranteed error limits, and leave the rest to people.

    Most verdicts are "absent", which spares people texts without a code. The guarantee, with probability 1 −
    `delta` for each code: of units decided absent at most `false_share` are present, of units decided present
    at most `false_share` are absent, and of all presences at most `lost_share` are decided absent. It is over
    studies like this one, a share 1 − `delta` of which keep it, not over the texts decided in this one.
    Overall error is not used, because a rare code meets 5 % if it is never found. The guarantee holds for
    participants like those of the sample, who were drawn at random; in a few remaining texts shares vary
    around it.

    Parameters
    ----------
    suggestions
        Probabilities for all units, including the sample, from a model that learned from none of their
        participants. With a column `learned` (from `Suggester`), its units are left to people.
    decisions
        People's decisions on the sample, made without seeing suggestions: all texts of participants drawn at
        random.
    codebook
        Its codable codes are screened.
    units, cluster
        The units, and the column of their participants.
    false_share, lost_share
        The limits, between 0 and 1.
    delta
        The probability that the guarantee for a code fails, between 0 and 1. For a guarantee on all codes
        together divide it by their number.
    agreement
        People's agreement: one row per code with `code` and `positive_agreement`, as `agreement.by_code`
        returns it. None: computed from the sample's units with several coders.
    least_agreement
        A code with less agreement on presence than this is left to people, 0 … 1: without agreement, error
        rates against people mean little.
    coder
        The coder to follow. None: the consensus, elsewhere the majority.

    Returns
    -------
    Screening

    Raises
    ------
    TableError, CodebookError
        A frame does not meet its contract; a decided unit has no suggestion or is not in `units`.
    ArgumentError
        A share is out of range.

    Notes
    -----
    The test is binomial with the effective number of units, given their clustering; the guarantee holds in
    simulated studies (benchmarks/suggestions_screen.md). Learn-then-test: for each of nine levels from .01 to
    .3 the hypothesis "an error is above its limit" is tested, and for five from .98 to .7 on the other side,
    in this order by the fallback procedure, so that the probability of any false rejection is at most
    `delta`.

    References
    ----------
    Angelopoulos, Bates, Candès, Jordan & Lei (2021), Learn then test: Calibrating predictive algorithms to
    achieve risk control, arXiv 2110.01052. Wiens (2003), Pharmaceutical Statistics 2, 211–215.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> ids = [f"u{i}" for i in range(1_000)]
    >>> units = pd.DataFrame({"unit_id": ids, "case_id": [f"p{i // 4}" for i in range(1_000)]})
    >>> chance = np.where(rng.random(1_000) < 0.8, 0.004, 0.8)
    >>> made = pd.DataFrame({"unit_id": ids, "code": "interest", "probability": chance, "suggested": False,
    ...                      "start": None, "end": None})
    >>> decisions = pd.DataFrame({"unit_id": ids, "coder": "ana", "code": "interest",
    ...                           "applied": rng.random(1_000) < chance}).head(500)
    >>> from sense7_qual.codebook import Code
    >>> book = Codebook(name="one", codes=(Code(id="interest", label="Interest"),))
    >>> screen(made, decisions, book, units=units)
    Screening(382 absent, 0 present, 118 for people; 382 of 500 texts need nobody)
    """
    check_arguments(screen, locals())
    _check_shares(
        false_share=false_share, lost_share=lost_share, delta=delta, least_agreement=least_agreement
    )
    rows = _rows(suggestions, decisions, codebook, units, cluster, coder)
    agreed = _agreement(agreement, decisions)
    limits = (false_share, lost_share, delta)
    made = []
    for code in codebook.codable:
        own = rows[rows["code"] == code.id]
        made.append(_of_code(own, code.id, limits, agreed.get(code.id, np.nan), least_agreement))
    left = pd.concat([verdicts for _, verdicts in made], ignore_index=True)
    settings = {
        "codebook": codebook.fingerprint,
        "false_share": false_share,
        "lost_share": lost_share,
        "delta": delta,
        "least_agreement": least_agreement,
        "coder": coder,
        "cluster": cluster,
    }
    return Screening(pd.DataFrame([row for row, _ in made]), left, settings)


def _check_shares(**shares: float) -> None:
    for name, value in shares.items():
        if not (0 <= value <= 1 if name == "least_agreement" else 0 < value < 1):
            raise ArgumentError(f"screen: expected {name} between 0 and 1 – found {value} – use 0.1.")


def _rows(
    suggestions: pd.DataFrame,
    decisions: pd.DataFrame,
    codebook: Codebook,
    units: pd.DataFrame,
    cluster: str,
    coder: str | None,
) -> pd.DataFrame:
    """Return unit_id, code, probability, group, `usable`, and `applied` (missing where nobody decided)."""
    made = SUGGESTIONS.check(suggestions)
    check_codes(made["code"], codebook, function="screen")
    labelled = labels(decisions, codebook, coder, function="screen")
    groups = cast(pd.Series, clusters_by_unit(units, cluster))  # both are given
    missing = made.loc[~made["unit_id"].isin(groups.index), "unit_id"].unique()
    if len(missing):
        raise TableError(
            f"screen: expected units with the suggestions' ids – found {len(missing)} that are not in units "
            "– pass all units that were suggested for."
        )
    pairs = labelled.merge(made[["unit_id", "code"]], how="left", indicator=True)
    alone = int((pairs["_merge"] != "both").sum())
    if alone:
        raise TableError(
            f"screen: expected a suggestion for every decision of the sample – found none for {alone} – let "
            "the model suggest for all units, of the sample too."
        )
    rows = made.merge(labelled, how="left", on=["unit_id", "code"])
    own = rows["unit_id"]
    rows["group"] = own.map(groups).astype("string").fillna("\0" + own)
    learned = rows["learned"].astype(bool) if "learned" in rows else False
    rows["usable"] = rows["probability"].notna() & ~pd.Series(learned, index=rows.index)
    rows["probability"] = rows["probability"].astype(float)
    return rows


def _agreement(agreement: pd.DataFrame | None, decisions: pd.DataFrame) -> dict[str, float]:
    if agreement is not None:
        for column in ("code", "positive_agreement"):
            require_column(agreement, column, frame_name="agreement")
        return dict(zip(agreement["code"], agreement["positive_agreement"].astype(float), strict=True))
    unit = people(DECISIONS.check(decisions)).groupby(["code", "unit_id"])["applied"].agg(["sum", "size"])
    unit = unit[unit["size"] > 1].astype(float)
    # Of the pairs in which one coder applied the code, how many in which the other one did too; each unit
    # counts as its coders, not as their pairs.
    both = (unit["sum"] * (unit["sum"] - 1) / (unit["size"] - 1)).groupby("code").sum()
    share = both / unit["sum"].groupby("code").sum()
    return {str(code): float(value) for code, value in share.items()}


def _of_code(
    own: pd.DataFrame, code: str, limits: tuple[float, float, float], agreed: float, least: float
) -> tuple[dict[str, Any], pd.DataFrame]:
    decided, rest = own[own["applied"].notna()], own[own["applied"].isna()]
    sample = decided[decided["usable"]]
    low, high, reason = np.nan, np.nan, _refused(sample, agreed, least)
    if reason is Reason.NOT_DECIDED and len(decided) and decided["probability"].isna().all():
        reason = Reason.NO_PROBABILITIES
    if reason is None:
        low, high = _levels(sample, limits)
        reason = Reason.PROMISE_NOT_KEPT if np.isnan(low) and np.isnan(high) else None
    chance, usable = rest["probability"].to_numpy(), rest["usable"].to_numpy(dtype=bool)
    settled = [usable & (chance <= low), usable & (chance >= high)]
    verdict = np.select(settled, ["absent", "present"], "people")
    row = {
        "code": code,
        "absent_up_to": low,
        "present_from": high,
        "n_sample": len(sample),
        "n_clusters": sample["group"].nunique(),
        "n_present": int(sample["applied"].astype(bool).sum()),
        "n_absent": int((verdict == "absent").sum()),
        "n_decided_present": int((verdict == "present").sum()),
        "n_people": int((verdict == "people").sum()),
        **_in_sample(sample, low, high),
        "agreement": agreed,
        "reason": reason,
    }
    return row, pd.DataFrame({"unit_id": rest["unit_id"], "code": code, "verdict": verdict})


def _refused(sample: pd.DataFrame, agreed: float, least: float) -> Reason | None:
    if agreed < least:
        return Reason.LOW_AGREEMENT
    if sample.empty:
        return Reason.NOT_DECIDED
    if not sample["applied"].astype(bool).any():
        return Reason.CODE_NEVER_APPLIED  # nothing says how many presences would be lost
    return Reason.FEW_CLUSTERS if sample["group"].nunique() < FEWEST_CLUSTERS else None


def _in_sample(sample: pd.DataFrame, low: float, high: float) -> dict[str, float]:
    chance, applied = sample["probability"].to_numpy(), sample["applied"].to_numpy(dtype=bool)
    out, there = chance <= low, chance >= high
    n = {"out": int(out.sum()), "there": int(there.sum()), "applied": int(applied.sum())}
    return {
        "false_absent": (out & applied).sum() / n["out"] if n["out"] else np.nan,
        "lost": (out & applied).sum() / n["applied"] if n["applied"] and not np.isnan(low) else np.nan,
        "false_present": (there & ~applied).sum() / n["there"] if n["there"] else np.nan,
    }


def _levels(sample: pd.DataFrame, limits: tuple[float, float, float]) -> tuple[float, float]:
    """Return the highest level up to which "absent" keeps the promise, and the lowest for "present"."""
    chance, applied = sample["probability"].to_numpy(), sample["applied"].to_numpy(dtype=bool)
    groups = np.unique(sample["group"].to_numpy(dtype=object).astype(str), return_inverse=True)[1]
    alike = likeness(applied - chance, groups)
    false, lost, delta = limits

    def p_value(wrong: npt.NDArray[np.bool_], of: npt.NDArray[np.bool_], limit: float) -> float:
        errors, counted = np.bincount(groups, wrong).astype(float), np.bincount(groups, of).astype(float)
        return binomial_p(errors, counted, limit, alike)

    p = []
    for level in _ABSENT:
        out = chance <= level
        p.append(max(p_value(out & applied, out, false), p_value(out & applied, applied, lost)))
    p += [p_value((chance >= level) & ~applied, chance >= level, false) for level in _PRESENT]
    kept = fallback(p, _WEIGHTS, delta)
    low = [level for level, fine in zip(_ABSENT, kept, strict=False) if fine]
    high = [level for level, fine in zip(_PRESENT, kept[len(_ABSENT) :], strict=True) if fine]
    return max(low, default=np.nan), min(high, default=np.nan)


def likeness(residual: Floats, groups: npt.NDArray[np.intp]) -> float:
    """Return the intraclass correlation of errors within participants, plus one standard error.

    Residuals are what was decided less the probability. The analysis of variance estimates the correlation;
    one standard error (Fisher's, for balanced groups) is added, because a small sample may miss it.
    """
    size = np.bincount(groups).astype(np.float64)
    size = size[size > 0]
    n, k = len(residual), len(size)
    if k < 2 or n <= k:
        return 1.0
    mean = np.bincount(groups, residual) / np.maximum(np.bincount(groups), 1)
    within = float(np.sum((residual - mean[groups]) ** 2)) / (n - k)
    present = np.bincount(groups) > 0
    between = float(np.sum(size * (mean[present] - residual.mean()) ** 2)) / (k - 1)
    usual = (n - float(np.sum(size**2)) / n) / (k - 1)
    total = between + (usual - 1) * within
    rho = (between - within) / total if total > 0 else 0.0
    rho = min(max(rho, 0.0), 1.0)
    error = (1 - rho) * (1 + (usual - 1) * rho) * np.sqrt(2 / (usual * (usual - 1) * (k - 1)))
    return float(min(rho + error, 1.0))


def binomial_p(errors: Floats, counted: Floats, limit: float, alike: float) -> float:
    """Return the p-value of "the share of errors is above `limit`", from errors and counts by participant.

    The exact binomial test with as many units as the counted ones are worth: their number divided by the
    design effect, the larger of the one that the errors show and the one that `alike` makes expect.

    References
    ----------
    Korn & Graubard (1998), Survey Methodology 24, 193–201; Kish (1965), Survey Sampling.

    Examples
    --------
    Without errors in 22 units of 22 participants, .9²² = .0985:

    >>> round(binomial_p(np.zeros(22), np.ones(22), 0.1, 0.0), 4)
    0.0985
    """
    from scipy import special

    n, share = counted.sum(), errors.sum() / max(counted.sum(), 1)
    if n == 0:
        return 1.0
    k = int((counted > 0).sum())
    seen = 1.0
    if 0 < share < 1 and k > 1:
        seen = float(np.sum((errors - share * counted) ** 2)) * k / (k - 1) / (n * share * (1 - share))
    expected = 1 + (np.sum(counted**2) / n - 1) * alike
    worth = n / max(seen, expected, 1.0)
    return float(special.betainc(worth * (1 - share), worth * share + 1, 1 - limit)) if share < 1 else 1.0


def fallback(p_values: Sequence[float], weights: Sequence[float], delta: float) -> list[bool]:
    """Test hypotheses, with a probability of at most `delta` of any false rejection.

    Tested in the given order: each has its share of `delta`, and hands what it had on when it is rejected.

    References
    ----------
    Wiens (2003), A fixed sequence Bonferroni procedure, Pharmaceutical Statistics 2, 211–215.

    Examples
    --------
    >>> fallback([0.2, 0.02, 0.04], [0.25, 0.25, 0.5], 0.1)
    [False, True, True]
    """
    rejected, carried = [], 0.0
    for p, weight in zip(p_values, weights, strict=True):
        level = delta * weight + carried
        rejected.append(p <= level)
        carried = level if rejected[-1] else 0.0
    return rejected
