"""Print the labels of themes with their subtitle and quotes, to be read.

    python benchmarks/theme_labels.py FOLDER

FOLDER and its sets are those of `themes_expected.py`; nothing of labels or quotes was tuned on them. Prints
the first eight themes of 300 texts of each set, with label, the first terms, and the three first quotes.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

from sense7_qual import models

sys.path.insert(0, str(Path(__file__).parent))
import themes_expected

N_THEMES, N_QUOTES, MOST = 8, 3, 70


def main() -> None:
    """Print the themes of each set."""
    warnings.simplefilter("ignore")
    folder = Path(sys.argv[1])
    embed = themes_expected.remembering(models.embedder(precision="int8"))
    number = 0
    for name, (reader, sizes) in themes_expected.SETS.items():
        texts, _, _ = themes_expected.drawn(reader(folder), 300, sizes[300], 0)
        found = themes_expected.ours(texts, embed, None)
        for row in found.summary.head(N_THEMES).itertuples():
            number += 1
            terms = found.terms.loc[found.terms["theme"] == row.theme, "term"].head(6)
            print(f"\n{number}. {name}, {row.n_units} texts: **{row.label}** ({', '.join(terms)})")
            own = found.quotes[found.quotes["theme"] == row.theme].head(N_QUOTES)
            for unit_id in own["unit_id"]:
                text = " ".join(texts["text"][int(unit_id[1:])].split())
                print(f"   - {text[:MOST]}{'…' if len(text) > MOST else ''}", flush=True)


if __name__ == "__main__":
    main()
