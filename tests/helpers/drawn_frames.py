"""Results as the figures draw them."""

from __future__ import annotations

import numpy as np
import pandas as pd

PAIRS = pd.DataFrame(
    {
        "code": "x",
        "coder_a": ["ana", "ana", "ben"],
        "coder_b": ["ben", "cleo", "cleo"],
        "alpha": [0.77, np.nan, -0.2],
        "kappa": [0.75, 0.5, 0.25],
        "percent": [0.9, 0.8, 1.0],
    }
)


DRIFT = pd.DataFrame(
    {
        "code": "x",
        "by": "round",
        "slice": ["third", "first", "second", "fourth"],
        "place": [3, 1, 2, 4],
        "n_units": [1200, 20, 60, 5],
        "alpha": [0.4, 0.5, np.nan, 0.8],
        "alpha_low": [-0.3, 0.2, np.nan, np.nan],
        "alpha_high": [0.9, 0.7, np.nan, np.nan],
        "confidence_level": 0.9,
    }
)


UNITS = pd.DataFrame(
    {
        "code": ["x"] * 4,
        "unit_id": ["m1", "m2", "m3", "m4"],
        "n_coders": [3, 3, 2, 4],
        "n_applied": [1, 3, 1, 2],
        "cost": [0.01, -0.02, 0.04, np.nan],
    }
)


CODES = ["a", "b", "c", "d"]


AGREEMENT = pd.DataFrame(
    {
        "code": CODES,
        "alpha": [0.82, -0.08, 0.4, np.nan],
        "alpha_low": [0.74, -0.21, np.nan, np.nan],
        "alpha_high": [0.89, 0.12, np.nan, np.nan],
        "confidence_level": 0.95,
    }
)


LINKS = pd.DataFrame(
    {
        "code": CODES,
        "source": "majority",
        "rank_biserial": [0.3, -0.25, 0.9, np.nan],
        "rank_biserial_low": [0.1, -0.4, np.nan, np.nan],
        "rank_biserial_high": [0.5, -0.1, np.nan, np.nan],
        "confidence_level": 0.95,
    }
)
