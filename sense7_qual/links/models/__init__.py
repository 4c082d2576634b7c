"""Models of an ordinal rating: cumulative with random intercepts (`cumulative_mixed`), GEE (`marginal`)."""

from __future__ import annotations

from sense7_qual.links.models._cumulative_mixed import cumulative_mixed
from sense7_qual.links.models._gee import marginal
from sense7_qual.links.models._model import CumulativeModel as CumulativeModel

__all__ = ["cumulative_mixed", "marginal"]


def __dir__() -> list[str]:
    return __all__
