"""Studies made up of codes and ratings, with the effect that they have."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy import stats

from sense7_qual import links


def frames(
    applied: np.ndarray, rating: np.ndarray, case: np.ndarray, *, coder: str = "ana", code: str = "interest"
) -> tuple[pd.DataFrame, pd.DataFrame]:
    unit_ids = [f"u{i:04d}" for i in range(len(applied))]
    decisions = pd.DataFrame(
        {"unit_id": unit_ids, "coder": coder, "code": code, "applied": applied.astype(bool)}
    )
    return decisions, pd.DataFrame(
        {"unit_id": unit_ids, "empathy": rating, "case_id": [f"p{c}" for c in case]}
    )


def study(rng: np.random.Generator, *, participants: int = 40, shift: float = 0.0) -> tuple[np.ndarray, ...]:
    """Seven units a participant, ratings with ICC .4 in five levels, participants use the code unequally."""
    case = np.repeat(np.arange(participants), 7)
    n = len(case)
    applied = rng.random(n) < rng.beta(0.3, 0.7, participants)[case]
    latent = np.sqrt(0.4) * rng.standard_normal(participants)[case] + np.sqrt(0.6) * rng.standard_normal(n)
    rating = 1.0 + np.searchsorted(stats.norm.ppf([0.2, 0.4, 0.6, 0.8]), latent + shift * applied)
    return applied, rating, case


def link(decisions: pd.DataFrame, units: pd.DataFrame, **settings: object) -> pd.DataFrame:
    chosen = {"rating": "empathy", "cluster": "case_id", "n_boot": 200, "seed": 7, "odds_ratios": False}
    return links.code_to_rating(decisions, units, **{**chosen, **settings, "details": True})


def people(
    rng: np.random.Generator, *, error: float = 0.2, participants: int = 40, shift: float = 0.8
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Three coders who each get a fifth of the units wrong."""
    applied, rating, case = study(rng, participants=participants, shift=shift)
    _, units = frames(applied, rating, case)
    parts = [
        frames(applied ^ (rng.random(len(applied)) < error), rating, case, coder=coder)[0]
        for coder in ("ana", "ben", "cleo")
    ]
    return pd.concat(parts, ignore_index=True), units


def with_means(x: pd.DataFrame, groups: pd.Series) -> pd.DataFrame:
    """Return the columns and, where it varies, each one's mean in its group: Mundlak's form."""
    means = x.groupby(groups.to_numpy()).transform("mean").add_prefix("mean of ")
    within = (x.groupby(groups.to_numpy()).nunique() > 1).any()
    kept = [f"mean of {name}" for name in x if within[name] and means[f"mean of {name}"].nunique() > 1]
    return pd.concat([x, means[kept]], axis=1)
