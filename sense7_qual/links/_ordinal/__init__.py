"""Ordinal regression: cumulative models with random intercepts, GEE, polychoric correlation."""

from __future__ import annotations

__all__: list[str] = []
