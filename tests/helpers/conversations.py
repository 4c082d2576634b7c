"""Made-up ratings of conversations."""

from __future__ import annotations

import numpy as np
import pandas as pd


def rated_turns(rng: np.random.Generator, rating: str) -> pd.DataFrame:
    """Return 48 conversations of 12 participants, each of 5 turns rated 1 to 5 at random."""
    return pd.DataFrame(
        {
            "unit_id": f"t{document}/{turn}",
            "document_id": f"t{document}",
            "case_id": f"p{document % 12}",
            "turn": turn,
            rating: float(rng.integers(1, 6)),
        }
        for document in range(48)
        for turn in range(5)
    )
