"""Verification finds every flipped bit of what is stored; files of a later version are no damage."""

from __future__ import annotations

import pandas as pd

from sense7_qual.codebook import Code, Codebook

CODEBOOK = Codebook(name="small", codes=(Code(id="interest", label="Interest"),))
SENTINEL = "Sentinel-Quokka"
UNITS = pd.DataFrame(
    {
        "unit_id": ["m1", "m2", "m3"],
        "text": [f"It listened to me. {SENTINEL}", "She did not.", "Nor did he."],
        "document_id": ["d1", "d1", "d2"],
        "case_id": ["p1", "p1", "p2"],
        "position": [0, 1, 0],
    }
)
