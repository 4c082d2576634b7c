"""What coders are called while disagreements are settled: by their pseudonyms, or by letters.

Which letter a coder has follows from a hash, and not from the alphabet; it is the same in every session.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

__all__ = ["Names"]


class Names:
    """Pseudonyms, or letters in their place.

    Attributes
    ----------
    coders : iterable of str
        Everybody of whom something may be shown.
    viewer : str
        The person who settles.
    of_study : str
        What tells the study from others: coders have other letters there.
    letters : bool
        Whether coders are called by letters.
    """

    def __init__(self, coders: Iterable[str], *, viewer: str, of_study: str, letters: bool) -> None:
        order = sorted(
            set(coders), key=lambda coder: hashlib.sha256(f"{of_study}\x1f{coder}".encode()).digest()
        )
        self._letters = {coder: _letter(place) for place, coder in enumerate(order)}
        self._viewer, self.letters = viewer, letters

    def __repr__(self) -> str:
        return f"Names({len(self._letters)} coders, letters={self.letters})"

    def coder(self, name: str) -> str:
        """Return what a coder is called."""
        return self._letters.get(name, "another coder") if self.letters else name

    def adjudicator(self, name: str) -> str:
        """Return what somebody is called who settled a disagreement."""
        return "you" if name == self._viewer else "another lead" if self.letters else name


def _letter(place: int) -> str:
    """Return the letters of a place, as spreadsheets count columns.

    >>> [_letter(place) for place in (0, 25, 26, 51, 52)]
    ['A', 'Z', 'AA', 'AZ', 'BA']
    """
    letters = ""
    place += 1
    while place:
        place, rest = divmod(place - 1, 26)
        letters = chr(ord("A") + rest) + letters
    return letters
