from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from sense7_qual import links

REFERENCE = Path(__file__).parents[2] / "shared" / "data" / "agreement_reference.json"

# Randall (1989), The analysis of sensory data by generalised linear model, Biometrical Journal 31, 781–793:
# bitterness of wine by nine judges, of two bottles each from cold and warm pressing without and with contact
# of the skins (cold no, cold yes, warm no, warm yes).
WINE = """
2 3 3 4 4 4 5 5
1 2 1 3 2 3 5 4
2 3 3 2 5 5 4 4
3 2 3 2 3 2 5 3
2 3 4 3 3 3 3 3
3 2 3 2 2 4 5 4
1 1 2 2 2 3 2 3
2 2 2 3 3 3 3 4
1 2 3 2 3 2 4 4
"""


def wine() -> tuple[pd.Series, pd.DataFrame, pd.Series]:
    ratings = np.array([[int(level) for level in line.split()] for line in WINE.split("\n") if line])
    warm, contact = np.tile([0, 0, 0, 0, 1, 1, 1, 1], 9), np.tile([0, 0, 1, 1] * 2, 9)
    predictors = pd.DataFrame({"tempwarm": warm, "contactyes": contact})
    return pd.Series(ratings.ravel()), predictors, pd.Series(np.repeat(np.arange(1, 10), 8))


def fitted(**settings: Any) -> Any:
    rating, predictors, cluster = wine()
    return links.cumulative_mixed(rating, predictors, cluster=cluster, **settings)


# R ordinal::clmm(rating ~ temp + contact + (1 | judge), data = wine), with nAGQ = 1 and 10.
@pytest.mark.parametrize(
    ("quadrature", "temp", "contact", "variance", "log_likelihood", "errors"),
    [
        (1, 3.062997, 1.834885, 1.279461, -81.56541, (0.595376, 0.512529)),
        (10, 3.06190, 1.83343, 1.28774, -81.53246, (0.595076, 0.512171)),
    ],
)
def test_wine_as_in_r(
    quadrature: int, temp: float, contact: float, variance: float, log_likelihood: float, errors: Any
) -> None:
    model = fitted(quadrature=quadrature)
    assert model.coefficients["tempwarm"] == pytest.approx(temp, abs=1e-4)
    assert model.coefficients["contactyes"] == pytest.approx(contact, abs=1e-4)
    assert model.cluster_variance == pytest.approx(variance, abs=1e-4)
    assert model.log_likelihood == pytest.approx(log_likelihood, abs=1e-5)
    assert model.standard_errors.tolist() == pytest.approx(errors, abs=1e-4)
    assert (model.n, model.n_clusters, model.n_missing) == (72, 9, 0)
    assert model.converged
    assert model.gradient_norm < 1e-8
