"""The figure of a model's card: every number at its place, and every gap with its reason."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest

from sense7_qual import figures
from sense7_qual.agreement import MODEL_CARD
from sense7_qual.codebook import Codebook
from sense7_qual.errors import TableError

MEASURES = [
    "alpha_people",
    "kappa_model",
    "retest",
    "sensitivity",
    "specificity",
    "prevalence_people",
    "prevalence_model",
]
VALUES = [0.8, 0.5, 0.9, 0.75, 0.95, 0.2, 0.3]


def elements(figure: figures.Figure) -> list[ElementTree.Element]:
    return list(ElementTree.fromstring(figure.svg()).iter())  # noqa: S314 – our own drawing


def points(figure: figures.Figure) -> list[tuple[float, str]]:
    """Return x and the shape of every point."""
    found = []
    for element in elements(figure):
        at = re.match(r"translate\(([-0-9.e]+),", element.get("transform", ""))
        if at and element.get("aria-roledescription") == "point":
            found.append((float(at[1]), str(element.get("d"))))
    return found


def texts(figure: figures.Figure) -> list[str]:
    return [element.text or "" for element in elements(figure) if element.tag.endswith("text")]


def card(code: str = "interest", values: list[float] = VALUES) -> pd.DataFrame:
    value = np.array(values)
    return MODEL_CARD.example(
        code=code,
        model="model-a",
        measure=MEASURES,
        group=[None, None, "run", *[None] * 4],
        value=value,
        low=value - 0.1,
        high=np.minimum(value + 0.1, 1),
        confidence_level=0.95,
        reason=[None if x == x else "no_variation" for x in values],
    )


def test_points_stand_at_their_numbers_and_the_arrow_points_to_the_model() -> None:
    figure = figures.model_card(card())
    keys, drawn = 7, points(figure)
    assert len(drawn) == keys + len(MEASURES)
    across = {round(value, 2): x for value, (x, _) in zip(VALUES, drawn, strict=False)}
    slope = (across[0.9] - across[0.5]) / 0.4  # of the first panel
    assert across[0.8] == pytest.approx(across[0.5] + 0.3 * slope, abs=0.01)
    assert across[0.95] - across[0.75] == pytest.approx(0.2 * slope, abs=0.01)
    assert across[0.3] > across[0.2]
    for printed in (".80 [.70, .90]", ".50 [.40, .60]", ".75 [.65, .85]", ".20 [.10, .30]", ".30 [.20, .40]"):
        assert printed in figure.description
    turned = figures.model_card(card(values=[*VALUES[:5], 0.3, 0.2]))
    assert points(figure)[6][1] != points(turned)[6][1]


def test_what_is_missing_has_a_letter_and_its_reason() -> None:
    figure = figures.model_card(card(values=[np.nan, np.nan, *VALUES[2:]]))
    assert texts(figure).count("a") == 2 * 2  # each with a white edge
    assert "a not computable: every decision was the same" in figure.svg()
    bare = figures.model_card(card()[lambda rows: rows["measure"] != "retest"])
    assert "asked again" not in bare.description + bare.svg()


def test_agreement_below_chance_is_drawn_left_of_zero() -> None:
    figure = figures.model_card(card(values=[0.8, -0.3, *VALUES[2:]]))
    assert "−.5" in texts(figure)


def test_codes_have_the_labels_and_lines_of_the_codebook() -> None:
    both = pd.concat([card("interest"), card("affective")])
    shown = figures.model_card(both, codebook=Codebook.read("sense7")).description
    assert shown.index("Affective Understanding") < shown.index("Interest")


def test_two_models_or_two_cards_are_refused() -> None:
    other = card().assign(model="model-b")
    with pytest.raises(TableError, match="found 2 models"):
        figures.model_card(pd.concat([card(), other]))
    with pytest.raises(TableError, match="each measure once"):
        figures.model_card(pd.concat([card(), card()]))
    with pytest.raises(TableError, match="group"):
        figures.model_card(card().drop(columns="group"))
