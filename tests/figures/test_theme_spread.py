from __future__ import annotations

import pandas as pd
import pytest

from sense7_qual import figures, themes
from sense7_qual.errors import ArgumentError, TableError
from tests.helpers.small_themes import frame, placed


def table() -> pd.DataFrame:
    """Return the spread of two themes: twelve participants under a, twelve under b, one without a value."""
    values = [*["a"] * 24, *["b"] * 24, None]
    units = frame(["x"] * 49).assign(case_id=[f"p{row // 2}" for row in range(49)], model=values)
    return themes.spread(placed(*[0] * 18, *[1] * 30, 0, labels=("slow", "kind")), units, by="model")


@pytest.mark.long
@pytest.mark.parametrize("columns", [1, 2])
def test_every_theme_and_value_is_drawn_and_in_the_words(columns: figures._figure.Columns) -> None:
    figure = figures.theme_spread(table(), columns=columns)
    words = figure.description
    assert words.startswith("Share of texts in the theme, with 95% CI, by model. a: slow .75 [.")
    assert "b: slow .00 [.00, " in words
    assert words.endswith("(missing): slow 1.00 no interval; kind .00 no interval.")
    drawn = figure.svg()
    assert all(
        name in drawn
        for name in ("slow", "kind", "(missing)", "too few participants", "all texts that have a value")
    )


def test_points_and_marks_stand_at_their_shares() -> None:
    scale = figures._panels.effect_scale("share", [0.75, 0.1], [0.9])
    assert (scale.place(0), scale.place(0.5), scale.none) == (0, 0.5, 0)
    assert [name for _, name in scale.ticks] == ["0", ".5"]
    tight = figures._panels.effect_scale("share", [0.01], [0.9])
    assert (tight.limit, tight.beyond(0.9), tight.place(0.05)) == (0.1, 1, 0.5)


def test_a_theme_without_terms_has_its_number() -> None:
    nameless = table().assign(label=pd.NA)
    assert "a: Theme 0 .75" in figures.theme_spread(nameless).description


def test_a_table_that_is_none_or_too_wide_is_refused() -> None:
    shares = table()
    with pytest.raises(TableError, match="share_low"):
        figures.theme_spread(shares.drop(columns="share_low"))
    with pytest.raises(TableError, match="found 1 columns, 6 rows twice"):
        figures.theme_spread(pd.concat([shares, shares]))
    with pytest.raises(TableError, match="found 2 columns"):
        figures.theme_spread(pd.concat([shares, shares.assign(by="turn", value="c")]))
    for column in ("share", "confidence_level"):
        with pytest.raises(TableError, match=f"expected numbers in '{column}'") as refused:
            figures.theme_spread(shares.assign(**{column: "it listened"}))
        assert "listened" not in str(refused.value)
    many = pd.concat([shares.iloc[:1].assign(value=str(value)) for value in range(9)])
    with pytest.raises(ArgumentError, match="at most 8 panels"):
        figures.theme_spread(many)
