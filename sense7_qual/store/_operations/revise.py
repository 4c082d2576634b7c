"""Changing the codebook of a study: every version stays, and who changed what and why is an act.

Two people can begin from one version. Who comes second has their changes combined with the first's, where the
two do not touch the same thing (`codebook.combine`); so the versions of a study form one line. Where two
copies of a folder were revised apart, merging brings both lines; the next revision joins them, so that what
was coded in either copy is carried over.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sense7_qual.acts import Act, stamp
from sense7_qual.codebook import Codebook, Revision, changes, check_codebook, combine, path, redefined
from sense7_qual.errors import ActError

if TYPE_CHECKING:
    pass


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What one person wants the codebook to become: from `base` to `codebook`, and why."""

    base: Codebook
    codebook: Codebook
    why: str
    coder: str
    merged: Mapping[str, str]
    split: Mapping[str, Sequence[str]]
    meaning: Mapping[str, str | tuple[str, str]] = field(repr=False)
    revisions: Callable[[], Sequence[Revision]]

    def on(self, current: Codebook, versions: Mapping[str, Codebook]) -> tuple[Codebook, list[Act]]:
        """Return the codebook after a revision of `current`, and the acts that record it.

        `versions` are all that the study has, by fingerprint.
        """
        if not isinstance(self.why, str) or not self.why.strip():
            raise ActError("revise: expected a reason for the change – found none – give it in a sentence.")
        new = check_codebook(self.codebook)
        if self.meaning:
            changes(self.base, new, merged=self.merged, split=self.split, meaning=self.meaning)
        if current != self.base:
            new = combine(self.base, self.codebook, current)
        ends = _loose_ends(self.revisions(), current.fingerprint)
        strays = [versions[one] for one in ends if one in versions and one != new.fingerprint]
        if new == current and not strays:
            if self.base != self.codebook == current:
                return current, []  # done already: by a call that was interrupted, or by somebody else
            raise ActError(
                "revise: expected a codebook that differs from the current one – found the same – change it "
                "first (dataclasses.replace, or its YAML file)."
            )
        # What somebody else changed alike meanwhile is no change of this revision's.
        meaning = {code: said for code, said in self.meaning.items() if code in redefined(current, new)}
        steps = [self._step(current, new, self.merged, self.split, meaning)] if new != current else []
        return new, [*steps, *(self._from_stray(stray, new) for stray in strays)]

    def _from_stray(self, stray: Codebook, new: Codebook) -> Act:
        """Return the step to the new version from one that somebody else made of an earlier one."""
        there = {code.id for code in stray.codable}
        dropped = there - {code.id for code in new.codable}
        merged = {code: target for code, target in self.merged.items() if code in dropped}
        split = {
            code: parts for code, parts in self.split.items() if code in dropped and there.isdisjoint(parts)
        }
        return self._step(stray, new, merged, split, {})

    def _step(
        self,
        old: Codebook,
        new: Codebook,
        merged: Mapping[str, str],
        split: Mapping[str, Sequence[str]],
        meaning: Mapping[str, str | tuple[str, str]],
    ) -> Act:
        stamped: dict[str, Any] = stamp(self.coder, new, None, None)
        revision = Revision(
            coder=self.coder,
            at=stamped["at"],
            why=self.why.strip(),
            base=old.fingerprint,
            codebook=new.fingerprint,
            changes=changes(old, new, merged=merged, split=split, meaning=meaning),
        )
        return Act(kind="revise", text=revision.to_text(), **stamped)


def _loose_ends(revisions: Sequence[Revision], current: str) -> list[str]:
    """Return the versions that revisions led to, and from which none leads on to the current one."""
    bases = {each.base for each in revisions}
    ends = dict.fromkeys(each.codebook for each in revisions if each.codebook not in bases)
    return [version for version in ends if path(revisions, version, current) is None]


def history(acts: Iterable[Act]) -> tuple[Revision, ...]:
    """Return the revisions that `acts` record, in the order in which they were made.

    A revision that was begun, interrupted and done again appears once.
    """
    made = [
        Revision.from_text(str(act.text), coder=act.coder, at=act.at, codebook=act.codebook)
        for act in acts
        if act.kind == "revise"
    ]
    remaining = sorted(made, key=lambda revision: revision.at)
    in_order: list[Revision] = []
    while remaining:
        each = remaining.pop(_next(remaining, in_order))
        if not in_order or (each.base, each.codebook) != (in_order[-1].base, in_order[-1].codebook):
            in_order.append(each)
    return tuple(in_order)


def superseded(revisions: Sequence[Revision], now: str, last: str) -> bool:
    """Return True if the revisions lead from version `now` to `last`, and not back: `now` is an older one."""
    return path(revisions, now, last) is not None and path(revisions, last, now) is None


def older_study(last: str) -> str:
    """Return the message that an older copy replaced the file that names the current codebook."""
    return (
        f"study: expected the current codebook to be {last[:12]}…, to which it was revised – found an older "
        "one: an older copy replaced study.json – put the newer file back (from a backup, or "
        f"the sync client's history), or call store.revise(store.codebooks[{last!r}], …)."
    )


def newer_codebook(place: object) -> str:
    """Return the message that somebody else revised the codebook since the study was opened."""
    return (
        "decisions: expected codings under the codebook that this store was opened with – found that another "
        f"notebook has revised it since – open the study again: Store({str(place)!r})."
    )


def _next(remaining: Sequence[Revision], in_order: Sequence[Revision]) -> int:
    """Return the place of the revision that follows: where clocks differ, the versions tell the order."""
    base, version = (in_order[-1].base, in_order[-1].codebook) if in_order else (None, None)
    made = {each.codebook for each in remaining}
    again = [(one.base, one.codebook) == (base, version) for one in remaining]
    follows = (n for n, one in enumerate(remaining) if one.base == version or again[n])
    begins = (n for n, one in enumerate(remaining) if one.base not in made)
    return next(follows, next(begins, 0))
