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


def in_clusters(labels: pd.Series) -> dict[str, Any]:
    """The arguments that give each unit of the index of `labels` its cluster."""
    units = pd.DataFrame({"unit_id": labels.index, "case_id": labels.to_numpy()})
    return {"units": units, "cluster": "case_id"}
