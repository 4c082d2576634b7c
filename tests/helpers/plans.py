"""Units for plans of who codes what, and how often each was dealt."""

from __future__ import annotations

from collections import Counter

import pandas as pd

from sense7_qual.frames import UNITS


def make_units(n: int, **columns: object) -> pd.DataFrame:
    base = UNITS.empty().reindex(range(n)).assign(unit_id=[f"u{i:04d}" for i in range(n)], text="x")
    return UNITS.check(base.assign(**columns))


def dealt(plan: dict[str, pd.DataFrame]) -> Counter[str]:
    return Counter(unit for part in plan.values() for unit in part["unit_id"])
