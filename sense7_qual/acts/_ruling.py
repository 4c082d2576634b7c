"""Why a ruling was needed: the closed list of reasons, and the one that decides nothing."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

import numpy as np

from sense7_qual._messages import did_you_mean, word
from sense7_qual.acts._validate import facet_values
from sense7_qual.errors import ActError

__all__ = ["REASONS", "UNDECIDED", "check_reason", "reason_of"]

REASONS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "slip": "A slip: overlooked or mistyped",
        "unclear_rule": "The rule of the code is unclear",
        "ambiguous_text": "The text is ambiguous",
        "missing_code": "The codebook lacks a code for it",
        "different_reading": "Legitimately different readings",
    }
)
"""Why coders disagreed, as a ruling says it, with the label of each reason."""

UNDECIDED: Final = "different_reading"
"""The reason of a ruling without a decision: both readings stand, as data."""


def check_reason(reason: str | None, applied: bool | None) -> None:
    """Raise `ActError` where a ruling decides nothing that can be, or its reason does not go with that."""
    if not isinstance(applied, bool | np.bool_ | None):  # the word "False" would be true
        raise ActError(
            f"ruling: expected applied to be True, False or None – found {type(applied).__name__} – say "
            "which."
        )
    if reason is not None and (not isinstance(reason, str) or reason not in REASONS):
        raise ActError(
            f"ruling: expected a reason out of {', '.join(REASONS)} – found {word(reason)} – "
            f"{did_you_mean(str(reason), REASONS)}"
        )
    if (reason == UNDECIDED) != (applied is None):
        given = "no decision" if applied is None else "a decision"
        raise ActError(
            f"ruling: expected applied to be None with the reason {UNDECIDED!r}, and with no other – found "
            f"{given} with {'no reason' if reason is None else repr(reason)} – say True or False where one "
            "of the readings is right, and give another reason, or none."
        )


def reason_of(facets: str | None) -> str | None:
    """Return the reason in the facets of a ruling; None where it has none."""
    return None if facets is None else facet_values(facets).get("reason")
