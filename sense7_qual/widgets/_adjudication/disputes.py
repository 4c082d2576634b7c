"""Disagreements: which a lead may see, their order, the gain from settling them, and similar texts."""

from __future__ import annotations

import hashlib
import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from math import sqrt
from typing import Any, Final, Literal

import numpy as np
import pandas as pd

from sense7_qual import adjudication, codings
from sense7_qual._present import coefficient, percent
from sense7_qual.acts import Act
from sense7_qual.codings import rulings
from sense7_qual.errors import ActError
from sense7_qual.widgets._codes import Embed
from sense7_qual.widgets._lead import decisions_of
from sense7_qual.widgets._lead_view import Seen
from sense7_qual.widgets._offsets import folded

Key = tuple[str, str]
By = Literal["split", "code", "pair", "participant"]

BRINGS: Final = 10
"""Of how many next disagreements it is said what settling them brings."""

_SETTLED: Final = {True: "applied", False: "absent", None: "differing"}


class Disputes:
    """The disagreements of one version of the codebook, and the rulings on them.

    They are those of ``store.decisions(settled_by="nothing")``: each coder's last decisions, after
    discussions, of what may be seen.

    Attributes
    ----------
    read : Seen
        What may be seen.
    """

    def __init__(self, read: Seen) -> None:
        self._read, self.decisions = read, read.decided
        self._gains = Gains(self.decisions, read.independent)
        self._acts: list[Act] = list(read.team_rulings)
        rows = adjudication.disagreements(self.decisions)
        self.keys: list[Key] = list(zip(rows["unit_id"], rows["code"], strict=True))
        self._known = set(self.keys)
        self._base = adjudication.remaining(self.decisions).to_dict("records")
        self._settle()

    def __repr__(self) -> str:
        return f"Disputes({self.n_open} open, {self.n_settled} settled)"

    def _settle(self) -> None:
        standing_now = rulings(self._acts, self._read.codebook, revisions=self._read.revisions)
        every = {(str(act.unit_id), str(act.code)): act for act in standing_now}
        self.settled: dict[Key, Act] = {key: act for key, act in every.items() if key in self._known}

    @property
    def n_open(self) -> int:
        """How many are not settled."""
        return len(self._known) - len(self.settled)

    @property
    def n_settled(self) -> int:
        """How many are."""
        return len(self.settled)

    def check(self, unit_id: object, code: object) -> Key:
        """Return the key of a disagreement, or raise `ActError` where it is none that may be seen."""
        key = (unit_id, code) if isinstance(unit_id, str) and isinstance(code, str) else None
        if key not in self._known:
            raise ActError(
                "disagreement: coders do not disagree on this text and code – read the queue again."
            )
        return key

    def add(self, act: Act) -> None:
        """Take in a ruling, or what takes one back."""
        self._acts.append(act)
        self._settle()

    def of(self, coder: str, *, undone: bool) -> list[list[Act]]:
        """Return a person's rulings that settle a disagreement, or those that they took back."""
        steps = decisions_of(self._acts, coder, undone=undone)
        known = ([one for one in step if (one.unit_id, one.code) in self._known] for step in steps)
        counting = ([one for one in step if undone or self.counts(one)] for step in known)
        return [step for step, counted in zip(steps, counting, strict=True) if counted]

    def counts(self, ruling: Act) -> bool:
        """Return True if this ruling settles its disagreement now: not voided by a revision, none later."""
        now = self.settled.get((str(ruling.unit_id), str(ruling.code)))
        return now is not None and now.act_id == ruling.act_id

    def settled_on(self, code: str) -> list[str]:
        """Return the texts on which a disagreement about a code was settled."""
        return [unit_id for unit_id, other in self.settled if other == code]

    # in which order ---------------------------------------------------------------------------------

    def ordered(self, by: By, names: Names) -> list[dict[str, Any]]:
        """Return all disagreements in an order, each with its group, its words and who decided how."""
        called = self.decisions["coder"].map(names.coder).astype("string")
        rows = adjudication.queue(
            self.decisions.assign(coder=called),
            rulings=list(self.settled.values()),
            by=by,
            units=self._read.units if by == "participant" else None,
            cluster="case_id" if by == "participant" else None,
        )
        groups = rows["group"].fillna("") if "group" in rows else [""] * len(rows)
        return [
            {
                "unit_id": unit_id,
                "code": code,
                "n_applied": int(n),
                "n_coders": int(of),
                "group": str(group),
                "words": around(self._read.texts[unit_id], self._begins.get((unit_id, code), 0)),
                **self._sides(unit_id, code, names),
            }
            for unit_id, code, n, of, group in zip(
                rows["unit_id"], rows["code"], rows["n_applied"], rows["n_coders"], groups, strict=True
            )
        ]

    @cached_property
    def _decided(self) -> dict[Key, tuple[list[str], list[str]]]:
        """Who applied the code and who did not, of each disagreement."""
        found: dict[Key, tuple[list[str], list[str]]] = {key: ([], []) for key in self.keys}
        columns = (self.decisions[name].tolist() for name in ("unit_id", "code", "coder", "applied"))
        for unit_id, code, coder, applied in zip(*columns, strict=True):
            if (unit_id, code) in found:
                found[unit_id, code][not applied].append(coder)
        return found

    def _sides(self, unit_id: str, code: str, names: Names) -> dict[str, list[str]]:
        sides = [[names.coder(one) for one in side] for side in self._decided[unit_id, code]]
        fewer, more = sorted(sides, key=len)
        return {"coders": sorted([*fewer, *more]), "apart": fewer if len(fewer) < len(more) else []}

    @cached_property
    def _begins(self) -> dict[Key, int]:
        """Where the first words with the code begin, of disagreements on words."""
        spans = self._read.in_the_end.dropna(subset=["start"])
        first = spans.groupby(["unit_id", "code"])["start"].min().reset_index()
        return {
            (str(unit_id), str(code)): int(start)
            for unit_id, code, start in zip(first["unit_id"], first["code"], first["start"], strict=True)
        }

    # how much is left -------------------------------------------------------------------------------

    def by_code(self) -> list[dict[str, Any]]:
        """Return for each disputed code what is settled and open, and the part of consensus that is missing.

        The figures are those of `adjudication.remaining`.
        """
        open_now = Counter(code for key in self._known - self.settled.keys() for code in key[1:])
        ruled = Counter((key[1], _SETTLED[act.applied]) for key, act in self.settled.items())
        rows = [
            {
                "code": row["code"],
                "n_units": int(row["n_units"]),
                "n_disputed": int(row["n_disputed"]),
                "n_open": open_now[row["code"]],
                "missing": _share(open_now[row["code"]], row["n_units"]),
                **{f"n_{one}": ruled[row["code"], one] for one in _SETTLED.values()},
            }
            for row in self._base
            if row["n_disputed"]
        ]
        return sorted(rows, key=lambda row: -row["n_open"])

    def brings(self, order: Sequence[Key], after: Key | None = None) -> dict[str, Any]:
        """Describe the gain from the next ones: each code's missing share of consensus before and after,
        how much narrower intervals of its links become, and, were they decided alike, its alpha."""
        first = order.index(after) + 1 if after in order else 0
        ahead = [*order[first:], *order[:first]]
        waiting = list(dict.fromkeys(key for key in ahead if key not in self.settled))[:BRINGS]
        gains = Counter(code for _, code in waiting)
        rows = {row["code"]: row for row in self.by_code()}
        codes = [
            {
                "code": code,
                "n": n,
                "before": rows[code]["missing"],
                "after": _share(rows[code]["n_open"] - n, rows[code]["n_units"]),
                **self._gained(rows[code], [unit for unit, other in waiting if other == code]),
            }
            for code, n in gains.most_common()
        ]
        return {"n": len(waiting), "codes": codes}

    def _gained(self, row: Mapping[str, Any], units: Sequence[str]) -> dict[str, str]:
        alpha = self._gains.alpha(row["code"], units)
        narrower = self._gains.narrower(row["code"], units, applied=row["n_applied"], absent=row["n_absent"])
        return {
            "alpha": "" if alpha is None else " → ".join(coefficient(one, 2) for one in alpha),
            "narrower": "" if narrower is None else f"{percent(narrower)} %",
        }


_BEFORE, _LINE = 6, 90  # characters of the text before the words, and in all


def around(text: str, start: int) -> str:
    """Return a line of a text from a little before `start` on, without cutting the first word."""
    begin = text.rfind(" ", 0, max(0, start - _BEFORE)) + 1
    line = " ".join(text[begin : begin + _LINE].split())
    return f"{'…' * (begin > 0)}{line}{'…' * (begin + _LINE < len(text))}"


def _share(n: int, of: Any) -> str:
    return f"{percent(n / int(of))} %" if of else ""


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
        """Return a coder's displayed name."""
        return self._letters.get(name, "another coder") if self.letters else name

    def adjudicator(self, name: str) -> str:
        """Return the displayed name of whoever settled a disagreement."""
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


_TWO: Final = 2


class Gains:
    """What the disagreements weigh, of what may be seen.

    Attributes
    ----------
    decided : DataFrame
        Each coder's last decisions, after discussions: what consensus is made of.
    independent : DataFrame
        Each coder's first independent ones: what agreement is of.
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
    """Count the coders who applied a code to a unit, and who decided, where two or more did."""
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
                note = f"Compared by words only: the comparison by meaning failed ({type(error).__name__})."
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
