"""Where agreement goes wrong: units, codes that are mixed up, other programs, a model as a coder."""

from __future__ import annotations

from sense7_qual.agreement.diagnosis._alternative_annotator_test import (
    AlternativeAnnotatorTest as AlternativeAnnotatorTest,
    alternative_annotator_test,
)
from sense7_qual.agreement.diagnosis._confusion import by_unit, confusion
from sense7_qual.agreement.diagnosis._cross_check import cross_check

__all__ = ["alternative_annotator_test", "by_unit", "confusion", "cross_check"]


def __dir__() -> list[str]:
    return __all__
