"""Statistics that resample or permute whole participants."""

from __future__ import annotations

__all__: list[str] = []
