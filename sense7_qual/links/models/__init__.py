"""Ordinal regression: cumulative models with random intercepts, GEE, polychoric correlation."""

from __future__ import annotations

__all__ = ["cumulative_mixed", "marginal"]


def __dir__() -> list[str]:
    return __all__
