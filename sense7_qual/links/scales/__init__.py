"""The rating scales themselves: internal consistency, correlations of dimensions, polychoric correlation."""

from __future__ import annotations

from sense7_qual.links.scales._cronbach_alpha import dimension_correlations, internal_consistency
from sense7_qual.links.scales._polychoric import Polychoric as Polychoric, polychoric

__all__ = ["dimension_correlations", "internal_consistency", "polychoric"]


def __dir__() -> list[str]:
    return __all__
