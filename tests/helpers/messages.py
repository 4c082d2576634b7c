"""Texts with their writers' ratings, for tests that run twice: synthetic, and real where there are some."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pandas as pd
import pytest

from tests.helpers.places import ROOT, SHARED

REAL: Final = SHARED / "data" / "empathic-reactions" / "messages.csv"
SOURCES: Final = [
    "synthetic",
    pytest.param(
        "real",
        marks=[
            pytest.mark.real,
            pytest.mark.skipif(
                not REAL.exists(),
                reason="ran on the synthetic example only: the texts of Buechel et al. (2018) are not beside "
                "the project",
            ),
        ],
    ),
]


_ADDED: Final = (
    "That is sad.",
    "It made me angry.",
    "Somebody should help.",
    "I told my family.",
    "I was afraid of it.",
    "People died.",
    "There was a dog.",
)


def _added(row: int, low: bool) -> str:
    """Sentences that the benchmarks' rules look for; the first two stand where the rating is low."""
    often = [(low or row % 9 == 0) if n < 2 else row % (3 + n % 3) == n % 3 for n in range(len(_ADDED))]
    return " ".join(sentence for sentence, there in zip(_ADDED, often, strict=True) if there)


def messages(source: str, folder: Path) -> Path:
    """The file of a source; the synthetic one is written to `folder` in the form of the real one."""
    if source == "real":
        return REAL
    example = pd.read_csv(ROOT / "data" / "explanations.csv", dtype=str, keep_default_na=False)
    example = example[example["EmpathyOverall"] != ""]
    rating = example["EmpathyOverall"].astype(float)
    path = folder / "messages.csv"
    pd.DataFrame(
        {
            "message_id": example["MessageId"],
            "response_id": example["PID"],
            "article_id": example["TaskId"],
            "empathy": 1.5 * rating - 0.5,  # from 1 to 7, as in the real ones
            "distress": 8 - (1.5 * rating - 0.5),
            "essay": [
                f"{text} {_added(row, low)}"
                for row, (text, low) in enumerate(zip(example["Comment"], rating <= 2, strict=True))
            ],
        }
    ).to_csv(path, index=False)
    return path
