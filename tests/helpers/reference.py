"""The published reference values, as parameters of tests that name their sources."""

from __future__ import annotations

import json
from typing import Any

import pandas as pd
import pytest

from tests.helpers.places import PUBLISHED

REFERENCE = PUBLISHED / "agreement_reference.json"


def reference_rows(*statistics: str) -> list[Any]:
    """The rows of these statistics."""
    rows = [row for row in json.loads(REFERENCE.read_text("utf-8")) if row["statistic"] in statistics]
    return [pytest.param(row, id=f"{row['name']}: {row['statistic']}: {row['source']}") for row in rows]


def as_table(data: dict[str, object]) -> list[list[object]]:
    """Coders × units from the formats of the reference file."""
    values = data["values"]
    assert isinstance(values, list)
    if data["format"] == "matrix":
        assert data["orientation"] == "coders_x_units"
        return values
    if data["format"] == "contingency":
        pairs = [(i, j) for i, row in enumerate(values) for j, n in enumerate(row) for _ in range(n)]
        return [list(side) for side in zip(*pairs, strict=True)]
    assert data["format"] == "value_counts"
    # Where the row does not say who gave which value, coders stand in the order of the values: so do they in
    # R's irr::diagnoses, from which the published values of Conger's and Light's kappa come.
    units = [[value for value, n in enumerate(counts) for _ in range(n)] for counts in values]
    most = max(map(len, units))
    return [list(row) for row in zip(*[unit + [None] * (most - len(unit)) for unit in units], strict=True)]


def in_clusters(labels: pd.Series) -> dict[str, Any]:
    """The arguments that give each unit of the index of `labels` its cluster."""
    units = pd.DataFrame({"unit_id": labels.index, "case_id": labels.to_numpy()})
    return {"units": units, "cluster": "case_id"}


def own_codes(table: list[list[object]]) -> list[object] | None:
    """Return the values of a published table that has 99 and 999 for codes of its own, None of any other."""
    values = {value for row in table for value in row if value is not None}
    return sorted(values, key=float) if 999 in values else None
