"""How often each code was applied, and how well the coders agree on it, of what a lead may see."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from sense7_qual._present import coefficient, percent
from sense7_qual.agreement import by_code
from sense7_qual.codebook import Codebook
from sense7_qual.codings import decisions, tally
from sense7_qual.widgets._codebook_seen import Seen, participants

__all__ = ["figures"]


def figures(seen: Seen, codebook: Codebook, units: pd.DataFrame) -> dict[str, dict[str, Any]]:
    """Return for each code of a version what is known of its use, by its id.

    Each has ``n``, the finished texts on which anybody applied it; ``prevalence``, the share of the decisions
    on it that apply it; ``alpha``, with its 95 % interval (participants resampled; texts, which is said,
    where one has no participant), of what was decided before a model's suggestions were shown, empty where it
    cannot be computed; ``n_both``, the texts on which two coders or more decided so.
    """
    decided = decisions(seen.codings, seen.coverage, codebook, revisions=seen.revisions)
    counts = tally(decided)
    applied = counts[counts["n_applied"] > 0].groupby("code")["unit_id"].nunique()
    sums = counts.groupby("code")[["n_applied", "n_coders"]].sum()
    shares = (sums["n_applied"] / sums["n_coders"]).to_dict()
    cluster = participants(units, decided["unit_id"])
    by: dict[str, Any] = {"units": units, "cluster": cluster} if cluster else {}
    before = seen.before_suggestions
    if seen.n_suggested:
        decided = decisions(before.codings, before.coverage, codebook, revisions=seen.revisions)
    agreed = by_code(decided, **by).set_index("code").to_dict("index")
    return {
        code.id: {
            "n": int(applied.get(code.id, 0)),
            "prevalence": f"{percent(shares[code.id])} %" if code.id in shares else "",
            "alpha": _alpha(agreed.get(code.id, {}), "" if cluster else ", texts resampled"),
            "n_both": int(agreed.get(code.id, {}).get("n_units", 0)),
        }
        for code in codebook.codable
    }


def _alpha(row: Mapping[Any, Any], resampled: str) -> str:
    alpha, low, high = (row.get(name, float("nan")) for name in ("alpha", "alpha_low", "alpha_high"))
    if pd.isna(alpha):
        return ""
    value = coefficient(alpha, 2)
    return value if pd.isna(low) else f"{value} ({coefficient(low, 2)}–{coefficient(high, 2)}{resampled})"
