"""Units and themes that are written down, for what is computed by hand."""

from __future__ import annotations

import pandas as pd

from sense7_qual import themes


def frame(texts: list[str]) -> pd.DataFrame:
    n = len(texts)
    return pd.DataFrame(
        {
            "unit_id": [f"u{row:03}" for row in range(n)],
            "text": texts,
            "document_id": "d",
            "case_id": [f"p{row % 8}" for row in range(n)],
            "position": range(n),
        }
    )


def placed(*theme_of: int, labels: tuple[str, ...] = ("slow", "kind")) -> themes.Themes:
    """Return themes of units u000 … as given, with what the comparison with a codebook reads."""
    numbers = range(len(labels))
    return themes.Themes(
        assignments=pd.DataFrame(
            {"unit_id": [f"u{row:03}" for row in range(len(theme_of))], "theme": theme_of}
        ),
        terms=pd.DataFrame(),
        summary=pd.DataFrame(
            {"theme": numbers, "label": labels, "n_units": [theme_of.count(theme) for theme in numbers]}
        ),
        quotes=pd.DataFrame(),
        parameters={},
    )


def to_record(theme_of: dict[str, int]) -> themes.Themes:
    """Return themes of these units (−1: of none) that `Store.record_themes` takes."""
    numbers = sorted(set(theme_of.values()) - {-1})
    return themes.Themes(
        assignments=pd.DataFrame(
            {
                "unit_id": list(theme_of),
                "theme": list(theme_of.values()),
                "similarity": 0.7,
                "coarse": 0,
                "sub": -1,
            }
        ),
        terms=pd.DataFrame(),
        summary=pd.DataFrame({"theme": numbers, "stability": 0.8, "dissolved": 0.0, "recovered": 0.9}),
        quotes=pd.DataFrame(),
        parameters={"seed": 0},
        hierarchy=pd.DataFrame({"level": "theme", "group": numbers, "stability": 0.8}),
    )
