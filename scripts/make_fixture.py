"""Write `tests/fixtures/study-<version>.zip`: a small study as the version of the package at hand writes it.

Run it once before a release that changes the study folder, and commit the file: the tests open every such
file with today's package. A fixture that is there is never written again.
"""

from __future__ import annotations

import tempfile
import zipfile
from pathlib import Path

import pandas as pd

from sense7_qual import acts
from sense7_qual.codebook import Code, Codebook
from sense7_qual.store import Store
from sense7_qual.store._log.sqlite import SCHEMA

FIXTURES = Path(__file__).parents[1] / "tests" / "fixtures"
CODEBOOK = Codebook(
    name="small",
    valence=("met", "unmet", "mixed"),
    codes=(Code(id="interest", label="Interest"), Code(id="relational", label="Relational")),
)
UNITS = pd.DataFrame(
    {
        "unit_id": ["m1", "m2", "m3"],
        "text": ["It listened to me.", "Héllo 👩‍👩‍👧 שלום", "It did not."],
        "document_id": ["d1", "d1", "d2"],
        "case_id": ["p1", "p1", "p2"],
        "position": [0, 1, 0],
        "rating": [5, 4, 1],
    }
)


def deeds(coder: str) -> list[acts.Act]:
    """Return one act of every kind, with a fixed id and time."""
    number = iter(range(100))

    def stamp() -> dict[str, str]:
        n = next(number)
        act_id = f"00000000-0000-4000-8000-{ord(coder[0]):06d}{n:06d}"
        return {"act_id": act_id, "at": f"2026-01-31T12:00:{n:02d}.000Z"}

    named = {"coder": coder, "unit_id": "m1", "codebook": CODEBOOK}
    memo = acts.memo(text="Warm, I think.", **named, **stamp())
    return [
        acts.apply(code="relational", start=3, end=11, valence="met", confidence="sure", **named, **stamp()),
        acts.apply(code="interest", round="one", **named, **stamp()),
        acts.remove(code="interest", round="one", **named, **stamp()),
        acts.finish(**named, **stamp()),
        acts.reopen(**named, **stamp()),
        acts.finish(**named, **stamp()),
        memo,
        acts.undo(memo, codebook=CODEBOOK, **stamp()),
        acts.redo(memo, codebook=CODEBOOK, **stamp()),
        acts.rule(code="interest", applied=True, **named, **stamp()),
    ]


def main() -> None:
    path = FIXTURES / f"study-{SCHEMA}.zip"
    with tempfile.TemporaryDirectory() as folder:
        store = Store.create(Path(folder) / "study", units=UNITS, codebook=CODEBOOK)
        for coder in ("ana", "ben"):
            store.append(deeds(coder))
        with zipfile.ZipFile(path, "x", zipfile.ZIP_DEFLATED) as archive:
            for file in sorted(file for file in store.path.rglob("*") if file.is_file()):
                archive.write(file, file.relative_to(store.path).as_posix())


if __name__ == "__main__":
    main()
