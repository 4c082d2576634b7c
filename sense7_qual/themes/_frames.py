"""What `fit` returns, from groups of distinct texts: frames with one row per unit, theme, term or quote."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import pandas as pd

from sense7_qual.themes._communities import NO_GROUP, Labels, centres
from sense7_qual.themes._groups import Groups
from sense7_qual.themes._neighbours import Floats, Vectors
from sense7_qual.themes._stability import stability
from sense7_qual.themes._terms import Terms, labels_of
from sense7_qual.themes._texts import Texts
from sense7_qual.themes._themes import Themes

__all__ = ["described", "themes_of", "typical"]

_N_QUOTES: Final = 10


def themes_of(
    texts: Texts, vectors: Vectors, found: Groups, terms: Terms, parameters: dict[str, Any]
) -> Themes:
    """Put the groups into frames, and count units, cases and what is in no theme."""
    assignments = pd.DataFrame(
        {
            "unit_id": texts.units["unit_id"],
            "theme": _of_units(texts, found.themes),
            "similarity": _similarity(texts, vectors, found.themes),
            "coarse": _of_units(texts, found.coarse),
            "sub": _of_units(texts, found.subs),
        }
    )
    listed = terms.of(found.themes)
    rows = described(texts, assignments["theme"], listed).assign(**stability(found.jaccard["theme"]))
    similarity = assignments.groupby("theme")["similarity"].mean().reindex(rows.index)
    rows.insert(4, "similarity", similarity)
    counts = {
        "n_units": len(assignments),
        "n_texts": len(texts.distinct),
        "n_blank": int((texts.text_of < 0).sum()),
        "n_themes": len(rows),
        "n_nowhere": int((assignments["theme"] == NO_GROUP).sum()),
    }
    return Themes(
        assignments=assignments,
        terms=listed,
        summary=rows.rename_axis("theme").reset_index(),
        quotes=typical(texts, assignments),
        parameters=parameters | counts,
        granularities=found.granularities,
        hierarchy=_hierarchy(texts, assignments, found, terms, rows),
    )


def _of_units(texts: Texts, labels: Labels) -> Labels:
    return np.where(texts.text_of >= 0, labels[texts.text_of], NO_GROUP)


def _similarity(texts: Texts, vectors: Vectors, labels: Labels) -> Floats:
    own = np.full(len(labels), np.nan)
    inside = labels != NO_GROUP
    own[inside] = np.einsum("ij,ij->i", vectors[inside], centres(vectors, labels)[labels[inside]])
    return np.where(texts.text_of >= 0, own[texts.text_of], np.nan)


def described(texts: Texts, group: pd.Series, terms: pd.DataFrame) -> pd.DataFrame:
    """Return one row per group, by number: its label and counts."""
    rows = texts.units.assign(group=group.to_numpy(), text=texts.text_of)
    rows_of_group: pd.DataFrame = (
        rows[rows["group"] != NO_GROUP]
        .groupby("group")
        .agg(n_units=("unit_id", "size"), n_texts=("text", "nunique"), n_cases=("case_id", "nunique"))
    )
    labels = pd.Series(labels_of(terms), dtype="string").reindex(rows_of_group.index)
    rows_of_group.insert(0, "label", labels)
    return rows_of_group


def _hierarchy(
    texts: Texts, assignments: pd.DataFrame, found: Groups, terms: Terms, themes: pd.DataFrame
) -> pd.DataFrame:
    """Return the coarse themes, the themes and the sub-themes, each with its parent."""
    columns = ["label", "n_units", "n_texts", "n_cases", "stability"]
    levels = []
    above: pd.Series | None = None
    for name, column, labels in (
        ("coarse", "coarse", found.coarse), ("theme", "theme", found.themes), ("sub", "sub", found.subs)
    ):  # fmt: skip
        rows = themes
        if name != "theme":
            rows = described(texts, assignments[column], terms.of(labels))
            rows = rows.assign(**stability(found.jaccard[name]))
        parent = pd.Series(pd.NA, index=rows.index, dtype="Int64")
        if above is not None:
            parent = above.groupby(assignments[column]).first().reindex(rows.index).astype("Int64")
        level = rows[columns].rename_axis("group").reset_index()
        level.insert(0, "level", pd.Series(name, index=level.index, dtype="string"))
        level.insert(2, "parent", parent.to_numpy())
        levels.append(level)
        above = assignments[column]
    return pd.concat(levels, ignore_index=True)


def typical(texts: Texts, assignments: pd.DataFrame) -> pd.DataFrame:
    """Return the units most similar to their theme's centre; equal texts stand once."""
    rows = assignments.assign(text=texts.text_of)
    rows = rows[rows["theme"] != NO_GROUP].drop_duplicates("text")
    rows = rows.sort_values(["theme", "similarity", "unit_id"], ascending=[True, False, True])
    rows["rank"] = rows.groupby("theme").cumcount() + 1
    rows = rows[rows["rank"] <= _N_QUOTES].rename(columns={"similarity": "typicality"})
    return rows[["theme", "rank", "unit_id", "typicality"]].reset_index(drop=True)
