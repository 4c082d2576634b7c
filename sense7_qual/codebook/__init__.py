"""The codebook: the codes, and when to use them.

A `Codebook` is a frozen value. It is read from and written to YAML (the same content always to the same
bytes), CSV and REFI-QDA (.qdc, which other programs exchange). Every coding records the `fingerprint` of its
codebook. A code is identified by its `id`, never by its label.

The codebook: ``_codebook.py``. Facets, with which codings say more than their code (met or unmet):
``_facets.py``. Files: ``_yaml_csv.py``, ``_qdc.py``. Changes between two versions: ``_revisions.py``.
"""

from __future__ import annotations

from sense7_qual.codebook._codebook import (
    ORIGINS as ORIGINS,
    Code,
    Codebook,
    check_codebook as check_codebook,
)
from sense7_qual.codebook._facets import UNSTATED as UNSTATED, Facet, FacetValue as FacetValue
from sense7_qual.codebook._field_names import free_id as free_id
from sense7_qual.codebook._revisions import (
    MEANINGS as MEANINGS,
    Change as Change,
    Revision,
    changes,
    combine as combine,
    emerged,
    path as path,
    redefined as redefined,
)

__all__ = ["Code", "Codebook", "Facet", "Revision", "changes", "emerged"]


def __dir__() -> list[str]:
    return __all__
