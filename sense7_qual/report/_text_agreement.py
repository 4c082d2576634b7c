"""Sentences on agreement between coders, and on how disagreements were settled."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

import pandas as pd

from sense7_qual.acts import REASONS
from sense7_qual.report._text import (
    Number,
    Phrase,
    Sentence,
    Traced,
    alpha,
    coefficient,
    count,
    grouped,
    interval,
    level,
    listed,
    named,
    percent,
    phrase,
    plural,
    quoted,
    reason,
    sentence,
    times,
)
from sense7_qual.report._text_basis import agreement_rests_on
from sense7_qual.report._text_record import Record

_TENTATIVE: Final = 0.667  # Krippendorff (2004, p. 241)
_GOOD: Final = 0.8
_MOST_NAMED: Final = 6  # codes in brackets; the table has them all


def agreement_method(record: Record) -> Iterator[Sentence]:
    """Yield the method of agreement and its decisions."""
    if not record.n_double.value:
        yield sentence("No text was coded by two coders, so there is no agreement to report.")
        return
    alphas = record.alphas
    yield sentence(
        "Agreement was computed for each code on {n} that two or more coders had decided on, as "
        "Krippendorff's alpha for nominal data (code applied or not), with {intervals}.",
        n=plural(record.n_double, "text"),
        intervals=_intervals(record),
    )
    yield from agreement_rests_on(record)
    if alphas["reason"].eq("few_clusters").value.any():
        yield sentence(
            "Where fewer than ten {clusters} had the rarer answer, the interval was obtained by leaving out "
            "one of them at a time.",
            clusters=record.clusters,
        )
    yield sentence(
        "Krippendorff's (2004) conventions, .800, and .667 for tentative conclusions, are given as points of "
        "reference, not as verdicts."
    )


def _intervals(record: Record) -> Phrase:
    alphas = record.alphas
    given = level(alphas["confidence_level"].max())
    if not alphas["n_boot"].notna().value.any():
        return phrase("{level}% confidence intervals over {clusters}", level=given, clusters=record.clusters)
    return phrase(
        "{level}% confidence intervals from {n} bootstrap resamples of {clusters} (seed {seed})",
        level=given,
        n=count(alphas["n_boot"].max()),
        clusters=f"whole {record.clusters}",
        seed=named(alphas["seed"].max()),
    )


def agreement_by_code(record: Record) -> Iterator[Sentence]:
    """Yield the range of agreement over codes, which reach a convention, and which have none."""
    if not record.n_double.value:
        return
    rows = record.alphas.set_index("code")
    known = {code: named(label) for code, label in record.labels().items() if code in rows.value.index}
    alphas = rows.value["alpha"]
    defined = sorted((code for code in known if pd.notna(alphas[code])), key=lambda code: alphas[code])
    if len(defined) == 1:
        one = _alpha(rows, defined[0])
        yield sentence("For “{label}” alpha was {alpha}.", label=known[defined[0]], alpha=one)
    elif defined:
        yield from _range(record, rows, known, defined)
    if defined:
        yield from _pairs(record)
    why = [(str(rows.value.loc[code, "reason"]), code) for code in known if code not in defined]
    for codes in grouped(why).values():
        yield sentence(
            "For {labels} alpha could not be computed: {reason}.",
            labels=quoted([known[str(code)] for code in codes]),
            reason=reason(rows.loc[codes[0], "reason"]),
        )
    yield from _overall(record)


def _alpha(rows: Traced, code: str) -> Phrase:
    """Return a code's alpha with its interval."""
    cells = rows.loc
    between: Phrase = ("no interval",)
    if pd.notna(rows.value.loc[code, "alpha_low"]):
        ends = (coefficient(cells[code, f"alpha_{end}"]) for end in ("low", "high"))
        between = interval(cells[code, "confidence_level"], *ends)
    return phrase("{alpha} ({between})", alpha=alpha(cells[code, "alpha"]), between=between)


