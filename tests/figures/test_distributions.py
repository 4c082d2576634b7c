"""Stacked bars: every piece is as wide as its share, with and without the code."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest

from sense7_qual import figures, links
from sense7_qual.errors import TableError
from tests.helpers.pictures import boxes, texts


def study(levels: int = 5, n: int = 200) -> tuple[pd.DataFrame, pd.DataFrame]:
    rng = np.random.default_rng(3)
    units = pd.DataFrame({"unit_id": [f"unit{i}" for i in range(n)], "stars": rng.integers(1, levels + 1, n)})
    decisions = pd.concat(
        pd.DataFrame({"unit_id": units["unit_id"], "coder": "ana", "code": code, "applied": applied})
        for code, applied in (("warm", rng.random(n) < 0.3), ("never", np.zeros(n, bool)))
    )
    return decisions, units


def widths(figure: figures.Figure) -> list[tuple[float, float, str]]:
    """The height on the page, width and colour of each piece."""
    return [(top, width, str(e.get("fill"))) for _, top, width, e in boxes(figure, "rect mark")]


def test_pieces_are_as_wide_as_their_shares() -> None:
    decisions, units = study()
    found = links.distributions(decisions, units, rating="stars")
    figure = figures.rating_distributions(found, source="ana")
    pieces = widths(figure)
    tops = sorted({top for top, _, _ in pieces})
    assert len(tops) == 3  # warm with and without, never without
    warm = found[(found["code"] == "warm") & found["applied"]].sort_values("level")
    first = [width for top, width, _ in pieces if top == tops[0]]
    assert np.array(first) / sum(first) == pytest.approx(warm["share"].to_numpy(dtype=float), abs=1e-3)
    colours = [colour for top, _, colour in pieces if top == tops[0]]
    assert len(set(colours)) == 5
    shown = texts(figure)
    assert f"with ({warm['n'].sum()})" in shown
    assert "with (0)" in shown
    assert [name for name in shown if re.fullmatch("[1-5]", name)] == ["1", "2", "3", "4", "5"]
    assert "never, with (0): none; without (200):" in figure.description
    assert "unit1" not in figure.svg()


def test_a_rating_of_many_levels_is_cut_into_classes_that_lose_nobody() -> None:
    decisions, units = study(levels=40)
    figure = figures.rating_distributions(links.distributions(decisions, units, rating="stars"), source="ana")
    assert len({colour for _, _, colour in widths(figure)}) == 7
    assert "1 to 6.57" in texts(figure)
    shares = re.search(r"without \(200\): (.*?)\. Basis", figure.description)
    assert shares is not None
    assert sum(float(share.split()[-1]) for share in shares[1].split(", ")) == pytest.approx(100, abs=0.5)


def test_pale_to_dark_also_in_print() -> None:
    decisions, units = study(levels=9)
    figure = figures.rating_distributions(links.distributions(decisions, units, rating="stars"), source="ana")
    colours = list(dict.fromkeys(colour for _, _, colour in widths(figure)))
    rgb = [[int(colour[at : at + 2], 16) for at in (1, 3, 5)] for colour in colours]
    grey = [0.299 * r + 0.587 * g + 0.114 * b for r, g, b in rgb]
    assert len(grey) == 9
    assert (np.diff(grey) < -8).all()


def test_refusals() -> None:
    decisions, units = study()
    found = links.distributions(decisions, units, rating="stars")
    with pytest.raises(TableError, match="did you mean 'ana'"):
        figures.rating_distributions(found, source="anna")
    with pytest.raises(TableError, match="several for 'warm', 'never'"):
        figures.rating_distributions(pd.concat([found] * 2), source="ana")
    with pytest.raises(TableError, match="'share'"):
        figures.rating_distributions(found.drop(columns="share"), source="ana")
