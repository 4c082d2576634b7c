"""What lies behind an agreement: pairs, units, time, single coders, sample size, another implementation."""

from __future__ import annotations

__all__: list[str] = []
