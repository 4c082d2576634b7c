"""A code that emerges while somebody codes: what is like it, adding it, and which texts wait for it."""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, Final

import numpy as np

from sense7_qual._messages import first_three
from sense7_qual.acts import Proposal
from sense7_qual.codebook import Code, Codebook
from sense7_qual.errors import ActError, QualError
from sense7_qual.revisions import Change, changes
from sense7_qual.widgets._folded import folded
from sense7_qual.widgets._look_again import LookAgain
from sense7_qual.widgets._session import Session, typed
from sense7_qual.widgets._study import desk_of

__all__ = ["DECLINED", "KEEPING", "Embed", "NewCodes", "alike", "code_id", "versions_alike"]

Embed = Callable[[list[str]], Any]

KEEPING: Final = frozenset({"add", "rename", "move", "annotate"})
"""The kinds of change of a codebook that leave what was coded as it is."""

DECLINED: Final = "I leave the texts undecided on this code that I finished before it was there."
"""The line of a memo on a code by which a coder is asked no more to look at earlier texts for it."""

_ALIKE: Final = 0.6
_NEAR: Final = 0.5  # cosine
_MOST: Final = 4


class NewCodes:
    """What the coding widget does with codes that its codebook lacks.

    Attributes
    ----------
    session : Session
        Whose codebook it is.
    study : object, optional
        What has `revise`, `codebooks`, `revisions` and `options`, as `Store` has; without it codes are
        proposed alone.
    embed : callable, optional
        Texts to an array of vectors: what is alike in meaning.
    look_again : LookAgain
        Knows the texts that were finished before a code was there.
    """

    def __init__(self, session: Session, study: Any, *, embed: Embed | None, look_again: LookAgain) -> None:
        self._session, self._study, self._embed, self._look_again = session, study, embed, look_again
        self._added: dict[str, dict[str, Any]] = {}

    @property
    def mode(self) -> str:
        """What becomes of a new code: "add" or "propose"."""
        settled = getattr(getattr(self._study, "options", None), "new_codes", "propose")
        can_revise = hasattr(self._study, "revise") and hasattr(self._study, "codebooks")
        may_add = settled == "add" and can_revise and getattr(desk_of(self._study), "may_revise", True)
        return "add" if may_add else "propose"

    def alike(self, content: Mapping[str, Any]) -> dict[str, Any]:
        """Answer which codes are like the one that is being written."""
        label, definition = typed(content, "label"), typed(content, "definition")
        return {"type": "alike", **alike(self._session.codebook, label, definition, embed=self._embed)}

    def add(self, content: Mapping[str, Any]) -> tuple[dict[str, Any], Codebook | None]:
        """Add a code to the study's codebook; asked once more by the same id, change nothing.

        Returns the answer and the codebook to go on with, None where the code was added before.
        """
        asked = str(content.get("id"))
        if asked in self._added:
            return self._added[asked], None
        if self.mode != "add":
            raise ActError(
                "new code: expected a study whose coders add codes themselves – found one whose lead is "
                "proposed them, or adds them alone – send it as a proposal."
            )
        session, before = self._session, self._study.codebook
        code = self._made(content, before)
        wished = replace(before, codes=(*before.codes, code))
        now = self._study.revise(wished, why="A code that was missing while coding.", coder=session.coder)
        others = [one for one in changes(session.codebook, now) if one != Change("add", code.id)]
        came = first_three([f"{one.kind} {one.code!r}" for one in others])
        self._added[asked] = {"type": "added", "code": code.id, "label": code.label, "came": came}
        keeps = all(one.kind in KEEPING for one in others)
        session.use(now, keeps=keeps, alike=versions_alike(self._study, now))
        return self._added[asked], now

    def _made(self, content: Mapping[str, Any], before: Codebook) -> Code:
        proposal = Proposal(label=typed(content, "label"), definition=typed(content, "definition"))
        same = [code.id for code in before if folded(code.label) == folded(proposal.label)]
        if same:
            raise ActError(
                f"new code: expected a label that no other code has – found that of {same[0]!r} – use that "
                "code, or name the new one otherwise."
            )
        taken = {one for version in self._study.codebooks.values() for one in version.ids}
        example = (self._session.words(content),) if content.get("example") is True else ()
        return Code(
            id=code_id(proposal.label, {*taken, *before.ids}), label=proposal.label,
            definition=proposal.definition, examples=example, origin="inductive",
        )  # fmt: skip

    def waiting(self) -> dict[str, Any] | None:
        """Return which texts, finished before a code was there, wait for a decision on it, or None.

        Texts that wait for more than that (a code that was redefined or split, say) are not among them: they
        must be looked at as a whole (`Session.to_review`).
        """
        session = self._session
        order = {code_id: n for n, code_id in enumerate(session.codebook.ids)}
        items = [
            (session.place_of(unit_id), sorted(codes, key=order.__getitem__))
            for unit_id, codes in self._look_again.only_new().groupby("unit_id", sort=False)["code"]
        ]
        codes = sorted({code for _, own in items for code in own}, key=order.__getitem__)
        if not set(codes) - self._declined:
            return None
        return {"codes": codes, "items": sorted(items), "no": DECLINED}

    @property
    def _declined(self) -> set[str]:
        """The codes for which this coder said that earlier texts are not looked at: by a memo on the code."""
        memos = self._session.free_memos
        return {
            memo["code"] for memo in memos if memo["on"] == "code" and DECLINED in memo["text"].split("\n")
        }


