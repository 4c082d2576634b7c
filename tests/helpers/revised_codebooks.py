"""A small codebook and its revisions."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd

from sense7_qual.codebook import Code, Codebook

BASE = Codebook(
    name="small",
    codes=tuple(
        Code(id=i, label=i.title(), definition=f"About {i}.") for i in ("warm", "kind", "cold", "other")
    ),
)


UNITS = pd.DataFrame(
    {
        "unit_id": ["m1", "m2"],
        "text": ["It listened.", "It did not."],
        "document_id": "d",
        "case_id": "p",
        "position": [0, 1],
    }
)


def edited(book: Codebook, code_id: str, **named: object) -> Codebook:
    return replace(book, codes=tuple(replace(c, **named) if c.id == code_id else c for c in book.codes))


def without(book: Codebook, *ids: str) -> Codebook:
    return replace(book, codes=tuple(c for c in book.codes if c.id not in ids))


def plus(book: Codebook, *ids: str) -> Codebook:
    return replace(book, codes=(*book.codes, *(Code(id=i, label=i.title()) for i in ids)))
