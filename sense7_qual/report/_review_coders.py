"""What a reviewer looks at in the coders: when they coded, whose codings are whose, what they share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations
from typing import Final

import pandas as pd

from sense7_qual.corpus import assignments
from sense7_qual.report._review_facts import SIZE, Facts, Objection

__all__ = ["ON_CODERS", "ON_OVERLAP"]

_FEWEST: Final = 20
_FASTEST: Final = 1_000 / 60  # words in a second; reading takes 238 a minute (Brysbaert 2019)
_BREAK: Final = 600.0  # seconds after which a text was not all that was done
_SAME: Final = 0.9  # of the marked words
_NAMES_FROM: Final = 4  # letters of a name that may be mistyped


def _one_second(facts: Facts) -> Iterator[Objection]:
    found = []
    for coder, own in facts.by_hand.groupby("coder"):
        if len(own) >= _FEWEST and own["at"].dt.floor("s").value_counts().iloc[0] * 2 > len(own):
            found.append(str(coder))
    if found:
        yield Objection(
            kind="one_second", n=len(found),
            seen=f"Coders who finished half of their texts or more in one and the same second: {len(found)}.",
            why="These codings were made elsewhere, or by a program: the record does not show who decided "
            "when, or blind to what.",
            answer="Say where they come from; codings of a model belong to a coder called model-….",
        )  # fmt: skip


def _faster_than_reading(facts: Facts) -> Iterator[Objection]:
    n_words = facts.units.set_index("unit_id")["text"].map(lambda text: len(text.split()))
    found = []
    for coder, own in facts.by_hand.groupby("coder"):
        seconds = own["at"].diff().dt.total_seconds()
        words = own["unit_id"].map(n_words)[(seconds > 0) & (seconds < _BREAK)]
        pace = words / seconds[words.index]
        if len(pace) >= _FEWEST and pace.median() > _FASTEST:
            found.append(str(coder))
    if found:
        yield Objection(
            kind="faster_than_reading", n=len(found),
            seen=f"Coders who finished half of their texts at over 1,000 words a minute: {len(found)}.",
            why="People read some 240 words a minute (Brysbaert 2019): these texts were not read.",
            answer="Ask them how they coded; have a part of their texts coded by somebody else.",
        )  # fmt: skip


def _names_alike(facts: Facts) -> Iterator[Objection]:
    """Find two pseudonyms that may be one person's: they have no text in common, and differ by a letter."""
    texts = {str(coder): set(own) for coder, own in facts.decisions.groupby("coder")["unit_id"]}
    pairs = [
        (one, other)
        for one, other in combinations(facts.coders, 2)
        if not texts[one] & texts[other] and _may_be_mistyped(one, other)
    ]
    if pairs:
        yield Objection(
            kind="coder_names_alike", n=len(pairs),
            seen="Coders who have no text in common are called nearly the same: "
            + "; ".join(" and ".join(pair) for pair in pairs[:3]) + ".",
            why="One person under two names counts as two coders.",
            answer="Ask who they are; if it is one person, bring their codings in under one name.",
        )  # fmt: skip


def _may_be_mistyped(one: str, other: str) -> bool:
    """Return True if two names are one but for case and signs, or but for one letter (no digit)."""
    plain = ["".join(sign for sign in name.casefold() if sign.isalnum()) for name in (one, other)]
    if plain[0] == plain[1]:
        return True
    short, long = sorted(plain, key=len)
    if len(short) < _NAMES_FROM or len(long) - len(short) > 1:
        return False
    at = next((place for place, sign in enumerate(short) if sign != long[place]), len(short))
    same_rest = long[at + 1 :] == short[at + (len(short) == len(long)) :]
    return same_rest and not (long[at] + short[at : at + 1]).isdigit()


