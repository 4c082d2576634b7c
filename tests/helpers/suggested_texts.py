"""Texts whose codes stand in their words, as one coder coded them: what suggestions learn from."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from sense7_qual.codebook import Code, Codebook

BOOK = Codebook(
    name="three",
    codes=(
        Code(
            id="asked", label="Asked", definition="It asked a question about me", examples=("It asked why",)
        ),
        Code(id="cold", label="Cold", definition="It was cold and short"),
        Code(id="never", label="Never"),
    ),
)
BEFORE = ("We talked about work.", "I wrote about my day.", "It was a long evening 😀.")
ASKED = ("It asked me how I felt.", "Then it asked what happened next.", "It asked about my sister.")
COLD = ("Its answer was cold.", "A cold reply, as ever.", "So cold and short.")


def embed(texts: list[str]) -> Any:
    """Vectors without a model: how often each of some words stands there."""
    words = ("asked", "cold", "work", "day", "felt", "happened", "sister", "answer", "short", "why")
    return np.array([[text.lower().count(word) for word in words] + [1] for text in texts], dtype=float)


def texts_and_codes(n: int) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Return units of 4 to a participant, ana's decisions, and her spans (of the one sentence)."""
    rng = np.random.default_rng(3)
    units, decided, spans = [], [], []
    for i in range(n):
        unit_id, text = f"u{i:03}", BEFORE[rng.integers(3)]
        for code, ways in (("asked", ASKED), ("cold", COLD), ("never", ())):
            applied = bool(ways) and rng.random() < 0.4
            decided.append((unit_id, "ana", code, applied))
            if applied:
                said = str(rng.choice(ways))
                spans.append((unit_id, "ana", code, len(text) + 1, len(text) + 1 + len(said)))
                text = f"{text} {said}"
        units.append((unit_id, text, f"d{i // 4}", f"p{i // 4}", i))
    return (
        pd.DataFrame(units, columns=["unit_id", "text", "document_id", "case_id", "position"]),
        pd.DataFrame(decided, columns=["unit_id", "coder", "code", "applied"]),
        pd.DataFrame(spans, columns=["unit_id", "coder", "code", "start", "end"]).assign(
            confidence=None, found_by=None, act_id=None, at=None, codebook=None, round=None
        ),
    )


UNITS, DECIDED, SPANS = texts_and_codes(120)
