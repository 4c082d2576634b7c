"""The card of a model that codes: agreement, accuracy and prevalence of each code, side by side."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

import pandas as pd

from sense7_qual import _present
from sense7_qual._arguments import check_arguments
from sense7_qual.codebook import Codebook
from sense7_qual.errors import TableError
from sense7_qual.figures._figure import Figure, basis_of, lettered, why_missing
from sense7_qual.figures._panels import EffectScale, PanelPoint, draw_panels, effect_scale
from sense7_qual.frames import require_column

_NAMES: Final = ("code", "model", "measure", "group", "value", "low", "high", "confidence_level", "reason")
_DRAWN: Final[Mapping[str, Mapping[str, tuple[str, str, float]]]] = {
    "Agreement": {
        "alpha_people": ("people, α", "circle", -13),
        "kappa_model": ("model and people, κ", "diamond", 0),
        "retest": ("model asked again, α", "square", 13),
    },
    "Against people": {
        "sensitivity": ("sensitivity", "circle", -7),
        "specificity": ("specificity", "diamond", 7),
    },
    "Prevalence": {
        "prevalence_people": ("people", "circle", -7),
        "prevalence_model": ("model", "triangle-right", 7),
    },
}
"""The measures of each panel, each with its name, its shape and its place down from the row's middle."""
_ARROWS: Final = {True: "triangle-right", False: "triangle-left"}


def model_card(card: pd.DataFrame, *, codebook: Codebook | None = None) -> Figure:
    """Draw the card of a model that codes, two columns wide (178 mm): one row per code, three panels.

    Agreement: alpha among people, cross-kappa of the model and people, and alpha of the model asked again.
    Against people: sensitivity and specificity. Prevalence: people's share of texts with the code, and the
    model's, which points away from it. A hollow point has no interval; a letter says why, or why there is no
    point. An interval that goes on beyond the panel ends in an arrow. What was not measured is left out.

    Parameters
    ----------
    card : DataFrame
        The result of `agreement.diagnosis.model_card` for one model.
    codebook : Codebook, optional
        Gives the labels and the order of the codes.

    Raises
    ------
    TableError
        A column is missing, there is not exactly one model, a measure comes twice for a code, or rows were
        computed with different levels.
    CodebookError
        A code is not in the codebook.

    Examples
    --------
    >>> from sense7_qual.agreement import MODEL_CARD
    >>> card = MODEL_CARD.example(
    ...     code="interest", model="model-a", measure=["sensitivity", "kappa_model"], value=[0.81, 0.6],
    ...     low=[0.7, None], high=[0.89, None], confidence_level=0.95, reason=[None, "few_clusters"])
    >>> for sentence in model_card(card).description.split(". ")[:3]:
    ...     print(sentence)
    model-a with 95% CI
    Agreement: interest model and people, κ .60 no interval
    Against people: interest sensitivity .81 [.70, .89]
    """
    check_arguments(model_card, locals())
    for name in _NAMES:
        require_column(card, name, frame_name="card")
    models = card["model"].astype(str).unique()
    drawn = card[card["group"].isna() | (card["measure"].eq("retest") & card["group"].eq("run"))]
    if len(models) != 1 or drawn.duplicated(["code", "measure"]).any():
        raise TableError(
            f"card: expected one model, and each measure once for a code – found {len(models)} models – pass "
            "one result of agreement.diagnosis.model_card."
        )
    codes = pd.DataFrame({"code": card["code"].astype("string").unique()})
    rows = _present.rows(codes, frame_name="card", codebook=codebook)
    records = [{str(name): value for name, value in row.items()} for row in drawn.to_dict("records")]
    cells = {(str(row["code"]), str(row["measure"])): row for row in records}
    points, lines = _points(cells, [str(row["code"]) for row in rows])
    interval = _present.interval_name(records, frame_name="card")
    return draw_panels(
        points,
        [str(row["label"]) for row in rows],
        list(_DRAWN),
        scale=[_scale(points, panel, name) for panel, name in enumerate(_DRAWN)],
        titles=(f"{models[0]}: {interval}", *lines),
        columns=2,
        words=f"{models[0]} with {interval}.",
        looks=_present.looks_of((str(row["code"]) for row in rows), codebook),
        keys=[
            {
                shape: name
                for measure, (name, shape, _) in measures.items()
                if measure in set(drawn["measure"])
            }
            for measures in _DRAWN.values()
        ],
        basis=basis_of(card),
    )


def _points(
    cells: Mapping[tuple[str, str], Mapping[Any, Any]], codes: list[str]
) -> tuple[list[PanelPoint], list[str]]:
    """Return the point of each measure of each code, and the lines that say what its letters mean."""
    points: list[PanelPoint] = []
    whys: list[str | None] = []
    for row, code in enumerate(codes):
        for panel, measures in enumerate(_DRAWN.values()):
            for measure, (name, shape, down) in measures.items():
                cell = cells.get((code, measure))
                if cell is None:
                    continue
                at, low, high = (
                    None if pd.isna(cell[key]) else float(cell[key]) for key in ("value", "low", "high")
                )
                point = PanelPoint(row, panel, at, low, high, "", name, shape, down)
                before = cells.get((code, "prevalence_people"), {}).get("value")
                if measure == "prevalence_model" and at is not None and not pd.isna(before):
                    people_down = _DRAWN["Prevalence"]["prevalence_people"][2]
                    point = replace(point, start=(float(before), people_down), shape=_ARROWS[at >= before])
                points.append(point)
                whys.append(why_missing(at, low, high, cell["reason"]))
    letters, lines = lettered(whys)
    return [replace(point, note=note) for point, note in zip(points, letters, strict=True)], lines


def _scale(points: list[PanelPoint], panel: int, title: str) -> EffectScale:
    """Return the scale of a panel: from 0 to 1, of agreement below 0 if any is, of prevalence no farther."""
    own = [point for point in points if point.panel == panel]
    values = [point.at for point in own if point.at is not None]
    ends = [end for point in own for end in (point.low, point.high) if end is not None]
    if title == "Prevalence":
        return effect_scale("share", values, ends)
    if min(values, default=0.0) < 0:
        return effect_scale("correlation", [1.0], [])
    return EffectScale("share", 1.0, ((0.0, "0"), (0.5, ".5"), (1.0, "1")))