def _copied(facts: Facts) -> Iterator[Objection]:
    """Find two coders who marked the same letters, or who never differ where others do."""
    pairs = list(combinations(facts.coders, 2))
    apart = {pair: facts.apart(*pair) for pair in pairs}
    found = []
    for pair in pairs:
        same, either = facts.same_words(*pair)
        differ, n = apart[pair]
        others = [each for other, each in apart.items() if other != pair]
        rate = sum(each[0] for each in others) / max(sum(each[1] for each in others), 1)
        alike = differ == 0 and n >= _FEWEST and (1 - rate) ** n * len(pairs) < SIZE
        if alike or (either >= _FEWEST and same >= _SAME * either):
            found.append(" and ".join(pair))
    if found:
        yield Objection(
            kind="copied", n=len(found),
            seen=f"Codings are the same, to the letter or in every decision, of {'; '.join(found[:3])}.",
            why="People who read by themselves do not mark the same letters, and differ where others do.",
            answer="Ask how they were made; have the texts coded again, blind, and report that agreement.",
        )  # fmt: skip


def _not_random(facts: Facts) -> Iterator[Objection]:
    """Compare the texts that several coded with the rest: conditions, rating, length, participants."""
    coded, rating = facts.coded, facts.linked[0]
    both = coded["unit_id"].isin(facts.double)
    if min(both.sum(), (~both).sum()) < _FEWEST or any(plan.weights for _, plan in assignments(facts.acts)):
        return  # drawn by weights, which the analysis knows
    tried = {name: facts.differs(both, coded[name]) for name in facts.conditions}
    tried["the length of texts"] = facts.shifted(both, coded["text"].str.len())
    if rating in coded and pd.api.types.is_numeric_dtype(coded[rating].dtype):
        tried[str(rating)] = facts.shifted(both, coded[rating])
    tried["the number of participants"] = facts.fewer_participants(both)
    found = [name for name, p in tried.items() if p * len(tried) < SIZE]
    if found:
        yield Objection(
            kind="overlap_not_random", n=len(found),
            seen=f"Texts that several coded differ from those of one coder in {', '.join(found[:3])}.",
            why="Agreement on them says nothing of texts that are otherwise.",
            answer="Draw the texts that several code at random (store.assign(…, overlap=…)).",
        )  # fmt: skip


def _training_counted(facts: Facts) -> Iterator[Objection]:
    trained = {unit for one in facts.rounds if one.is_training for unit in one.units} & facts.double
    if trained:
        yield Objection(
            kind="training_counted", n=len(trained),
            seen="Texts that agreement is computed on, and that coders were trained with: "
            f"{len(trained):,}.",
            why="Coders were told what is right there.",
            answer="Leave these texts out of agreement, and code others in their place.",
        )  # fmt: skip


def _one_side(facts: Facts) -> Iterator[Objection]:
    """Find a coder whose side every ruling took, more often than all coders' sides were taken."""
    rulings = {
        (str(act.unit_id), str(act.code)): act.applied for act in facts.rulings if act.applied is not None
    }
    keys = pd.MultiIndex.from_frame(facts.decisions[["unit_id", "code"]])
    rows, keys = facts.decisions[keys.isin(list(rulings))], keys[keys.isin(list(rulings))]
    if rows.empty:
        return
    won = rows["applied"].to_numpy() == [rulings[key] for key in keys]
    each = pd.Series(won).groupby(rows["coder"].to_numpy()).agg(["mean", "size"])
    found = each.index[(each["mean"] == 1) & (won.mean() ** each["size"] * len(each) < SIZE)]
    if len(found):
        yield Objection(
            kind="one_side", n=int(each.loc[found[0], "size"]),
            seen=f"All {each.loc[found[0], 'size']:,} rulings on decisions of {found[0]} took that side.",
            why="A consensus that is one coder’s codings is no second look at them.",
            answer="Have the texts ruled on by somebody who does not see whose decision is whose.",
        )  # fmt: skip


ON_CODERS: Final[tuple[Callable[[Facts], Iterator[Objection]], ...]] = (
    _one_second, _faster_than_reading, _names_alike,
)  # fmt: skip
ON_OVERLAP: Final[tuple[Callable[[Facts], Iterator[Objection]], ...]] = (
    _copied, _not_random, _training_counted, _one_side,
)  # fmt: skip
