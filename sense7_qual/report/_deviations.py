"""Departures of a study from its registered plan: a list for the paper, found in record and analysis."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Final

import pandas as pd

from sense7_qual._arguments import check_arguments
from sense7_qual._present import MISSING, coefficient, count, counted, percent
from sense7_qual.acts import preregistrations
from sense7_qual.acts.contents import AnalysisPlan, Suggested, settings_of
from sense7_qual.errors import ArgumentError
from sense7_qual.report._review_facts import (
    Done,
    Facts,
    Study,
    independent_rounds,
    minute,
    require_study,
)
from sense7_qual.report._table import Table, made_with

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


def were(n: int, one: str, several: str | None = None) -> str:
    """Return a count with its noun and verb, at the beginning of a sentence: ``No texts were``."""
    words = f"{counted(n, one, several)} {'was' if n == 1 else 'were'}"
    return words[0].upper() + words[1:]


def _registered_late(done: Done) -> Iterator[Deviation]:
    begun, at = done.coding_began, done.counted.at
    if begun is not None and at > begun:
        n = sum(act.kind == "finish" and act.at < at for act in done.coding)
        yield Deviation(
            kind="registered_late",
            n=n,
            planned="Registered before coding.",
            done=f"Registered {minute(at)}, when {counted(n, *_CODINGS)} had been finished.",
        )
    if not done.registered_before_unblinding:
        yield Deviation(
            kind="registered_after_unblinding",
            n=1,
            planned="Registered before anything was unblinded.",
            done=f"Registered {minute(at)}, after round “{_unblinded_round(done)}” was unblinded.",
        )


def _unblinded_round(done: Done) -> str:
    return str(done.first_unblinding.round) if done.first_unblinding else ""


def _amended(done: Done) -> Iterator[Deviation]:
    place = done.registered.index(done.counted)
    for before, after in zip(done.registered[place:], done.registered[place + 1 :], strict=False):
        changed = [
            one.name
            for one in fields(AnalysisPlan)
            if getattr(before.plan, one.name) != getattr(after.plan, one.name)
        ]
        yield Deviation(
            kind="amended",
            n=len(changed),
            planned="One plan.",
            done=f"Amended {minute(after.at)}, after coding had begun: {', '.join(changed)}.",
        )


def _amounts(done: Done) -> Iterator[Deviation]:
    for what, planned, n in (
        ("text", done.plan.n_units, done.n_units),
        ("participant", done.plan.n_participants, done.n_participants),
    ):
        if planned is not None and n != planned:
            yield Deviation(
                kind=f"{'fewer' if n < planned else 'more'}_{what}s",
                n=abs(n - planned),
                planned=f"{counted(planned, what)}.",
                done=f"{were(n, what)} coded.",
            )


def _double_coded(done: Done) -> Iterator[Deviation]:
    share, n, total = done.plan.double_coded, len(done.facts.double), done.n_units
    if share is not None and n < math.floor(share * total):
        seen = f" ({percent(n / total)}%)" if total else ""
        yield Deviation(
            kind="fewer_double_coded",
            n=math.floor(share * total) - n,
            planned=f"{percent(share)}% of the texts coded by two or more, independently.",
            done=f"{n:,} of {counted(total, 'text')}{seen}.",
        )


def _repeated(done: Done) -> Iterator[Deviation]:
    planned = done.plan.n_repeated
    rounds_of = done.facts.coverage.groupby(["unit_id", "coder"])["round"].nunique(dropna=False)
    n = int((rounds_of > 1).groupby(level="unit_id").any().sum()) if len(rounds_of) else 0
    if planned is not None and n < planned:
        yield Deviation(
            kind="fewer_repeated",
            n=planned - n,
            planned=f"{counted(planned, 'text')} coded twice by the same coder.",
            done=f"{were(n, 'text')}.",
        )


def _people(done: Done) -> Iterator[Deviation]:
    yield from _named(done.plan.coders, set(done.facts.coverage["coder"]), "coder", "coded")


def _rounds(done: Done) -> Iterator[Deviation]:
    yield from _named(done.plan.rounds, {one.name for one in done.facts.rounds}, "round", "was opened")
    planned = [one for one in independent_rounds(done.facts.rounds) if one.name in done.plan.rounds]
    finished = set(done.facts.coverage["round"].dropna())
    empty = [one.name for one in planned if one.name not in finished]
    if empty:
        yield Deviation(
            kind="round_not_coded",
            n=len(empty),
            planned=f"Rounds {', '.join(done.plan.rounds)}.",
            done=f"Nothing was coded in {', '.join(empty)}.",
        )


def _named(planned: tuple[str, ...], seen: set[str], what: str, verb: str) -> Iterator[Deviation]:
    if not planned:
        return
    listed = f"{what.capitalize()}s {', '.join(planned)}."
    if added := sorted(seen - set(planned)):
        yield Deviation(
            kind=f"{what}_added",
            n=len(added),
            planned=listed,
            done=f"In addition, {', '.join(added)} {verb}.",
        )
    if missing := [name for name in planned if name not in seen]:
        yield Deviation(
            kind=f"{what}_missing",
            n=len(missing),
            planned=listed,
            done=f"No {what} {verb} under the name {', '.join(missing)}.",
        )


_OF_CODES: Final = {
    "codes_added": ("add",),
    "codes_redefined": ("redefine", "narrow", "widen"),
    "codes_merged_or_split": ("merge", "split"),
    "codes_retired": ("retire",),
    "codes_reworded": ("rename", "move", "annotate", "reword"),
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
            yield Deviation(
                kind=kind,
                n=len(codes),
                planned="The codebook as it was registered.",
                done=f"{verb}: {done.facts.labels(codes)}.",
            )


def _level(done: Done) -> Iterator[Deviation]:
    planned, on_words = done.plan.level, done.facts.codings["start"].notna()
    n = int(on_words.sum() if planned == "unit" else (~on_words).sum())
    if planned is not None and n:
        names = {"unit": "whole texts", "span": "words of texts"}
        other = names["span" if planned == "unit" else "unit"]
        yield Deviation(
            kind="level",
            n=n,
            planned=f"Codes on {names[planned]}.",
            done=f"Of {counted(len(on_words), 'coding')}, {n:,} {'is' if n == 1 else 'are'} on {other}.",
        )


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
                kind="unblinded_early",
                n=n,
                planned="A round is unblinded once all its coders have finished.",
                done=f"Round “{one.name}” was unblinded while {n:,} of {counted(len(due), 'coding')} "
                f"{'was' if n == 1 else 'were'} open.",
            )


def _options(done: Done) -> Iterator[Deviation]:
    for option, planned in (("new_codes", done.plan.new_codes), ("rating", done.plan.rating_shown)):
        others = sorted(set(_values(done, option)) - {planned})
        if planned is not None and others:
            name = {"new_codes": "new codes", "rating": "rating next to the text"}[option]
            yield Deviation(
                kind=f"{option}_otherwise",
                n=len(others),
                planned=f"{name.capitalize()}: {planned}.",
                done=f"While texts were coded: {' and '.join(others)}.",
            )


def _values(done: Done, option: str) -> list[str]:
    """Return the values of an option while texts were coded."""
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
        if act.kind == "show_suggestions"
        and act.text is not None
        and not (suggested := Suggested.from_text(act.text)).withheld
    )
    n = sum(shown.values()) - (shown[planned] if planned else 0)
    names = {
        "never": "No suggestions.",
        "finished": "Suggestions once a text is finished.",
        "shown": "Suggestions from the start.",
    }
    if planned is not None and n:
        seen = ", ".join(f"{number:,} {when}" for when, number in sorted(shown.items()))
        yield Deviation(
            kind="suggestions_otherwise",
            n=n,
            planned=names[planned],
            done=f"Codings of a text with suggestions: {seen}.",
        )
    if planned in ("finished", "shown") and not shown and done.coding:
        yield Deviation(kind="suggestions_missing", n=1, planned=names[planned], done="None were shown.")


def _models(done: Done) -> Iterator[Deviation]:
    """Find models and prompts on record that were not planned."""
    asked = [settings_of(act) for act in done.facts.described]
    prompts = {str(prompt) for one in asked for prompt in (one.get("prompts") or {}).values()}
    for what, planned, seen in (
        ("model", done.plan.models, {str(one["model"]) for one in asked if one.get("model")}),
        ("prompt", done.plan.prompts, prompts),
    ):
        others = sorted(seen - set(planned))
        if planned and others:
            named = f"{what.capitalize()}: {', '.join(planned)}."
            yield Deviation(
                kind=f"{what}_changed",
                n=len(others),
                planned=named,
                done=f"Others on record: {', '.join(others)}.",
            )


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
    names = {
        "rulings": "Disagreements settled by rulings.",
        "discussion": "… in discussion.",
        "majority": "… by the majority.",
        "nothing": "Disagreements left open.",
        "any": "A code counts once anybody applied it.",
    }
    if planned in ("discussion", "majority", "nothing", "any") and n_rulings:
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
        yield Deviation(
            kind="coded_late",
            n=n,
            planned=f"Coded until {until}.",
            done=f"{were(n, *_CODINGS)} finished later.",
        )


def _alpha(done: Done) -> Iterator[Deviation]:
    least = done.plan.min_alpha
    if least is None or not done.plan.with_agreement:
        return
    planned = f"Alpha of {coefficient(least, 2)} or more."
    if not done.facts.double:
        yield Deviation(
            kind="alpha_missed",
            n=len(done.facts.codebook.codable),
            planned=planned,
            done="No text was coded by two or more, so alpha is not defined.",
        )
        return
    rows = done.facts.alphas
    below = rows.loc[rows["alpha"] < least, "code"].tolist()
    if below:
        worst = coefficient(rows["alpha"].min(), 2)
        yield Deviation(
            kind="alpha_missed",
            n=len(below),
            planned=planned,
            done=f"Below that: {done.facts.labels(below)} (lowest {worst}).",
        )


CHECKS: Final[tuple[Callable[[Done], Iterator[Deviation]], ...]] = (
    _registered_late,
    _amended,
    _amounts,
    _double_coded,
    _repeated,
    _people,
    _rounds,
    _codes,
    _level,
    _blind,
    _options,
    _suggestions,
    _models,
    _switches,
    _settled,
    _late,
    _alpha,
)


@dataclass(frozen=True, slots=True)
class Deviations:
    """Departures from the plan; its `repr` has counts only.

    Attributes
    ----------
    deviations
        Tuple of deviations, each with `kind` (a word), `planned`, `done` (what the record shows, with its
        numbers) and `n` (how many texts, codes, coders, rounds or acts).
    registered
        When and by whom the plan that counts was registered, its fingerprint, and what shows that this was
        before anything was unblinded.
    """

    deviations: tuple[Deviation, ...]
    registered: str
    codebook_line: str

    def __repr__(self) -> str:
        return f"Deviations({len(self.deviations)} of what was planned)"

    def __iter__(self) -> Iterator[Deviation]:
        return iter(self.deviations)

    def __len__(self) -> int:
        return len(self.deviations)

    @property
    def frame(self) -> pd.DataFrame:
        """One row per deviation: kind, planned, done, n."""
        rows = [(one.kind, one.planned, one.done, one.n) for one in self.deviations]
        kinds = {"kind": "string", "planned": "string", "done": "string", "n": "Int64"}
        return pd.DataFrame(rows, columns=list(kinds)).astype(kinds)

    @property
    def table(self) -> Table:
        """The deviations as a table that can be written, with a last column for what it means."""
        none = (("–", "Nothing was done differently from the plan.", ""),)
        rows = tuple((one.planned, one.done, "Why, and what it changes: …") for one in self.deviations)
        return Table(
            title="Deviations from the registered plan",
            headers=("Planned", "Done", "To be explained by the authors"),
            rows=rows or none,
            notes=(self.registered, self.codebook_line),
        )


def deviations(store: Study, *, analysis_plan: AnalysisPlan | None = None) -> Deviations:
    """Compare what a study did with what it had registered, and return every departure.

    The plan that counts is the last one that was registered before coding began; without one, the first.
    What it left open cannot be departed from, and what the record does not hold, such as how participants
    were found, is not compared. With `analysis_plan` every field of the two plans is compared too.

    Parameters
    ----------
    store : Store
        The study, as whoever has it open may see it. Nothing of participants' texts is returned.
    analysis_plan : AnalysisPlan, optional
        What is analysed, as in `paper`: another question, rating, seed, number of resamples or anything else
        than registered is a deviation, and so is a rating or a hypothesis where the plan names none.

    Returns
    -------
    Deviations
        As values (`Deviations.deviations`), as a DataFrame (`frame`) and as a `Table` (`table`).

    Raises
    ------
    ArgumentError
        `store` is no open study, or registered no plan.

    Notes
    -----
    That a plan was registered before a round was unblinded is proved where one person did both: the hash of
    each act goes into the next one of that person. Otherwise it is told by the two computers' clocks.

    Examples
    --------
    ``report.deviations(store).table``
    """
    check_arguments(deviations, locals(), but=("store",))
    require_study(store)
    plans = preregistrations(store.acts())
    if not plans:
        raise ArgumentError(
            "deviations: expected a study with a registered plan – found none – register one before coding: "
            "store.preregister(acts.contents.AnalysisPlan(…), coder=…)."
        )
    done = Done(Facts(store, n_boot=2, seed=0))
    found = [one for check in CHECKS for one in check(done)]
    if analysis_plan is not None:
        found += of_analysis(done.plan, analysis_plan)
    return Deviations(tuple(found), _registered(done), made_with(store.codebook))


def _registered(done: Done) -> str:
    one, unblinding = done.counted, done.first_unblinding
    line = f"Registered {minute(one.at)} by {one.coder}, SHA-256 {one.plan.fingerprint}"
    if unblinding is None:
        return f"{line}; no round was unblinded."
    when = "before" if done.registered_before_unblinding else "after"
    if unblinding.coder == one.coder:
        n = abs(done.chain_place(unblinding.act_id, one.coder) - done.chain_place(one.act_id, one.coder))
        return f"{line}; {counted(n, 'act')} {when} the first unblinding in the chain of {one.coder}'s acts."
    return f"{line}; {when} the first unblinding (by {unblinding.coder}), going by their computers' clocks."


#: What each field of a plan is called in print; a law holds that none is missing.
FIELDS: Final[Mapping[str, str]] = {
    "question": "Research question",
    "hypotheses": "Hypotheses",
    "coders": "Coders",
    "rounds": "Rounds",
    "n_units": "Number of texts",
    "n_participants": "Number of participants",
    "double_coded": "Share of texts coded by two or more",
    "n_repeated": "Texts coded twice by one coder",
    "level": "Codes put on (unit: whole texts; span: words of texts)",
    "codebook": "Codebook fixed or open",
    "blind": "Rounds unblinded only once finished",
    "new_codes": "New codes",
    "rating_shown": "Rating next to the text",
    "suggestions": "Suggestions of a model",
    "models": "Models that code",
    "prompts": "Prompts",
    "themes": "Use of a topic model",
    "discussion": "Discussion",
    "settled_by": "Disagreements settled by",
    "coding_until": "Last day of coding",
    "with_agreement": "Agreement as part of the argument",
    "min_alpha": "Alpha that each code should reach",
    "rating": "Rating that codes are linked to",
    "cluster": "Participants",
    "conditions": "Conditions that codes are compared by",
    "adjust": "Adjustment of p (bh: over the codes; max-t: over codes and sources)",
    "equivalence": "Largest link that would not matter",
    "hypothesis": "Links within participants or between them",
    "n_boot": "Bootstrap resamples",
    "seed": "Seed of the intervals",
    "answers": "Answers in the form",
}
#: Of these a plan that says nothing says none: what the analysis adds was not planned.
_NONE_PLANNED: Final = ("hypotheses", "rating", "equivalence", "conditions")
#: Of these an analysis that says nothing has none.
_NONE_ANALYSED: Final = ("hypotheses", "rating", "equivalence", "min_alpha")


def of_analysis(registered: AnalysisPlan, analysed: AnalysisPlan) -> Iterator[Deviation]:
    """Yield the fields in which what is analysed departs from what was registered.

    What the registered plan left open cannot be departed from, but that codes were linked to a rating, or
    hypotheses tested, of which it said nothing. What the analysis leaves open is not done otherwise: the
    record shows whether it was.
    """
    # p is adjusted in any case, and links are about own texts unless a plan says otherwise
    analysed = replace(analysed, adjust=analysed.adjust or "bh", hypothesis=analysed.hypothesis or "within")
    registered = replace(registered, hypothesis=registered.hypothesis or "within")
    for one in fields(AnalysisPlan):
        planned, done = getattr(registered, one.name), getattr(analysed, one.name)
        if one.name == "answers":
            planned, done = _otherwise(planned, done)
        was_open = planned in (None, ()) and one.name not in _NONE_PLANNED
        is_open = done in (None, ()) and one.name not in _NONE_ANALYSED
        if planned != done and not was_open and not is_open:
            name = FIELDS[one.name]
            yield Deviation(
                kind=f"analysed_{one.name}",
                n=1,
                planned=f"{name}: {_printed(one.name, planned)}.",
                done=f"Analysed: {_printed(one.name, done)}.",
            )


def _otherwise(planned: Mapping[str, str], done: Mapping[str, str]) -> tuple[Sequence[str], Sequence[str]]:
    """Return the answers that both plans give, and give otherwise, with what they answer."""
    differing = [name for name in planned if name in done and planned[name] != done[name]]
    both = ([f"{name.replace('_', ' ')} – {of[name]}" for name in differing] for of in (planned, done))
    return next(both), next(both)


def _printed(name: str, value: Any) -> str:
    if value is None or value == ():
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple | list):
        return "; ".join(map(str, value)).rstrip(".")
    if name == "double_coded":
        return f"{percent(value)}%"
    if isinstance(value, float):
        return coefficient(value, 3)
    return count(value) if isinstance(value, int) else str(value).rstrip(".") or MISSING