def _range(
    record: Record, rows: Traced, known: Mapping[str, Number], defined: Sequence[str]
) -> Iterator[Sentence]:
    of_all = record.alphas["alpha"]
    low, high = _alpha(rows, defined[0]), _alpha(rows, defined[-1])
    if str(alpha(of_all.min())) == str(alpha(of_all.max())):
        yield sentence(
            "For each of {n} alpha was {alpha}.",
            n=plural(of_all.notna().sum(), "code"),
            alpha=alpha(of_all.min()),
        )
    else:
        yield sentence(
            "Across {n}, alpha ranged from {low} for “{worst}” to {high} for “{best}”, with a median of "
            "{median}.",
            n=plural(of_all.notna().sum(), "code"),
            low=low,
            worst=known[defined[0]],
            high=high,
            best=known[defined[-1]],
            median=alpha(of_all.median()),
        )
    below = [known[code] for code in defined if rows.value.loc[code, "alpha"] < _TENTATIVE]
    names = phrase(" ({names})", names=quoted(below)) if 0 < len(below) <= _MOST_NAMED else ()
    reached = {
        ".800 or more": of_all.ge(_GOOD).sum(),
        "at least .667 but below .800": of_all.between(_TENTATIVE, _GOOD, inclusive="left").sum(),
        "below .667": of_all.lt(_TENTATIVE).sum(),
    }
    parts = [
        phrase("{level} for {n}", level=words, n=plural(n, "code")) for words, n in reached.items() if n.value
    ]
    yield sentence("It was {parts}{names}.", parts=listed(parts), names=names)


def _pairs(record: Record) -> Iterator[Sentence]:
    """Yield the share of cases in which pairs of coders agreed."""
    low, high = record.alphas["percent"].min(), record.alphas["percent"].max()
    if pd.isna(low.value):
        return
    if str(percent(low)) == str(percent(high)):
        yield sentence("Pairs of coders agreed in {share}% of cases.", share=percent(low))
        return
    yield sentence(
        "Depending on the code, pairs of coders agreed in {low}% to {high}% of cases.",
        low=percent(low),
        high=percent(high),
    )


def _overall(record: Record) -> Iterator[Sentence]:
    if len(record.labels()) < 2:
        return
    both = record["agreement"].overall(record.independent, distance="masi", **record.resampling)
    row = both.value.iloc[0]
    if pd.isna(row["alpha"]) or pd.isna(row["alpha_low"]):
        return
    ends = (coefficient(both[f"alpha_{end}"].iloc[0]) for end in ("low", "high"))
    yield sentence(
        "For the set of codes assigned to each text, alpha with MASI distance was {alpha} ({between}).",
        alpha=alpha(both["alpha"].iloc[0]),
        between=interval(both["confidence_level"].iloc[0], *ends),
    )


def settling(record: Record) -> Iterator[Sentence]:
    """Yield the way in which disagreements were settled."""
    if not record.n_double.value:
        return
    talks = [place for place, one in enumerate(record.store.rounds.value) if one.discusses]
    for place in talks:
        one = record.store.rounds[place]
        yield sentence(
            "In the round “{name}”, {coders} discussed {n} of the unblinded round “{of}” and could revise "
            "their own decisions; agreement leaves these revisions out.",
            name=named(one.name),
            coders=plural(one.coders.how_many(), "coder"),
            n=plural(one.units.how_many(), "text"),
            of=named(one.discusses),
        )
    yield from _WAYS[record.settled_by](record)


def _by_rulings(record: Record) -> Iterator[Sentence]:
    """Yield how many disagreements were ruled on, by whom and how, and how many stayed open."""
    queue = record.disagreements
    if not len(queue.value):
        return
    became = queue["settled"]
    both: Phrase = ()
    if became.eq("differing").value.any():
        both = phrase("; for {n} both readings were ruled legitimate", n=count(became.eq("differing").sum()))
    still_open: Phrase = ("; none stayed open",)
    if became.isna().value.any():
        still_open = phrase(
            "; {n} open and {verb} left out",
            n=plural(became.isna().sum(), "stayed", "stayed"),
            verb="was" if became.isna().sum().value == 1 else "were",
        )
    yield sentence(
        "Disagreements were to be settled by rulings: of {all}, {ruled} ruled on{both}{open}.",
        all=plural(queue.shape[0], "disagreement"),
        both=both,
        open=still_open,
        ruled=plural(became.isin(["applied", "absent"]).sum(), "was", "were", none="none"),
    )
    yield from _rulings(record)


