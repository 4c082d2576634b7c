"""What a study did otherwise than its analysis plan says: what is compared with what."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Final

from sense7_qual._present import coefficient, counted, percent
from sense7_qual.acts import Act, Preregistration, preregistrations
from sense7_qual.acts.contents import AnalysisPlan, Suggested
from sense7_qual.report._review_facts import Facts

__all__ = ["CHECKS", "Deviation", "Done", "minute"]

_CODINGS: Final = ("coding of a text", "codings of a text")
_OPTIONS: Final = {"new_codes": "propose", "rating": "hidden"}  # as the store has them until some are set


@dataclass(frozen=True, slots=True, kw_only=True)
class Deviation:
    """One thing that was done otherwise than planned.

    Attributes
    ----------
    kind : str
        A word for it, such as ``coder_added``.
    planned, done : str
        What the plan says, and what the record shows, with its numbers.
    n : int
        How many texts, codes, coders, rounds or acts it is about.
    """

    kind: str
    planned: str
    done: str
    n: int


def minute(at: str) -> str:
    """Return a time of the record as it is printed: ``2026-03-02 09:00 UTC``."""
    return f"{at[:10]} {at[11:16]} UTC"


def were(n: int, one: str, several: str | None = None) -> str:
    """Return a count with its noun and verb, at the beginning of a sentence: ``No texts were``."""
    words = f"{counted(n, one, several)} {'was' if n == 1 else 'were'}"
    return words[0].upper() + words[1:]


class Done:
    """What was done, beside the plan that was in force when coding began."""

    def __init__(self, facts: Facts) -> None:
        self.facts = facts
        self.registered = preregistrations(facts.acts)

    def __repr__(self) -> str:
        return f"Done({len(self.registered)} registrations)"

    @property
    def plan(self) -> AnalysisPlan:
        """The plan that counts."""
        return self.counted.plan

    @cached_property
    def counted(self) -> Preregistration:
        """The registration that counts: the last before coding began; without one, the first."""
        begun = self.coding_began
        before = [one for one in self.registered if begun is None or one.at <= begun]
        return before[-1] if before else self.registered[0]

    @cached_property
    def coding(self) -> list[Act]:
        """What was coded or finished, training left out."""
        training = {one.name for one in self.facts.rounds if one.is_training}
        there = [act for act in self.facts.acts if act.round not in training and act.traits.leaves == "this"]
        return [act for act in there if act.traits.subject in ("coding", "coverage")]

    @cached_property
    def coding_began(self) -> str | None:
        """When the first text was coded; None where none is."""
        return min((act.at for act in self.coding), default=None)

    @cached_property
    def n_units(self) -> int:
        """How many texts were decided on."""
        return int(self.facts.decisions["unit_id"].nunique())

    @cached_property
    def n_participants(self) -> int:
        """How many participants' texts were decided on."""
        cases = self.facts.units.set_index("unit_id")["case_id"]
        return int(cases.reindex(self.facts.decisions["unit_id"].unique()).nunique())

    def chain_place(self, act_id: str, coder: str) -> int:
        """Return how many acts of `coder` stand before the act, in the chain of their acts."""
        return [act.act_id for act in self.facts.acts if act.coder == coder].index(act_id)

    @cached_property
    def first_unblinding(self) -> Act | None:
        """The act that first let coders see each other, in neither training nor discussion."""
        acts = [act for act in self.facts.acts if act.kind == "unblind" and act.round in self.facts.unblinded]
        return min(acts, key=lambda act: act.at, default=None)

    @cached_property
    def registered_before_unblinding(self) -> bool:
        """Whether the plan was registered before that, by the chain of acts where it can say."""
        unblinding = self.first_unblinding
        if unblinding is None:
            return True
        if unblinding.coder == self.counted.coder:
            places = (self.chain_place(one.act_id, one.coder) for one in (self.counted, unblinding))
            return next(places) < next(places)
        return self.counted.at < unblinding.at


def _registered_late(done: Done) -> Iterator[Deviation]:
    begun, at = done.coding_began, done.counted.at
    if begun is not None and at > begun:
        n = sum(act.kind == "finish" and act.at < at for act in done.coding)
        yield Deviation(
            kind="registered_late", n=n, planned="Registered before coding.",
            done=f"Registered {minute(at)}, when {counted(n, *_CODINGS)} had been finished.",
        )  # fmt: skip
    if not done.registered_before_unblinding:
        yield Deviation(
            kind="registered_after_unblinding", n=1, planned="Registered before anything was unblinded.",
            done=f"Registered {minute(at)}, after round “{_unblinded_round(done)}” was unblinded.",
        )  # fmt: skip


def _unblinded_round(done: Done) -> str:
    return str(done.first_unblinding.round) if done.first_unblinding else ""


def _amended(done: Done) -> Iterator[Deviation]:
    place = done.registered.index(done.counted)
    for before, after in zip(done.registered[place:], done.registered[place + 1 :], strict=False):
        changed = [
            one.name for one in fields(AnalysisPlan)
            if getattr(before.plan, one.name) != getattr(after.plan, one.name)
        ]  # fmt: skip
        yield Deviation(
            kind="amended", n=len(changed), planned="One plan.",
            done=f"Amended {minute(after.at)}, once coding had begun: {', '.join(changed)}.",
        )  # fmt: skip


