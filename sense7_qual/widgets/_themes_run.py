"""A run of themes: its vectors, computed once, and what recording it would change."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from sense7_qual.themes import Themes

__all__ = ["Remembered", "foretold"]


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


class Remembered:
    """A model that remembers the vectors of the texts that it was given, as long as the widget lives.

    Attributes
    ----------
    embed : callable
        Texts to an array of vectors.
    """

    def __init__(self, embed: Callable[[list[str]], Any]) -> None:
        self._embed = embed
        self._lock = threading.Lock()
        self._vectors: dict[str, Any] = {}
        named = getattr(embed, "model_id", None) or getattr(embed, "__qualname__", type(embed).__qualname__)
        self.model_id = str(named)

    def __repr__(self) -> str:
        return f"Remembered({self.model_id}, {len(self._vectors)} texts)"

    def __call__(self, texts: list[str]) -> Any:
        """Return one vector per text."""
        with self._lock:
            new = [text for text in dict.fromkeys(texts) if text not in self._vectors]
            if new:
                vectors = np.asarray(self._embed(new), dtype=np.float32)
                if vectors.ndim != 2 or len(vectors) != len(new):
                    return vectors  # the caller says what is wrong with it
                self._vectors.update(zip(new, vectors, strict=True))
            return np.array([self._vectors[text] for text in texts])
