"""The power curve: a line per design, each number of participants at its power."""

from __future__ import annotations

import pandas as pd
import pytest

from sense7_qual import figures, links
from sense7_qual.errors import QualError, TableError
from tests.helpers.pictures import marks, parsed, texts


@pytest.fixture(scope="module")
def plans() -> pd.DataFrame:
    return pd.concat(
        links.power(
            participants=[20, 40, 80],
            units_per_participant=4,
            prevalence=0.3,
            icc=0.3,
            rank_biserial=size,
            n_simulations=50,
            seed=7,
        )
        for size in (0.1, 0.3)
    )


def test_points_stand_at_their_power_and_lines_are_named(plans: pd.DataFrame) -> None:
    figure = figures.power_curve(plans)
    points = sorted((x, y) for x, y, _ in marks(figure, "point"))
    assert len(points) == 6
    zero_x, per_x = points[0][0], (points[-1][0] - points[0][0]) / 60
    assert points[2][0] == pytest.approx(zero_x + 20 * per_x)
    found = plans.sort_values(["participants", "power"], ascending=[True, False])["power"].to_numpy()
    ys = [y for _, y in points]
    slope = (ys[-1] - ys[0]) / (found[-1] - found[0])
    assert ys == pytest.approx([ys[0] + slope * (power - found[0]) for power in found], abs=1e-4)
    assert {"r = .10", "r = .30"} <= set(texts(figure))
    assert "95% CI of 50 simulated" in "".join(parsed(figure).itertext())
    assert figure.description.startswith("Power by number of participants. r = .10: 20: ")
    assert len({e.get("fill") for _, _, e in marks(figure, "point")}) == 2
    assert len({e.get("d") for _, _, e in marks(figure, "point")}) == 2  # shapes differ as well


def test_one_line_has_no_name(plans: pd.DataFrame) -> None:
    one = plans[plans["rank_biserial"] == 0.3] if (plans["rank_biserial"] == 0.3).any() else plans.tail(3)
    assert not any("=" in text for text in texts(figures.power_curve(one)))


def test_refusals(plans: pd.DataFrame) -> None:
    with pytest.raises(TableError, match="each number of participants once"):
        figures.power_curve(pd.concat([plans, plans]))
    with pytest.raises(QualError, match="target above 0"):
        figures.power_curve(plans, target=80)
    with pytest.raises(QualError, match="at most 6 lines – found 7"):
        figures.power_curve(
            pd.concat([plans.head(3).assign(rank_biserial=number / 10) for number in range(1, 8)])
        )
