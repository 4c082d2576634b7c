"""The rating scales themselves: internal consistency, codes by dimension, shares of variance."""

from __future__ import annotations

__all__: list[str] = []
