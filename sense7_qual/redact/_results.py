"""What the frames of this package hold: each column with its type, what it is, and its range."""

from __future__ import annotations

from typing import Final

from sense7_qual._contract import Contract, count, text

__all__ = ["FOUND", "REPLACEMENTS"]

FOUND: Final = Contract("found", ("unit_id", "column", "turn", "start"), {
    "unit_id, column": text(),
    "turn": count("from 0, in the column context; otherwise missing", missing=True),
    "kind": text("of two kinds, the first in `KINDS` counts"),
    "start, end": count("code points, half-open; no two overlap"),
}, row="One row per identifier, in the order of the units. Missing texts hold none. It holds no text: see "
       "`preview`")  # fmt: skip

REPLACEMENTS: Final = Contract("replacements", FOUND.key, {
    **FOUND.columns,
    "replacement": text("the pseudonym"),
    "new_start, new_end": count("its place in the text as it is"),
}, row="One row per replacement, in order; start and end in the text as it was. It holds no "
       "identifier")  # fmt: skip
