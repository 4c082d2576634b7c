"""What settling disagreements brings to links and to alpha, and rulings on similar texts."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from math import sqrt
from typing import Any, Final

import numpy as np
import pandas as pd

from sense7_qual import codings
from sense7_qual.widgets._folded import folded
from sense7_qual.widgets._new_code import Embed

__all__ = ["Gains", "SimilarTexts"]

Key = tuple[str, str]
_TWO: Final = 2


class Gains:
    """What the disagreements weigh, of what may be seen.

    Attributes
    ----------
    decided : DataFrame
        What was decided in the end, after discussions: what consensus is made of.
    independent : DataFrame
        What the coders decided by themselves: what agreement is of.
    """

    def __init__(self, decided: pd.DataFrame, independent: pd.DataFrame) -> None:
        in_the_end, by_themselves = _counts(decided), _counts(independent)
        self._shares = {key: applied / n for key, (applied, n) in in_the_end.items()}
        self._agreed: dict[str, list[int]] = defaultdict(lambda: [0, 0])
        for (_, code), (applied, n) in in_the_end.items():
            if applied in (0, n):
                self._agreed[code][int(applied == n)] += 1
        self._of_units = by_themselves
        self._of_codes: dict[str, list[float]] = defaultdict(lambda: [0, 0, 0.0])
        for (_, code), (applied, n) in by_themselves.items():
            sums = self._of_codes[code]
            sums[0], sums[1], sums[2] = sums[0] + n, sums[1] + applied, sums[2] + _differing(applied, n)

    def __repr__(self) -> str:
        return f"Gains({len(self._of_codes)} codes)"

    def alpha(self, code: str, units: Iterable[str]) -> tuple[float, float] | None:
        """Return a code's alpha, and what is expected of it if the coders decided these units alike.

        How they would decide each has the probability of the share of them who applied the code. None where
        either is not computable. Rulings change neither: it is what a discussion could bring at most.
        """
        n, n_applied, differing = self._of_codes.get(code, [0, 0, 0.0])
        now = _alpha(n, n_applied, differing)
        chances = {n_applied: 1.0}
        for key in ((unit, code) for unit in units):
            applied, m = self._of_units.get(key, (0, 0))
            if 0 < applied < m:
                differing -= _differing(applied, m)
                chances = _decided_alike(chances, applied, m)
        alphas = [(chance, _alpha(n, one, differing)) for one, chance in chances.items()]
        known = [(chance, alpha) for chance, alpha in alphas if alpha is not None]
        if now is None or not known:
            return None
        return now, sum(chance * alpha for chance, alpha in known) / sum(chance for chance, _ in known)

    def narrower(self, code: str, units: Iterable[str], *, applied: int, absent: int) -> float | None:
        """Return by which part intervals of a code's links become narrower once these units are settled.

        `applied` and `absent` count the units that were ruled so. It is the standard error of a difference
        between the units with and without the code, whose ratings spread alike; missing where either are
        none now.
        """
        without, having = self._agreed[code][0] + absent, self._agreed[code][1] + applied
        shares = [self._shares[unit, code] for unit in units]
        if not having or not without or not shares:
            return None
        more = sum(shares)
        after = 1 / (having + more) + 1 / (without + len(shares) - more)
        return 1 - sqrt(after / (1 / having + 1 / without))


def _counts(decided: pd.DataFrame) -> dict[Key, tuple[int, int]]:
    """Return how many coders applied a code to a unit, and of how many, where two or more decided."""
    rows = codings.tally(decided)
    rows = rows[rows["n_coders"] >= _TWO]
    keys = zip(rows["unit_id"].astype(str), rows["code"].astype(str), strict=True)
    return dict(
        zip(keys, zip(rows["n_applied"].tolist(), rows["n_coders"].tolist(), strict=True), strict=True)
    )


def _differing(applied: int, n: int) -> float:
    """Return the observed coincidences of different values on one unit (Krippendorff 2004, p. 221)."""
    return 2 * applied * (n - applied) / (n - 1)


def _alpha(n: float, n_applied: float, differing: float) -> float | None:
    by_chance = 2 * n_applied * (n - n_applied)
    return None if not by_chance else 1 - (n - 1) * differing / by_chance


def _decided_alike(chances: dict[float, float], applied: int, n: int) -> dict[float, float]:
    """Return the chances of each number of applications once all coders of a unit decide alike."""
    after: dict[float, float] = defaultdict(float)
    for one, chance in chances.items():
        after[one + n - applied] += chance * applied / n
        after[one - applied] += chance * (n - applied) / n
    return dict(after)


_MOST: Final = 4
_LEAST_BY_WORDS: Final = 0.1
_LEAST_BY_MEANING: Final = 0.5  # cosine, as for codes that are alike


class SimilarTexts:
    """Which of some texts are most like one.

    By words: the cosine of the words that two texts have, each with its inverse document frequency (Spärck
    Jones 1972), at least 0.1. By meaning: the cosine of their vectors, at least 0.5.

    Attributes
    ----------
    texts : mapping of str to str
        All texts by unit_id.
    embed : callable, optional
        Texts to an array of vectors.
    """

    def __init__(self, texts: Mapping[str, str], *, embed: Embed | None) -> None:
        self._texts, self._embed = texts, embed
        self._vectors: dict[str, Any] = {}
        self._words_of: dict[str, frozenset[str]] = {}

    def __repr__(self) -> str:
        return f"SimilarTexts({len(self._texts)} texts)"

    def to(self, unit_id: str, others: Sequence[str]) -> tuple[list[tuple[str, str]], str]:
        """Return those of `others` that are like a text, each with how, and why there are none by meaning."""
        how = dict.fromkeys(self._by_words(unit_id, others), "words")
        note = ""
        if self._embed is not None and others:
            try:
                for one in self._by_meaning(unit_id, others, self._embed):
                    how.setdefault(one, "meaning")
            except Exception as error:  # noqa: BLE001 – a model that fails keeps nobody from settling
                note = f"Compared by words alone: the comparison by meaning failed ({type(error).__name__})."
        return list(how.items()), note

    def _words(self, unit_id: str) -> frozenset[str]:
        if unit_id not in self._words_of:
            self._words_of[unit_id] = frozenset(re.findall(r"\w+", folded(self._texts[unit_id])))
        return self._words_of[unit_id]

    @cached_property
    def _weights(self) -> dict[str, float]:
        """The squared inverse document frequency of each word."""
        counts = Counter(word for unit_id in self._texts for word in self._words(unit_id))
        return {word: math.log(len(self._texts) / n) ** 2 for word, n in counts.items()}

    def _by_words(self, unit_id: str, others: Sequence[str]) -> list[str]:
        mine = self._words(unit_id)
        scores = [(-self._cosine(mine, self._words(one)), place) for place, one in enumerate(others)]
        return [others[place] for score, place in sorted(scores)[:_MOST] if -score >= _LEAST_BY_WORDS]

    def _cosine(self, mine: frozenset[str], theirs: frozenset[str]) -> float:
        both, one, other = (sum(self._weights[word] for word in s) for s in (mine & theirs, mine, theirs))
        return both / math.sqrt(one * other) if one and other else 0.0

    def _by_meaning(self, unit_id: str, others: Sequence[str], embed: Embed) -> list[str]:
        new = [one for one in (unit_id, *others) if one not in self._vectors]
        if new:
            vectors = np.asarray(embed([self._texts[one] for one in new]), dtype=float)
            lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
            self._vectors |= dict(zip(new, vectors / np.where(lengths > 0, lengths, 1), strict=True))
        cosines = np.array([self._vectors[one] for one in others]) @ self._vectors[unit_id]
        order = np.argsort(-cosines, kind="stable")[:_MOST]
        return [others[place] for place in order if cosines[place] >= _LEAST_BY_MEANING]
