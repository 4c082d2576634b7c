"""Which disagreements a lead may see, in which order they come, and what is settled of them."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, Literal

from sense7_qual import adjudication
from sense7_qual._present import coefficient, percent
from sense7_qual.acts import Act
from sense7_qual.codings import rulings
from sense7_qual.errors import ActError
from sense7_qual.widgets._adjudication_brings import Gains
from sense7_qual.widgets._lead import decisions_of
from sense7_qual.widgets._lead_view import Seen

__all__ = ["BRINGS", "By", "Disputes", "Key", "Names"]

Key = tuple[str, str]
By = Literal["split", "code", "pair", "participant"]

BRINGS: Final = 10
"""Of how many next disagreements it is said what settling them brings."""

_SETTLED: Final = {True: "applied", False: "absent", None: "differing"}


class Disputes:
    """The disagreements of one version of the codebook, and the rulings on them.

    They are those of `store.decisions(consensus=True)`: decided in the end, after discussions, and counted
    over what may be seen.

    Attributes
    ----------
    read : Seen
        What may be seen.
    """

    def __init__(self, read: Seen) -> None:
        self._read, self.decisions = read, read.in_the_end
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
                "disagreement: expected a text and a code on which coders disagree – found others – read "
                "the queue again."
            )
        return key

    def add(self, act: Act) -> None:
        """Take in a ruling, or what takes one back."""
        self._acts.append(act)
        self._settle()

    def of(self, coder: str, *, undone: bool) -> list[Act]:
        """Return a person's rulings that settle a disagreement, or those that they took back."""
        rulings = decisions_of(self._acts, coder, undone=undone)
        return [one for one in rulings if (one.unit_id, one.code) in self._known
                and (undone or self.counts(one))]  # fmt: skip

    def counts(self, ruling: Act) -> bool:
        """Return True if this ruling settles its disagreement now: not voided by a revision, none later."""
        now = self.settled.get((str(ruling.unit_id), str(ruling.code)))
        return now is not None and now.act_id == ruling.act_id

    def settled_on(self, code: str) -> list[str]:
        """Return the texts on which a disagreement about a code was settled."""
        return [unit_id for unit_id, other in self.settled if other == code]

    # in which order ---------------------------------------------------------------------------------

    def ordered(self, by: By, names: Names) -> list[dict[str, Any]]:
        """Return all disagreements in an order: unit_id, code, how many applied it, of how many, group."""
        called = self.decisions["coder"].map(names.coder).astype("string")
        rows = adjudication.queue(
            self.decisions.assign(coder=called), rulings=list(self.settled.values()), by=by,
            units=self._read.units if by == "participant" else None,
            cluster="case_id" if by == "participant" else None,
        )  # fmt: skip
        groups = rows["group"].fillna("") if "group" in rows else [""] * len(rows)
        return [
            {"unit_id": unit_id, "code": code, "n_applied": int(n), "n_coders": int(of), "group": str(group)}
            for unit_id, code, n, of, group in zip(
                rows["unit_id"], rows["code"], rows["n_applied"], rows["n_coders"], groups, strict=True
            )
        ]

    # how much is left -------------------------------------------------------------------------------

    def by_code(self) -> list[dict[str, Any]]:
        """Return for each disputed code what is settled and open, and the part of consensus that is missing.

        The figures are those of `adjudication.remaining`.
        """
        open_now = Counter(code for key in self._known - self.settled.keys() for code in key[1:])
        ruled = Counter((key[1], _SETTLED[act.applied]) for key, act in self.settled.items())
        rows = [
            {"code": row["code"], "n_units": int(row["n_units"]), "n_disputed": int(row["n_disputed"]),
             "n_open": open_now[row["code"]], "missing": _share(open_now[row["code"]], row["n_units"]),
             **{f"n_{one}": ruled[row["code"], one] for one in _SETTLED.values()}}
            for row in self._base if row["n_disputed"]
        ]  # fmt: skip
        return sorted(rows, key=lambda row: -row["n_open"])

    def brings(self, order: Sequence[Key], after: Key | None = None) -> dict[str, Any]:
        """Return what the next ones bring: how much of each code's consensus is missing before and after,
        how much narrower intervals of its links become, and, were they decided alike, its alpha."""
        first = order.index(after) + 1 if after in order else 0
        ahead = [*order[first:], *order[:first]]
        waiting = list(dict.fromkeys(key for key in ahead if key not in self.settled))[:BRINGS]
        gains = Counter(code for _, code in waiting)
        rows = {row["code"]: row for row in self.by_code()}
        codes = [
            {"code": code, "n": n, "before": rows[code]["missing"],
             "after": _share(rows[code]["n_open"] - n, rows[code]["n_units"]),
             **self._gained(rows[code], [unit for unit, other in waiting if other == code])}
            for code, n in gains.most_common()
        ]  # fmt: skip
        return {"n": len(waiting), "codes": codes}

    def _gained(self, row: Mapping[str, Any], units: Sequence[str]) -> dict[str, str]:
        alpha = self._gains.alpha(row["code"], units)
        narrower = self._gains.narrower(row["code"], units, applied=row["n_applied"], absent=row["n_absent"])
        return {
            "alpha": "" if alpha is None else " → ".join(coefficient(one, 2) for one in alpha),
            "narrower": "" if narrower is None else f"{percent(narrower)} %",
        }


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
