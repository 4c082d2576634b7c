"""Write the front end's table of the kinds of act out of the package's own.

python scripts/make_kinds.py               # `make frontend` does it, too
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from sense7_qual.acts import KINDS

PAGE: Final = Path(__file__).parents[1] / "frontend/src/shared/kinds.ts"


def page() -> str:
    rows = [
        f'  {kind.name}: {{ by: "{kind.by}", takesBack: {str(kind.takes_back).lower()} }},'
        for kind in KINDS.values()
    ]
    return "\n".join(
        [
            "// The kinds of act: whose each is, and whether it undoes another or does it again.",
            "// Written by `python scripts/make_kinds.py` from sense7_qual/acts/_kinds.py.",
            "export const KINDS = {",
            *rows,
            "} as const;",
            "",
            "export type Kind = keyof typeof KINDS;",
            "",
        ]
    )


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
