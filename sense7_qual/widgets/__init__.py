"""Widgets for JupyterLab: what people see and press.

Python owns the truth, the browser owns the pixels. No participant's text is ever kept in a widget's traits:
texts travel in messages, so that a saved notebook holds none.
"""

from __future__ import annotations

from sense7_qual.widgets._adjudication import AdjudicationWidget
from sense7_qual.widgets._codebook import CodebookWidget
from sense7_qual.widgets._coding import CodingWidget
from sense7_qual.widgets._overview import OverviewWidget
from sense7_qual.widgets._quotes import QuotesWidget
from sense7_qual.widgets._themes import ThemesWidget

__all__ = [
    "AdjudicationWidget",
    "CodebookWidget",
    "CodingWidget",
    "OverviewWidget",
    "QuotesWidget",
    "ThemesWidget",
]


def __dir__() -> list[str]:
    return __all__
