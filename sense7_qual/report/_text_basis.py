"""Sentences on what numbers rest on: which decisions are in, which were left out, and what is still open."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from sense7_qual._basis import Basis
from sense7_qual.report._text import (
    Phrase,
    Sentence,
    Traced,
    count,
    listed,
    named,
    phrase,
    plural,
    quoted,
    sentence,
)
from sense7_qual.report._text_record import Record

LATER: Final[Mapping[str, tuple[str, str]]] = {
    "of a later round": ("decision on a text in a later round", "decisions on texts in later rounds"),
    "finished again after seeing others": (
        "text that a coder finished again after they could see others' decisions",
        "texts that coders finished again after they could see others' decisions",
    ),
    "finished again after a suggestion": (
        "text that a coder finished again after a model's suggestion",
        "texts that coders finished again after a model's suggestion",
    ),
    "decided only after seeing others": (
        "text that a coder decided on only after they could see others' decisions",
        "texts that coders decided on only after they could see others' decisions",
    ),
    "decided only after a suggestion": (
        "text that a coder decided on only after a model's suggestion",
        "texts that coders decided on only after a model's suggestion",
    ),
    "outside the plan's rounds": (
        "text finished outside the plan's rounds",
        "texts finished outside the plan's rounds",
    ),
    "by coders outside the plan": (
        "text finished by somebody whom the plan does not name",
        "texts finished by people whom the plan does not name",
    ),
}
SETTLED: Final[Mapping[str, tuple[str, str]]] = {
    "agreed": ("was decided alike by all coders of the text", "were decided alike by all coders of the text"),
    "alike by all": (
        "was decided alike by all coders of the text",
        "were decided alike by all coders of the text",
    ),
    "by one coder": ("was decided by one coder alone", "were decided by one coder alone"),
    "ruled": ("was ruled on", "were ruled on"),
    "by more than half": ("was decided by more than half", "were decided by more than half"),
    "by some of the coders": ("was applied by some of the coders", "were applied by some of the coders"),
}
OPEN: Final[Mapping[str, str]] = {
    "unsettled": "not settled",
    "tied": "tied",
    "with both readings kept": "ruled to have two legitimate readings",
}


def agreement_rests_on(record: Record) -> Iterator[Sentence]:
    """Yield which decisions agreement is about, and which were left out of it."""
    basis = record.basis(record.independent)
    found: Basis = basis.value
    late = [place for place, (what, _) in enumerate(found.inside) if what.startswith("after")]
    if found.rounds == ("",):
        yield sentence(
            "It is based on each coder's own first decisions on a text; as they were made outside rounds, "
            "the record does not show that coders could not see each other's."
        )
    else:
        yield sentence(
            "It is based on each coder's own first decisions on a text{rounds}, made before they could see "
            "another's decisions on it or a model's suggestion{but}{outside}.",
            rounds=_rounds(basis),
            outside="; of what was coded outside rounds, the record does not show that coders could not see "
            "each other's"
            if "" in found.rounds
            else "",
            but=phrase(", but for {late}", late=listed([_late(basis, place) for place in late]))
            if late
            else "",
        )
    left = [place for place, (what, _) in enumerate(found.left_out) if what in LATER]
    if left:
        yield sentence(
            "It leaves out {left}.",
            left=listed(
                [plural(basis.left_out[place][1], *LATER[found.left_out[place][0]]) for place in left]
            ),
        )
    yield from to_review(record, record.independent)


def _late(basis: Traced, place: int) -> Phrase:
    what = basis.value.inside[place][0]
    return phrase(
        "{n} {what}", n=plural(basis.inside[place][1], "text decided on", "texts decided on"), what=what
    )


def _rounds(basis: Traced) -> Phrase:
    """Return the rounds of decisions, where they were made in rounds."""
    found = basis.value.rounds
    names = [named(basis.rounds[place]) for place, name in enumerate(found) if name]
    if not names:
        return ()
    several = "rounds" if len(names) > 1 else "round"
    outside = " and outside rounds" if "" in found else ""
    return phrase(" in the {several} {names}{outside}", several=several, names=quoted(names), outside=outside)


def to_review(record: Record, frame: Traced) -> Iterator[Sentence]:
    """Yield the codes of which decisions wait for review since the codebook changed."""
    labels = record.labels()
    basis = record.basis(frame)
    for place, one in enumerate(basis.value.waiting):
        own = basis.waiting[place]
        label = named(labels[one.code]) if one.code in labels else one.code
        if one.how:
            yield sentence(
                "“{label}” was {how} and has no figure: {n} of {all} are to be reviewed.",
                label=label,
                how=one.how,
                n=count(own.n),
                all=plural(own.of, "decision"),
            )
        else:
            yield sentence(
                "Of “{label}”, {n} of {all} are to be reviewed.",
                label=label,
                n=count(own.n),
                all=plural(own.of, "decision"),
            )


def settled_rests_on(record: Record) -> Iterator[Sentence]:
    """Yield which decisions are counted and linked: how many were settled in which way, and left out."""
    basis = record.basis(record.settled)
    found: Basis = basis.value
    inside = [
        phrase("{n} {verb}", n=count(basis.inside[place][1]), verb=SETTLED[what][n != 1])
        for place, (what, n) in enumerate(found.inside)
        if what in SETTLED
    ]
    if inside:
        yield sentence("Of the decisions on a text and a code, {inside}.", inside=listed(inside))
    out = [
        phrase("{n} {what}", n=count(basis.left_out[place][1]), what=OPEN[what])
        for place, (what, _) in enumerate(found.left_out)
        if what in OPEN
    ]
    if out:
        yield sentence("Left out of counts and links, as undecided: {out}.", out=listed(out))


def differing(record: Record) -> Iterator[Sentence]:
    """Yield that agreement, and counts and links, rest on different decisions, and on which."""
    if not len(record.independent.value) or not len(record.settled.value):
        return
    first, settled = (frame["basis"].iloc[0] for frame in (record.independent, record.settled))
    if record.n_double.value:
        yield sentence("Agreement rests on: {line}.", line=named(first))
        yield sentence(
            "Counts and links rest on other decisions: {line}.",
            line=named(settled),
        )
    else:
        yield sentence("Counts and links rest on: {line}.", line=named(settled))


def not_registered(record: Record) -> Iterator[Sentence]:
    """Yield the rounds and coders that were asked for and that no registered plan names."""
    for what, names in (("round", record.rounds), ("coder", record.by)):
        if names:
            several = f"{what}s" if len(names) > 1 else what
            yield sentence(
                "Only what was coded by the {several} {names} counts{outside}; this was not registered."
                if what == "coder"
                else "Only what was coded in the {several} {names}{outside} counts; this was not registered.",
                several=several,
                names=quoted(list(names)),
                outside=" or outside rounds" if what == "round" else "",
            )
