"""The rating scales themselves: internal consistency, codes by dimension, shares of variance."""

from __future__ import annotations

__all__ = ["dimension_correlations", "internal_consistency", "polychoric"]


def __dir__() -> list[str]:
    return __all__
