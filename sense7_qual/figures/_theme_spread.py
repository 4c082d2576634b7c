"""How themes are spread over conditions, ratings or turns: a panel for each, a row for each theme."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

import pandas as pd

from sense7_qual import _present
from sense7_qual._arguments import check_arguments
from sense7_qual.errors import TableError
from sense7_qual.figures._effect_axis import effect_scale
from sense7_qual.figures._figure import Columns, Figure, lettered
from sense7_qual.figures._panels import PanelPoint, draw_panels
from sense7_qual.frames import require_column

__all__ = ["theme_spread"]

_MOST: Final[Mapping[int, int]] = {1: 4, 2: 8}
_NUMBERS: Final = ("share", "share_low", "share_high", "overall_share", "confidence_level")
_MISSING: Final = "(missing)"


def theme_spread(spread: pd.DataFrame, *, columns: Columns = 2) -> Figure:
    """Draw each theme's share of the texts in each condition, at each rating, or in each turn.

    One row per theme, one panel per value, all on one scale; a short grey line is the theme's share of all
    texts. An interval that is very wide ends in an arrow at the edge of its panel. A hollow point has no
    interval; a letter says why.

    Parameters
    ----------
    spread : DataFrame
        The result of `themes.spread`, all themes or some.
    columns : {1, 2}
        Width on the page: one column (85 mm; up to four values) or two (178 mm; up to eight).

    Raises
    ------
    TableError
        A column is missing or holds no numbers, a theme has a value twice, rows are by several columns or
        were computed with different levels.
    ArgumentError
        `columns` is out of its range, or the values do not fit.

    Examples
    --------
    >>> result = pd.DataFrame({"theme": 0, "label": "slow", "by": "model", "value": ["new", "old"],
    ...     "share": [0.1, 0.3], "share_low": [0.04, 0.2], "share_high": [0.2, 0.4],
    ...     "overall_share": 0.2, "confidence_level": 0.95})
    >>> print(theme_spread(result).description)
    Share of texts in the theme, with 95% CI, by model. new: slow .10 [.04, .20]. old: slow .30 [.20, .40].
    """
    check_arguments(theme_spread, locals())
    rows, by = _checked(spread)
    themes = spread.drop_duplicates("theme")
    panels = list(dict.fromkeys(row["value"] for row in rows))
    panels.sort(key=lambda value: value == _MISSING)
    points, lines = _points(rows, list(themes["theme"]), panels)
    estimates = [point.at for point in points if point.at is not None]
    ends = [point.high for point in points if point.high is not None]
    overall = [spread.loc[spread["theme"] == theme, "overall_share"].max() for theme in themes["theme"]]
    interval = _present.interval_name(rows, frame_name="spread")
    with_value = " that have a value" if _MISSING in panels else ""
    title = f"Share of texts in the theme, with {interval}, by {by}"
    return draw_panels(
        points,
        [_label(row) for row in themes.to_dict("records")],
        panels,
        scale=effect_scale("share", estimates, ends),
        titles=(title, f"Grey line: of all texts{with_value}", *lines),
        columns=columns,
        words=f"{title}.",
        references=overall,
        most=_MOST,
    )


def _checked(spread: pd.DataFrame) -> tuple[list[dict[str, Any]], str]:
    """Return the rows with their value as it is printed, and the name of the column that they are by."""
    for name in ("theme", "label", "by", "value", *_NUMBERS):
        require_column(spread, name, frame_name="spread")
        if name in _NUMBERS and not pd.api.types.is_numeric_dtype(spread[name].dtype):
            raise TableError(
                f"spread: expected numbers in {name!r} – found {spread[name].dtype} – pass the result of "
                "`themes.spread`."
            )
    columns = spread["by"].unique()
    if len(columns) > 1 or spread.duplicated(["theme", "value"]).any():
        raise TableError(
            f"spread: expected one row per theme and value of one column – found {len(columns)} columns, "
            f"{int(spread.duplicated(['theme', 'value']).sum())} rows twice – draw them one at a time."
        )
    rows = [{str(name): value for name, value in row.items()} for row in spread.to_dict("records")]
    named = [row | {"value": _MISSING if pd.isna(row["value"]) else str(row["value"])} for row in rows]
    return named, str(columns[0]) if len(columns) else "nothing"


def _points(
    rows: list[dict[str, Any]], themes: list[Any], panels: list[str]
) -> tuple[list[PanelPoint], list[str]]:
    """Return the point of each theme and value, and the lines that say what its letters mean."""
    cells = {(row["theme"], row["value"]): row for row in rows}
    points: list[PanelPoint] = []
    whys: list[str | None] = []
    for place, theme in enumerate(themes):
        for panel, value in enumerate(panels):
            cell = cells.get((theme, value), {})
            at, low, high = (
                None if pd.isna(cell.get(name, None)) else float(cell[name]) for name in _NUMBERS[:3]
            )
            points.append(PanelPoint(place, panel, at, low, high, ""))
            few = "no interval: too few participants" if low is None or high is None else None
            whys.append("no texts" if at is None else few)
    letters, lines = lettered(whys)
    return [replace(point, note=note) for point, note in zip(points, letters, strict=True)], lines


def _label(row: Mapping[Any, Any]) -> str:
    return f"Theme {row['theme']}" if pd.isna(row["label"]) else str(row["label"])
