"""What recording a run of themes would change, before it is recorded."""

from __future__ import annotations

from typing import Any

import pandas as pd

from sense7_qual.themes import Themes

__all__ = ["foretold"]


def foretold(themes: Themes, numbers: pd.DataFrame, labels: dict[int, str]) -> dict[str, Any]:
    """Return which themes keep their number, which are new and which end.

    `numbers` are as `themes.match_recorded` gives them, `labels` what the study's themes are called now, by
    number; a merged one is in none.
    """
    summary = themes.summary.set_index("theme")
    rows: list[dict[str, Any]] = []
    for row in numbers.to_dict("records"):
        ends, number = pd.isna(row["run_theme"]), int(row["theme"])
        ran: Any = None if ends else summary.loc[int(row["run_theme"])]
        rows.append(
            {
                "theme": number,
                "what": "ends" if ends else "new" if row["is_new"] else "stays",
                "label": labels.get(number, "") if ran is None else ran["label"],
                "before": labels.get(number, "") if ran is not None and not row["is_new"] else "",
                "n_units": 0 if ran is None else int(ran["n_units"]),
                "alike": None if pd.isna(row["jaccard"]) else round(100 * float(row["jaccard"])),
            }
        )
    counts = {what: sum(row["what"] == what for row in rows) for what in ("stays", "new", "ends")}
    return {
        "rows": rows,
        **counts,
        "n_units": len(themes.assignments),
        "n_nowhere": int((themes.assignments["theme"] < 0).sum()),
        "granularity": float(themes.parameters["granularity"]),
    }