def _rulings(record: Record) -> Iterator[Sentence]:
    """Yield who ruled, on one text or on several at once, and whether on what they had coded themselves."""
    queue, rulings = record.disagreements, record.store.rulings()
    if not queue["settled"].notna().value.any():
        return
    n_together = sum(act.step is not None for act in rulings.value)
    yield sentence(
        "{people} ruled on them{how}, and the coders' own decisions were left unchanged.",
        how="" if n_together else " one by one",
        people=plural(queue["ruled_by"].nunique(), "adjudicator"),
    )
    if n_together:
        call = "sum(act.step is not None for act in store.rulings())"
        yield sentence(
            "{n} of {all} were made together, as one decision on several texts.",
            n=count(rulings.given(call, n_together)),
            all=plural(rulings.how_many(), "ruling"),
        )
    own = record["report"].review(record.store, n_boot=2).frame.set_index("kind")["n"].get("ruled_own", 0)
    if own.value:
        yield sentence(
            "{n} made by someone who had coded the text.", n=plural(own, "ruling was", "rulings were")
        )


def _otherwise(record: Record) -> Iterator[Sentence]:
    """Yield how disagreements count without rulings, and that those on record enter no number."""
    if not len(record.disagreements.value):
        return
    yield sentence(_OTHERWISE[record.settled_by])
    rulings = record.store.rulings()
    if rulings.value:
        yield sentence(
            "{n} on record and in no number.", n=plural(rulings.how_many(), "ruling is", "rulings are")
        )


_OTHERWISE: Final[Mapping[str, str]] = {
    "discussion": "Disagreements were settled in discussion, and those that remained were left out.",
    "majority": "Disagreements were settled by the majority of the coders of a text.",
    "any": "Disagreements were not settled: a code counts where anybody applied it.",
    "nothing": "Disagreements were not settled: each coder's own decisions count.",
}
_WAYS: Final[Mapping[str, Callable[[Record], Iterator[Sentence]]]] = {
    "rulings": _by_rulings,
    **dict.fromkeys(_OTHERWISE, _otherwise),
}


def settled(record: Record) -> Iterator[Sentence]:
    """Yield the number of disagreements and their outcomes."""
    if not record.n_double.value:
        return
    queue = record.disagreements
    if not len(queue.value):
        yield sentence("Coders did not disagree about any code on any text.")
        return
    if len(queue.value) == 1:
        yield sentence(
            "In their last decisions coders disagreed {n}, about one code on one text{became}.",
            n=times(queue.shape[0]),
            became=_became_of_one(record),
        )
    else:
        yield sentence(
            "In the coders' last decisions there were {n}, each about one code on one text{became}.",
            n=plural(queue.shape[0], "disagreement"),
            became=_became(record),
        )
    if record.settled_by != "rulings":
        return
    given = [key for key in REASONS if queue.value["reason"].eq(key).any()]
    if given:
        reasons = [
            phrase("“{words}” {n}", words=REASONS[key], n=times(queue["reason"].eq(key).sum()))
            for key in given
        ]
        were = "reason given was" if len(given) == 1 else "reasons given were"
        yield sentence("The {were} {reasons}.", were=were, reasons=listed(reasons))


def _became_of_one(record: Record) -> str:
    state = record.disagreements["settled"].iloc[0].value
    if record.settled_by != "rulings":
        return ""
    if pd.isna(state):
        return "; it was left open"
    return "; both readings were ruled legitimate" if state == "differing" else "; a ruling settled it"


def _became(record: Record) -> Phrase:
    """Return how many were ruled on and left open, where rulings settle them."""
    if record.settled_by != "rulings":
        return ()
    state = record.disagreements["settled"]
    both: Phrase = ()
    if state.eq("differing").value.any():
        both = phrase(", for {n} both readings were ruled legitimate", n=count(state.eq("differing").sum()))
    return phrase(
        "; {ruled} settled by a ruling{both}, and {open} left open",
        both=both,
        ruled=plural(state.isin(["applied", "absent"]).sum(), "was", "were", none="none"),
        open=plural(state.isna().sum(), "was", "were", none="none"),
    )


def discussions(record: Record) -> Iterator[Sentence]:
    """Yield the changes of each discussion."""
    for place, one in enumerate(record.store.rounds.value):
        if one.discusses:
            yield from _changed(record, one.discusses, record.store.rounds[place])


def _changed(record: Record, before: str, talk: Traced) -> Iterator[Sentence]:
    done = (record.store.decisions(round=one) for one in (before, talk.value.name))
    if not all(len(each.value) for each in done):
        return
    change = record.discussed(before, talk.value.name)
    yield sentence(
        "In the discussion “{name}”, {n} revised; median alpha across codes was {before} before it and "
        "{after} after it, and the latter is no measure of independent coding.",
        name=named(talk.name),
        n=plural(change["n_changed"].sum(), "decision was", "decisions were"),
        before=alpha(change["first"].median()),
        after=alpha(change["second"].median()),
    )
