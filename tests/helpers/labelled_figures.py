"""Every figure, with a label of any letters wherever a name is drawn."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final, Literal

import numpy as np
import pandas as pd

from sense7_qual import figures
from sense7_qual.codebook import Code, Codebook

#: A label of each kind that ends, or is lost in, a drawing that does not expect it.
LABELS: Final[Mapping[str, str]] = {
    "emoji": "Warm 👍 reply",
    "joined": "A family 👩‍👩‍👧 and 👍🏽 🇩🇪",
    "ideographs": "漢字かな mixed 한국어",
    "arabic": "سلام عليكم",
    "devanagari": "हिन्दी में",
    "marks": "e\u0301ta\u0323\u0308z\u0335 o\u0302\u0301\u0323",
    "long": "Speaks of " + "a wide and momentous commitment to mammalian minimum norms and more " * 2,
    "one_word": "W" * 120,
}


def labelled(label: str, columns: Literal[1, 2]) -> dict[str, Callable[[], figures.Figure]]:
    """Return the calls that draw each figure, each name in it made of `label`."""
    names = [f"{label} {number}" for number in range(3)]
    book = Codebook(name="x", codes=tuple(Code(id=f"c{n}", label=name) for n, name in enumerate(names)))
    codes: dict[str, Any] = {"code": ["c0", "c1", "c2"], "confidence_level": 0.95, "reason": None}
    ends: dict[str, Any] = {"low": [0.1, -0.4, np.nan], "high": [0.5, -0.1, np.nan]}
    values: dict[str, Any] = {"estimate": [0.3, -0.25, 0.4], **ends}

    def named(name: str) -> dict[str, Any]:
        return {name: values["estimate"], **{f"{name}_{end}": of for end, of in ends.items()}}

    def each(column: str, **more: Any) -> pd.DataFrame:
        return pd.concat([pd.DataFrame({**codes, **more, column: name}) for name in names[:2]])

    pairs = {"coder_a": [names[0], names[0], names[1]], "coder_b": [names[1], names[2], names[2]]}
    slices = {"by": label, "slice": names, "place": [1, 2, 3], "n_units": 20}
    dimensions = each("dimension", source=label, own=False, **values)
    levels = {"code": "c0", "source": label, "applied": [True, True, False], "level": [4.0, 5.0, 4.0]}
    spread = {
        "theme": [0, 1],
        "label": names[:2],
        "by": label,
        "share": [0.1, 0.3],
        "share_low": [0.0, 0.2],
        "share_high": [0.2, 0.4],
        "overall_share": 0.2,
        "confidence_level": 0.95,
    }
    tree = pd.DataFrame(
        {
            "granularity": [0.5, 1.0],
            "n_themes": [4, 9],
            "ari": [0.6, 0.7],
            "ari_low": [0.5, 0.6],
            "ari_high": [0.7, 0.8],
            "ari_chance": [0.3, 0.2],
            "chosen": [False, True],
        }
    )
    power = pd.DataFrame(
        {
            "participants": [40, 80],
            "power": [0.5, 0.82],
            "standard_error": 0.01,
            "rank_biserial": 0.25,
            "odds_ratio": 2.9,
            "sensitivity": 1.0,
            "specificity": 1.0,
            "significance": 0.05,
            "n_simulations": 1000,
        }
    )
    f, of = figures, {"codebook": book, "columns": columns}
    one_code = {"code": "c0", "confidence_level": 0.95}
    return {
        "agreement_plot": partial(f.agreement_plot, pd.DataFrame(codes | named("alpha")), **of),
        "code_dimension_matrix": partial(f.code_dimension_matrix, dimensions, **of),
        "disruption_plot": partial(
            f.disruption_plot,
            each("contrast", cohens_d=[-0.6, 0.1, 0.2], d_low=ends["low"], d_high=ends["high"]),
            **of,
        ),
        "drift_plot": partial(
            f.drift_plot, pd.DataFrame(one_code | slices | named("alpha")), code="c0", **of
        ),
        "granularity_plot": partial(f.granularity_plot, tree, columns=columns),
        "link_forest": partial(
            f.link_forest, each("source", **named("rank_biserial")), effect="rank_biserial", **of
        ),
        "link_plot": partial(
            f.link_plot, pd.DataFrame(codes | {"source": label} | named("rank_biserial")), source=label, **of
        ),
        "model_card": partial(
            f.model_card,
            pd.concat(
                [
                    pd.DataFrame(
                        codes
                        | {
                            "model": f"model-{label}",
                            "measure": measure,
                            "group": None,
                            "value": [0.3, 0.9, 0.4],
                            "low": [0.1, 0.7, np.nan],
                            "high": [0.5, 1.0, np.nan],
                        }
                    )
                    for measure in ("sensitivity", "prevalence_people", "prevalence_model")
                ]
            ),
            codebook=book,
        ),
        "pairwise_plot": partial(
            f.pairwise_plot, pd.DataFrame(pairs | {"code": "c0", "alpha": [0.7, 0.5, 0.2]}), code="c0", **of
        ),
        "power_curve": partial(f.power_curve, power, columns=columns),
        "rating_distributions": partial(
            f.rating_distributions,
            pd.DataFrame(levels | {"n": 3, "share": [0.5, 0.5, 1.0]}),
            source=label,
            **of,
        ),
        "specification_curve": partial(
            f.specification_curve,
            pd.DataFrame(
                one_code
                | {
                    "source": names,
                    "analysis": "unadjusted",
                    "exclusion": names[::-1],
                    "effect": "rank_biserial",
                    "reason": None,
                }
                | values
            ),
            code="c0",
            effect="rank_biserial",
            **of,
        ),
        "theme_spread": partial(
            f.theme_spread,
            pd.concat([pd.DataFrame(spread | {"value": name}) for name in names[:2]]),
            columns=columns,
        ),
        "unit_plot": partial(
            f.unit_plot,
            pd.DataFrame(
                {"code": "c0", "unit_id": names, "n_coders": 3, "n_applied": 1, "cost": [0.02, 0.01, 0.004]}
            ),
            code="c0",
            **of,
        ),
    }
