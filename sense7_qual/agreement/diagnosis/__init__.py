"""What lies behind an agreement: pairs, units, time, single coders, sample size, another implementation."""

from __future__ import annotations

__all__ = ["alternative_annotator_test", "by_unit", "confusion", "cross_check"]


def __dir__() -> list[str]:
    return __all__
