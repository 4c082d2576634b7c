from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from sense7_qual import figures
from sense7_qual.errors import TableError

TABLE = pd.DataFrame(
    {
        "granularity": [1.0, 0.5, 2.0],
        "n_themes": [9, 4, 15],
        "ari": [0.74, 0.61, np.nan],
        "ari_low": [0.7, 0.5, np.nan],
        "ari_high": [0.8, 0.7, np.nan],
        "ari_chance": [0.2, 0.3, np.nan],
        "chosen": [True, False, False],
    }
)


@pytest.mark.parametrize("columns", [1, 2])
def test_every_granularity_is_drawn_and_said(columns: figures._figure.Columns) -> None:
    figure = figures.granularity_plot(TABLE, columns=columns)
    assert figure.description == (
        "Adjusted Rand index between resamples by granularity. 0.5 (4 themes): .61; "
        "1 (9 themes, chosen): .74; 2 (15 themes): not resampled."
    )
    drawn = figure.svg()
    assert drawn.count("#1a3f66") >= 4
    assert "without groups" in drawn


def test_a_column_or_a_granularity_that_is_wrong_is_refused() -> None:
    with pytest.raises(TableError, match="n_themes"):
        figures.granularity_plot(TABLE.drop(columns="n_themes"))
    with pytest.raises(TableError, match="found one twice"):
        figures.granularity_plot(pd.concat([TABLE, TABLE]))
    with pytest.raises(TableError, match="expected numbers in 'ari' – found") as refused:
        figures.granularity_plot(TABLE.assign(ari="it listened"))
    assert "listened" not in str(refused.value)
