"""The codebook: what the codes are, when to use them and when not.

A `Codebook` is a frozen value. It is read from and written to YAML (the same content always to the same
bytes), CSV and REFI-QDA (.qdc, which other programs exchange), and known by its `fingerprint`, so that
every coding can say under which codebook it was
made. A code is identified by its `id`, never by its label.

What a codebook is: ``_codebook.py``. What its codings can say beside their codes (met or unmet, say):
``_facets.py``. Its files: ``_yaml_csv.py``, ``_qdc.py``. What changed between two versions is
said by `sense7_qual.codebook._revisions`.
"""

from __future__ import annotations

from sense7_qual.codebook._codebook import (
    ORIGINS as ORIGINS,
    Code,
    Codebook,
    check_codebook as check_codebook,
)
from sense7_qual.codebook._facets import UNSTATED as UNSTATED, Facet, FacetValue as FacetValue
from sense7_qual.codebook._revisions import (
    Change as Change,
    Revision,
    changes,
    combine as combine,
    emerged,
    path as path,
)

__all__ = ["Code", "Codebook", "Facet", "Revision", "changes", "emerged"]


def __dir__() -> list[str]:
    return __all__
