"""From a study's acts to the decisions that every statistic takes: fold, carry over, settle."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from sense7_qual import codings
from sense7_qual._messages import did_you_mean
from sense7_qual.acts import Act, about, before_suggestions, fold
from sense7_qual.adjudication import consensus
from sense7_qual.codebook import Revision
from sense7_qual.errors import ArgumentError
from sense7_qual.frames import RESERVED_CODERS, people
from sense7_qual.rounds import Round, opened, planned
from sense7_qual.store._operations.revise import history
from sense7_qual.store._stored.layout import StudyData


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """Which decisions are asked for; as the parameters of `Store.decisions`."""

    round: str | None = None
    coder: str | None = None
    facet: str | None = None
    consensus: bool = False
    single: bool = False
    before_suggestions: bool = False
    models: bool = False


def decide(acts: Sequence[Act], known: StudyData, coders: Sequence[str], choice: Choice) -> pd.DataFrame:
    """Return the decisions of a study after `acts`; errors as `Store.decisions` documents them."""
    _check(choice, acts, known, coders)
    rounds = opened(acts)
    apart = _apart(rounds) - {choice.round}
    there = [act for act in acts if act.unit_id not in known.without_text]
    revisions = history(there)
    if choice.before_suggestions:
        there = before_suggestions(there)
    decisions = _decided(
        [act for act in there if act.round not in apart or act.traits.by == "team"],
        known, revisions, round=choice.round, facet=choice.facet,
    )  # fmt: skip
    agreed = None
    if choice.consensus:
        talked = {one.name for one in rounds if one.discusses and choice.round in (None, one.discusses)}
        discussed = _decided([act for act in there if act.round in talked], known, revisions)
        agreed = _agreed(there, codings.after_discussion(decisions, discussed), known, revisions, choice)
    if choice.coder is not None:
        decisions = decisions[decisions["coder"] == choice.coder]
    elif not choice.models:
        decisions = people(decisions)
    # Whose rows they are is chosen last: what was agreed hangs on everybody's decisions.
    return pd.concat([decisions, agreed], ignore_index=True)


def of_study(
    frame: pd.DataFrame, rounds: Sequence[Round], round: str | None, *, models: bool
) -> pd.DataFrame:
    """Return the rows of codings or coverage of `round`; by default of all but training and discussions.

    Those of models are left out, unless they are asked for.
    """
    if round is None:
        chosen = ~frame["round"].isin(_apart(rounds))
    else:
        coded = frame["round"].dropna().unique().tolist()
        _check_name(
            "round", round, sorted({*coded, *(one.name for one in rounds)}), "the rounds of the study"
        )
        chosen = frame["round"] == round
    if not models:
        chosen &= frame.index.isin(people(frame).index)
    return frame if chosen.all() else frame[chosen].reset_index(drop=True)


def _apart(rounds: Sequence[Round]) -> set[str]:
    """Return the rounds whose codings are not the study's, unless somebody asks for them by name.

    What was coded to learn the codes is none, nor is what was revised after seeing the others: it would pass
    for agreement.
    """
    return {one.name for one in rounds if one.is_training or one.discusses}


def _decided(
    acts: Sequence[Act],
    known: StudyData,
    revisions: Sequence[Revision],
    *,
    round: str | None = None,
    facet: str | None = None,
) -> pd.DataFrame:
    record = fold(acts, codebook=known.codebook)
    return codings.decisions(
        record.codings, record.coverage, known.codebook, round=round, revisions=revisions, facet=facet,
        abstained=record.abstained,
    )  # fmt: skip


def _agreed(
    acts: Sequence[Act],
    decisions: pd.DataFrame,
    known: StudyData,
    revisions: Sequence[Revision],
    choice: Choice,
) -> pd.DataFrame:
    rulings = rulings_after(acts, known, revisions)
    if choice.round is not None:  # a ruling has no round of its own
        units = set(people(decisions)["unit_id"])
        rulings = [ruling for ruling in rulings if ruling.unit_id in units]
    return consensus(people(decisions), rulings=rulings, single=choice.single)


def rulings_after(acts: Sequence[Act], known: StudyData, revisions: Sequence[Revision]) -> list[Act]:
    """Return the current rulings after `acts`, in the codes of the current codebook."""
    return codings.rulings(about(acts, "ruling"), known.codebook, revisions=revisions)


def quotes_after(acts: Sequence[Act], known: StudyData, revisions: Sequence[Revision]) -> pd.DataFrame:
    """Return the decisions about quotes after `acts`, in the codes of the current codebook."""
    return codings.quotes(about(acts, "quote"), known.codebook, revisions=revisions)


def paraphrased(quotes: pd.DataFrame) -> tuple[tuple[str, int | None, int | None], ...]:
    """Return the words for which a paraphrase was approved, by unit and span."""
    chosen = quotes[quotes["paraphrase"].notna() & quotes["state"].isin(["approved", "stale", "erased"])]
    return tuple(
        (str(unit_id), None if pd.isna(start) else int(start), None if pd.isna(end) else int(end))
        for unit_id, start, end in chosen[["unit_id", "start", "end"]].itertuples(index=False)
    )


def _check(choice: Choice, acts: Sequence[Act], known: StudyData, coders: Sequence[str]) -> None:
    if choice.facet is not None and choice.consensus:
        raise ArgumentError(
            "decisions: expected facet or consensus=True – found both – a ruling covers a code with any "
            "value of the facet; pass only one of the two."
        )
    if choice.single and not choice.consensus:
        raise ArgumentError(
            "decisions: expected single=True only with consensus=True – found it without – pass both."
        )
    named = {act.round for act in acts if act.round is not None}
    _check_name("round", choice.round, sorted(named), "the rounds of the study")
    if choice.coder is not None:
        in_plan = planned(acts, units=known.texts)["coder"].unique()  # who has not begun has no acts yet
        _check_name("coder", choice.coder, sorted({*coders, *in_plan}), "the coders of the study")


def _check_name(what: str, value: object, names: Sequence[str], of: str) -> None:
    """Raise `ArgumentError` where `value` is none of the `names`: an empty table would be read as "none"."""
    is_text = isinstance(value, str)
    if value is None or (is_text and value in names):
        return
    described, hint = repr(value) if is_text else type(value).__name__, did_you_mean(str(value), names)
    if what == "coder" and is_text and value in RESERVED_CODERS:
        hint = "consensus=True adds what was agreed, codings.majority(…) counts"
    raise ArgumentError(f"decisions: expected {what} out of {of} – found {described} – {hint}")
