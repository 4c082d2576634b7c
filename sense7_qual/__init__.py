"""Code, compare, link and report free-text explanations of ratings, in one notebook.

Modules are the name space: `qual.agreement.by_code`, `qual.corpus.read`. They load when first used, so
`import sense7_qual` stays light.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from sense7_qual.errors import (
    ActError,
    ArgumentError,
    CodebookError,
    ImportRefused,
    QualError,
    StoreError,
    TableError,
)

if TYPE_CHECKING:
    from sense7_qual import (
        acts,
        adjudication,
        agreement,
        codebook,
        coders,
        codings,
        corpus,
        errors,
        exchange,
        figures,
        frames,
        links,
        models,
        ratings,
        redact,
        report,
        rounds,
        store,
        suggestions,
        themes,
        widgets,
    )
    from sense7_qual.acts.contents import AnalysisPlan
    from sense7_qual.codebook import Code, Codebook
    from sense7_qual.store import Store

__version__ = "0.1.0"

__all__ = [
    "ActError",
    "AnalysisPlan",
    "ArgumentError",
    "Code",
    "Codebook",
    "CodebookError",
    "ImportRefused",
    "QualError",
    "Store",
    "StoreError",
    "TableError",
    "acts",
    "adjudication",
    "agreement",
    "codebook",
    "coders",
    "codings",
    "corpus",
    "errors",
    "exchange",
    "figures",
    "frames",
    "links",
    "models",
    "ratings",
    "redact",
    "report",
    "rounds",
    "store",
    "suggestions",
    "themes",
    "widgets",
]

_CLASSES = {"AnalysisPlan": "acts.contents", "Code": "codebook", "Codebook": "codebook", "Store": "store"}


def __getattr__(name: str) -> Any:
    if name in _CLASSES:
        return getattr(importlib.import_module(f"{__name__}.{_CLASSES[name]}"), name)
    if name in __all__:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
