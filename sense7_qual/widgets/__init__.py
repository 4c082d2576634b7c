"""Widgets for JupyterLab.

Python owns the truth, the browser owns the pixels. Widget traits never hold a participant's text: texts
travel in messages, so a saved notebook contains none.
"""

from __future__ import annotations

from sense7_qual.widgets._adjudication import AdjudicationWidget
from sense7_qual.widgets._codebook import CodebookWidget
from sense7_qual.widgets._coding import CodingWidget
from sense7_qual.widgets._model_coder import ModelCoderWidget
from sense7_qual.widgets._overview import OverviewWidget
from sense7_qual.widgets._quotes import QuotesWidget
from sense7_qual.widgets._themes import ThemesWidget

__all__ = [
    "AdjudicationWidget",
    "CodebookWidget",
    "CodingWidget",
    "ModelCoderWidget",
    "OverviewWidget",
    "QuotesWidget",
    "ThemesWidget",
]


def __dir__() -> list[str]:
    return __all__
