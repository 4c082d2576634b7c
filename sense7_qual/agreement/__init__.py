"""How well coders agree: coefficients, intervals, and where it goes wrong."""

from __future__ import annotations

from sense7_qual.agreement.codes import by_code, krippendorff_alpha

__all__ = ["by_code", "krippendorff_alpha"]