def _amounts(done: Done) -> Iterator[Deviation]:
    for what, planned, n in (
        ("text", done.plan.n_units, done.n_units),
        ("participant", done.plan.n_participants, done.n_participants),
    ):
        if planned is not None and n != planned:
            yield Deviation(
                kind=f"{'fewer' if n < planned else 'more'}_{what}s", n=abs(n - planned),
                planned=f"{counted(planned, what)}.", done=f"{were(n, what)} coded.",
            )  # fmt: skip


def _double_coded(done: Done) -> Iterator[Deviation]:
    share, n, total = done.plan.double_coded, len(done.facts.double), done.n_units
    if share is not None and n < math.floor(share * total):
        seen = f" ({percent(n / total)}%)" if total else ""
        yield Deviation(
            kind="fewer_double_coded", n=math.floor(share * total) - n,
            planned=f"{percent(share)}% of the texts coded by two or more, independently.",
            done=f"{n:,} of {counted(total, 'text')}{seen}.",
        )  # fmt: skip


def _repeated(done: Done) -> Iterator[Deviation]:
    planned = done.plan.n_repeated
    rounds_of = done.facts.coverage.groupby(["unit_id", "coder"])["round"].nunique(dropna=False)
    n = int((rounds_of > 1).groupby(level="unit_id").any().sum()) if len(rounds_of) else 0
    if planned is not None and n < planned:
        yield Deviation(
            kind="fewer_repeated", n=planned - n,
            planned=f"{counted(planned, 'text')} coded twice by the same coder.", done=f"{were(n, 'text')}.",
        )  # fmt: skip


def _people(done: Done) -> Iterator[Deviation]:
    yield from _named(done.plan.coders, set(done.facts.coverage["coder"]), "coder", "coded")


def _rounds(done: Done) -> Iterator[Deviation]:
    yield from _named(done.plan.rounds, {one.name for one in done.facts.rounds}, "round", "was opened")


def _named(planned: tuple[str, ...], seen: set[str], what: str, verb: str) -> Iterator[Deviation]:
    if not planned:
        return
    listed = f"{what.capitalize()}s {', '.join(planned)}."
    if added := sorted(seen - set(planned)):
        yield Deviation(kind=f"{what}_added", n=len(added), planned=listed,
                        done=f"{', '.join(added)} {verb} besides.")  # fmt: skip
    if missing := [name for name in planned if name not in seen]:
        yield Deviation(kind=f"{what}_missing", n=len(missing), planned=listed,
                        done=f"None {verb} as {', '.join(missing)}.")  # fmt: skip


_OF_CODES: Final = {
    "codes_added": ("add",),
    "codes_redefined": ("redefine",),
    "codes_merged_or_split": ("merge", "split"),
    "codes_retired": ("retire",),
    "codes_reworded": ("rename", "move", "annotate"),
}


def _codes(done: Done) -> Iterator[Deviation]:
    if done.plan.codebook != "fixed":
        return
    since = [one for one in done.facts.revisions if one.at > done.counted.at]
    changed = [change for one in since for change in one.changes]
    for kind, of_kinds in _OF_CODES.items():
        codes = list(dict.fromkeys(change.code for change in changed if change.kind in of_kinds))
        if codes:
            verb = f"{kind.removeprefix('codes_').replace('_', ' ').capitalize()}"
            yield Deviation(kind=kind, n=len(codes), planned="The codebook as it was registered.",
                            done=f"{verb}: {done.facts.labels(codes)}.")  # fmt: skip


def _level(done: Done) -> Iterator[Deviation]:
    planned, on_words = done.plan.level, done.facts.codings["start"].notna()
    n = int(on_words.sum() if planned == "unit" else (~on_words).sum())
    if planned is not None and n:
        names = {"unit": "whole texts", "span": "words of texts"}
        other = names["span" if planned == "unit" else "unit"]
        yield Deviation(
            kind="level", n=n, planned=f"Codes on {names[planned]}.",
            done=f"Of {counted(len(on_words), 'coding')}, {n:,} {'is' if n == 1 else 'are'} on {other}.",
        )  # fmt: skip


def _blind(done: Done) -> Iterator[Deviation]:
    if not done.plan.blind:
        return
    for one in done.facts.rounds:
        since = done.facts.unblinded.get(one.name)
        if since is None:
            continue
        due = [(coder, unit_id, one.name) for coder in one.coders for unit_id in one.units]
        n = sum(done.facts.first_finished.get(key, "~") > since for key in due)
        if n:
            yield Deviation(
                kind="unblinded_early", n=n,
                planned="A round is unblinded once all its coders have finished.",
                done=f"Round “{one.name}” was unblinded with {n:,} of {counted(len(due), 'coding')} open.",
            )  # fmt: skip


