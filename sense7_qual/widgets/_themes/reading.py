"""What the themes widget shows: the themes of the study, how they are covered, and what a run changes."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, Final

import numpy as np
import pandas as pd

from sense7_qual import themes as models
from sense7_qual.acts import Act
from sense7_qual.errors import QualError, TableError
from sense7_qual.themes import Themes
from sense7_qual.widgets._lead_view import Board

__all__ = ["Reading", "Remembered", "foretold"]

_PAGE: Final = 5
_TERMS: Final = 10


class Reading:
    """The themes of a study as they stand, with what `viewer` may see of the coding.

    Attributes
    ----------
    board : Board
        What may be seen.
    """

    def __init__(self, board: Board) -> None:
        self.board, self.acts, self.units = board, board.acts, board.units
        self.themes: Themes | None = None
        if any(act.traits.subject == "themes" for act in self.acts):
            self.themes = models.recorded(self.acts, self.units)

    def __repr__(self) -> str:
        return f"Reading({self.themes!r})"

    def is_still(self, acts: Sequence[Act], units: pd.DataFrame) -> bool:
        """Return True if the study has these acts and units still: nothing came, nobody withdrew."""
        return [one.act_id for one in acts] == [one.act_id for one in self.acts] and list(
            units["unit_id"]
        ) == list(self.units["unit_id"])

    @property
    def n_themes(self) -> int:
        """How many themes there are that nobody dismissed."""
        return 0 if self.themes is None else int((~self.themes.summary["dismissed"]).sum())

    @cached_property
    def texts(self) -> dict[str, str]:
        """The text of each unit."""
        return self.board.read.texts

    def theme(self, number: int) -> Mapping[str, Any]:
        """Return the row of a theme in the summary."""
        if self.themes is not None:
            rows = self.themes.summary[self.themes.summary["theme"] == number]
            if len(rows):
                return {str(name): value for name, value in rows.iloc[0].items()}
        raise TableError(
            f"theme: expected the number of a theme of the study – found {number} – it may have been merged "
            "or split meanwhile; choose another."
        )

    def members(self, number: int) -> pd.DataFrame:
        """Return the rows of a theme's units, the most typical first."""
        if self.themes is None:
            return pd.DataFrame(columns=["unit_id", "similarity", "sub"])
        rows = self.themes.assignments
        rows = rows[rows["theme"] == number].sort_values("unit_id", kind="stable")
        return rows.sort_values("similarity", ascending=False, kind="stable")

    def subs(self, number: int) -> list[list[str]]:
        """Return the units of each sub-theme of a theme, the largest first; fewer than two: none."""
        rows = self.members(number)
        rows = rows[rows["sub"] >= 0]
        parts = [sorted(group["unit_id"]) for _, group in rows.groupby("sub")]
        return sorted(parts, key=len, reverse=True) if len(parts) > 1 else []

    def terms(self, number: int) -> list[str]:
        """Return the first terms of a theme."""
        if self.themes is None:
            return []
        rows = self.themes.terms
        listed: list[str] = rows.loc[rows["theme"] == number, "term"].head(_TERMS).tolist()
        return listed

    def quotes(self, number: int, first: int) -> dict[str, Any]:
        """Return a page of a theme's texts in full, the most typical first, each equal text once."""
        rows = self.members(number)
        texts = rows["unit_id"].map(self.texts).fillna("")
        rows = rows.assign(text=texts, key=texts.str.strip())
        rows["n"] = rows.groupby("key")["unit_id"].transform("size")
        rows = rows.drop_duplicates("key")
        shown = rows.iloc[first : first + _PAGE]
        return {
            "theme": number, "first": first, "n": len(rows),
            "rows": [
                {"unit_id": unit_id, "text": text, "n_same": n - 1}
                for unit_id, text, n in zip(shown["unit_id"], shown["text"], shown["n"].tolist(), strict=True)
            ],
        }  # fmt: skip

    def rows(self) -> list[dict[str, Any]]:
        """Return what is shown of each theme, by size, those that were dismissed last."""
        if self.themes is None:
            return []
        summary = self.themes.summary.sort_values(
            ["dismissed", "n_units", "theme"], ascending=[True, False, True], kind="stable"
        )
        cover = self.cover
        return [
            {
                "theme": int(row["theme"]), "label": "" if pd.isna(row["label"]) else row["label"],
                "named": not pd.isna(row["name"]),
                "n_units": int(row["n_units"]), "n_texts": int(row["n_texts"]),
                "n_cases": int(row["n_cases"]),
                "dismissed": bool(row["dismissed"]), "merged": int(row["merged"]),
                "code": None if pd.isna(row["code"]) else row["code"],
                "proposed": self.proposals.get(int(row["theme"]), ""),
                "n_subs": len(self.subs(int(row["theme"]))), "terms": self.terms(int(row["theme"])),
                **_stability(row["stability"], merged=row["merged"] > 1),
                **self._covered(cover, int(row["theme"])),
            }
            for row in summary.to_dict("records")
        ]  # fmt: skip

    @cached_property
    def proposals(self) -> dict[int, str]:
        """The themes of which a code was proposed: "waiting" for an answer, or "answered"."""
        read = self.board.read
        told = [(said.theme, one in read.answered) for one, said in read.proposed.items()]
        answered = {theme: "answered" for theme, done in told if theme is not None and done}
        return answered | {theme: "waiting" for theme, done in told if theme is not None and not done}

    @cached_property
    def cover(self) -> pd.DataFrame | str:
        """What the codebook covers, by theme; words where that cannot be said."""
        if self.themes is None:
            return ""
        board = self.board
        try:
            frame = models.against_codebook(
                self.themes, board.read.decided, board.codebook, units=self.units, cluster=board.cluster
            )
        except QualError as error:
            return str(error)
        return frame.set_index("theme")

    def _covered(self, cover: pd.DataFrame | str, number: int) -> dict[str, Any]:
        if isinstance(cover, str):
            return {"verdict": "", "coverage": cover}
        row = cover.loc[number]
        words = f"{row['n_decided']} of {row['n_units']} texts decided by coders whose codings you may see"
        if pd.isna(row["verdict"]):
            return {"verdict": "", "coverage": f"No verdict: {words}, which is too few."}
        clear = "" if row["clear"] is True or bool(row["clear"]) else " Another sample might say otherwise."
        best = "No code was applied there"
        if not pd.isna(row["best_code"]):
            share, label = round(100 * row["best_share"]), self.board.label(row["best_code"])
            best = f"Nearest: “{label}”, on {share} % of them ({row['best_lift']:.1f} × as often as in all)"
        return {"verdict": str(row["verdict"]), "coverage": f"{words}. {best}.{clear}"}

    def colours(self, ids: list[str], by: str) -> list[int]:
        """Return for each unit its theme (−1: none, −2: not in the run); with a code 2 where somebody whose
        codings may be seen applied it, 1 where they decided against it, 0 where nobody decided."""
        if by == "":
            if self.themes is None:
                return [-2] * len(ids)
            rows = self.themes.assignments
            of_theme = dict(zip(rows["unit_id"], rows["theme"].astype(int), strict=True))
            return [int(of_theme.get(one, -2)) for one in ids]
        tally = self.board.tally
        rows = tally[tally["code"] == by]
        value = np.where(rows["n_applied"] > 0, 2, 1)
        of_unit = dict(zip(rows["unit_id"], value.tolist(), strict=True))
        return [int(of_unit.get(one, 0)) for one in ids]


def _stability(value: float, *, merged: bool) -> dict[str, Any]:
    if pd.isna(value):
        why = (
            "merged or split by a person"
            if merged
            else "not known: split by a person, or run without resamples"
        )
        return {"stability": None, "stable": "", "stability_words": f"Stability {why}."}
    if value < 0.5:
        word, words = "dissolves", "another sample of such texts would not show it"
    elif value < 0.75:
        word, words = "pattern", "there is a pattern, but not which texts belong to it"
    else:
        word, words = "stable", "other samples of such texts show it again"
    return {"stability": float(value), "stable": word, "stability_words": f"{words} ({value:.2f})"}


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
