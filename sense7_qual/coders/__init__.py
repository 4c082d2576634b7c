"""Models that code by the codebook, measured before anybody believes them."""

from __future__ import annotations

from sense7_qual.coders._run import Run, read

__all__ = ["Run", "read"]


def __dir__() -> list[str]:
    return __all__