def _options(done: Done) -> Iterator[Deviation]:
    for option, planned in (("new_codes", done.plan.new_codes), ("rating", done.plan.rating_shown)):
        others = sorted(set(_values(done, option)) - {planned})
        if planned is not None and others:
            name = {"new_codes": "new codes", "rating": "rating beside the text"}[option]
            yield Deviation(
                kind=f"{option}_otherwise", n=len(others), planned=f"{name.capitalize()}: {planned}.",
                done=f"It was {' and '.join(others)} while texts were coded.",
            )  # fmt: skip


def _values(done: Done, option: str) -> list[str]:
    """Return what an option was while texts were coded."""
    if done.coding_began is None:
        return []
    last = max(act.at for act in done.coding)
    values = [_OPTIONS[option]]
    for act in sorted((act for act in done.facts.acts if act.kind == "set_options"), key=lambda act: act.at):
        value = json.loads(str(act.text)).get(option)
        if value is not None and act.at <= done.coding_began:
            values = [value]
        elif value is not None and act.at <= last:
            values.append(value)
    return values


def _suggestions(done: Done) -> Iterator[Deviation]:
    planned = done.plan.suggestions
    shown = Counter(
        suggested.when
        for act in done.facts.acts
        if act.kind == "show_suggestions" and act.text is not None
        and not (suggested := Suggested.from_text(act.text)).withheld
    )  # fmt: skip
    n = sum(shown.values()) - (shown[planned] if planned else 0)
    names = {"never": "No suggestions.", "finished": "Suggestions once a text is finished.",
             "shown": "Suggestions from the start."}  # fmt: skip
    if planned is not None and n:
        seen = ", ".join(f"{number:,} {when}" for when, number in sorted(shown.items()))
        yield Deviation(kind="suggestions_otherwise", n=n, planned=names[planned],
                        done=f"Codings of a text with suggestions: {seen}.")  # fmt: skip
    if planned in ("finished", "shown") and not shown and done.coding:
        yield Deviation(kind="suggestions_missing", n=1, planned=names[planned], done="None were shown.")


def _switches(done: Done) -> Iterator[Deviation]:
    n_runs = sum(act.kind == "record_themes" for act in done.facts.acts)
    n_discussed = sum(one.discusses is not None for one in done.facts.rounds)
    for what, planned, n in (
        ("themes of a topic model", done.plan.themes, n_runs),
        ("discussion", done.plan.discussion, n_discussed),
    ):
        kind = "themes" if "themes" in what else "discussion"
        if planned is False and n:
            yield Deviation(kind=f"{kind}_added", n=n, planned=f"No {what}.", done=f"The record has {n:,}.")
        if planned and not n:
            yield Deviation(
                kind=f"{kind}_missing", n=1, planned=f"{what.capitalize()}.", done="None recorded."
            )


def _settled(done: Done) -> Iterator[Deviation]:
    planned, n_rulings = done.plan.settled_by, len(done.facts.rulings)
    names = {"rulings": "Disagreements settled by rulings.", "discussion": "… in discussion.",
             "majority": "… by the majority.", "nothing": "Disagreements left as they are."}  # fmt: skip
    if planned in ("discussion", "majority", "nothing") and n_rulings:
        text = names[planned].replace("…", "Disagreements settled")
        yield Deviation(
            kind="settled_otherwise", n=n_rulings, planned=text, done=f"{counted(n_rulings, 'ruling')}."
        )
    if planned == "rulings" and (n := done.facts.n_unsettled):
        yield Deviation(
            kind="left_unsettled",
            n=n,
            planned=names[planned],
            done=f"{n:,} {'is' if n == 1 else 'are'} not settled.",
        )


def _late(done: Done) -> Iterator[Deviation]:
    until = done.plan.coding_until
    if until is None:
        return
    days = [str(act.at)[:10] for act in done.coding if act.kind == "finish"]
    n = sum(day > until for day in days)
    if n:
        yield Deviation(kind="coded_late", n=n, planned=f"Coded until {until}.",
                        done=f"{were(n, *_CODINGS)} finished later.")  # fmt: skip


def _alpha(done: Done) -> Iterator[Deviation]:
    least = done.plan.min_alpha
    if least is None or not done.plan.with_agreement:
        return
    planned = f"Alpha of {coefficient(least, 2)} or more."
    if not done.facts.double:
        yield Deviation(kind="alpha_missed", n=len(done.facts.codebook.codable), planned=planned,
                        done="No text was coded by two or more, so there is none.")  # fmt: skip
        return
    rows = done.facts.alphas
    below = rows.loc[rows["alpha"] < least, "code"].tolist()
    if below:
        worst = coefficient(rows["alpha"].min(), 2)
        yield Deviation(kind="alpha_missed", n=len(below), planned=planned,
                        done=f"Below it: {done.facts.labels(below)} (lowest {worst}).")  # fmt: skip


CHECKS: Final[tuple[Callable[[Done], Iterator[Deviation]], ...]] = (
    _registered_late, _amended, _amounts, _double_coded, _repeated, _people, _rounds, _codes, _level, _blind,
    _options, _suggestions, _switches, _settled, _late, _alpha,
)  # fmt: skip