def versions_alike(study: Any, codebook: Codebook) -> set[str]:
    """Return the versions of the study's codebook from which nothing that is coded changed its meaning."""
    alike = {codebook.fingerprint}
    with suppress(QualError):
        revisions = getattr(study, "revisions", ())
        for _ in revisions:  # each may lead to one that was found before it
            keeping = (one for one in revisions if all(change.kind in KEEPING for change in one.changes))
            alike |= {one.base for one in keeping if one.codebook in alike}
    return alike


def code_id(label: str, taken: Collection[str]) -> str:
    """Return an id for the code called `label` that is none of those `taken`, in any case.

    >>> code_id("Being lectured", ["being_lectured"])
    'being_lectured_2'
    >>> code_id("Überraschung!", []), code_id("希望", []), code_id("2nd try", [])
    ('uberraschung', 'code', 'code_2nd_try')
    """
    plain = unicodedata.normalize("NFKD", label).encode("ascii", "ignore").decode().lower()
    slug = re.sub(r"[^a-z0-9]+", "_", plain).strip("_")[:50].strip("_")
    if not slug or not slug[0].isalpha():
        slug = f"code_{slug}".strip("_")
    used = {one.casefold() for one in taken}
    names = (slug if n == 1 else f"{slug}_{n}" for n in range(1, len(used) + 2))
    return next(name for name in names if name not in used)


def alike(codebook: Codebook, label: str, definition: str, *, embed: Embed | None = None) -> dict[str, Any]:
    """Return the codes that are like a new one: by words, then, with `embed`, by meaning.

    The answer has ``codes``, the ids, each once, those most alike first, with how (``words`` or ``meaning``),
    and ``note``: why there are none by meaning.
    """
    scored = [(_by_words(code, label, definition), code.id) for code in codebook.codable]
    near = sorted(((-score, n, one) for n, (score, one) in enumerate(scored) if score >= _ALIKE))
    how = {one: "words" for _, _, one in near[:_MOST]}
    note = ""
    if embed is not None and label:
        try:
            for one in _by_meaning(codebook, f"{label}. {definition}", embed):
                how.setdefault(one, "meaning")
        except Exception as error:  # noqa: BLE001 – a model that fails keeps nobody from naming a code
            note = f"Compared by words alone: the comparison by meaning failed ({type(error).__name__})."
    return {"codes": [{"id": one, "how": by} for one, by in how.items()], "note": note}


def _by_words(code: Code, label: str, definition: str) -> float:
    mine, theirs = folded(label), folded(code.label)
    if not mine:
        return 0.0
    scores = [difflib.SequenceMatcher(None, mine, theirs).ratio(), _shared(_words(mine), _words(theirs))]
    their_words = _words(folded(f"{code.label} {code.definition}"))
    long = {word for word in _words(mine) if len(word) > 3}
    scores.append(0.7 * _shared(long, their_words))
    new_words, code_words = (
        {word for word in _words(folded(text)) if len(word) > 3} for text in (definition, code.definition)
    )
    if len(new_words & code_words) > 1:
        scores.append(_shared(new_words, code_words))
    return max(scores)


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text))


def _shared(some: set[str], others: set[str]) -> float:
    """Return which part of the smaller set is in the other."""
    return len(some & others) / min(len(some), len(others)) if some and others else 0.0


def _by_meaning(codebook: Codebook, described: str, embed: Embed) -> Iterator[str]:
    codes = codebook.codable
    vectors = np.asarray(embed([described, *(f"{code.label}. {code.definition}" for code in codes)]), float)
    lengths = np.linalg.norm(vectors, axis=1)
    cosines = vectors[1:] @ vectors[0] / np.where(lengths[1:] * lengths[0] > 0, lengths[1:] * lengths[0], 1)
    order: Sequence[int] = np.argsort(-cosines, kind="stable").tolist()
    yield from (codes[n].id for n in order[:_MOST] if cosines[n] >= _NEAR)
