"""A code and a rating: correlation, odds ratio, over coders, corrected, jointly, in other analyses."""

from __future__ import annotations

__all__: list[str] = []
