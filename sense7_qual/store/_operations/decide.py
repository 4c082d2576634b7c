"""From a study's acts to the decisions that every statistic takes: fold, carry over, settle."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, cast

import pandas as pd

from sense7_qual import codings
from sense7_qual._messages import did_you_mean
from sense7_qual.acts import Act, about
from sense7_qual.adjudication import Choice, SettledBy, decide
from sense7_qual.codebook import Codebook, Revision, path
from sense7_qual.errors import ArgumentError
from sense7_qual.frames import RESERVED_CODERS, people
from sense7_qual.rounds import Round, planned
from sense7_qual.store._operations.revise import history
from sense7_qual.store._stored.layout import StudyData

REMOVED: Final[Mapping[str, str]] = {
    "consensus": "settled_by='rulings'",
    "single": "settled_by='rulings', which takes in what one coder coded",
    "before_suggestions": "no argument: without settled_by, what was decided before suggestions counts",
}


def choice(
    round: str | Sequence[str | None] | None,
    coder: str | Sequence[str] | None,
    *,
    facet: str | None,
    settled_by: SettledBy | None,
    leave_out: bool,
    models: bool,
) -> Choice:
    """Return what is asked for, each of `round` and `coder` as a list of names."""
    return Choice(
        rounds=_listed(round),
        coders=cast("tuple[str, ...] | None", _listed(coder)),
        facet=facet,
        settled_by=settled_by,
        leave_coders_out=leave_out,
        models=models,
    )


def _listed(names: object) -> tuple[str | None, ...] | None:
    """Return names as they were given, one or several; what is no name is refused by `_check`."""
    if names is None:
        return None
    return tuple(names) if isinstance(names, list | tuple) else (cast(str, names),)


def decisions(
    acts: Sequence[Act], known: StudyData, coders: Sequence[str], choice: Choice, *, codebook: str | None
) -> pd.DataFrame:
    """Return the decisions of a study after `acts`; errors as `Store.decisions` documents them."""
    _check(choice, acts, known, coders)
    there = [act for act in acts if act.unit_id not in known.without_text]
    revisions = history(there)
    if codebook is None:
        return decide(there, known.codebook, revisions, choice)
    version = _version(codebook, known)
    return decide(_until(there, version, revisions), version, revisions, choice)


def _version(fingerprint: str, known: StudyData) -> Codebook:
    """Return the version of the codebook with this fingerprint, or the only one that begins so."""
    found = [name for name in known.codebooks if name.startswith(fingerprint)]
    if len(found) != 1 or not fingerprint:
        raise ArgumentError(
            f"decisions: expected codebook to be a fingerprint of the study's codebooks – found "
            f"{fingerprint!r} – {did_you_mean(fingerprint, list(known.codebooks))}"
        )
    return known.codebooks[found[0]]


def _until(acts: Sequence[Act], version: Codebook, revisions: Sequence[Revision]) -> list[Act]:
    """Return the acts without those under later versions of the codebook."""
    made_under = {act.codebook for act in acts}
    later = {
        name
        for name in made_under - {version.fingerprint}
        if path(revisions, version.fingerprint, name) and not path(revisions, name, version.fingerprint)
    }
    return [act for act in acts if act.codebook not in later or act.traits.by == "team"]


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
    if choice.facet is not None and choice.settled_by in ("rulings", "discussion"):
        raise ArgumentError(
            "decisions: expected facet or settled_by='rulings' or 'discussion' – found both – a ruling "
            "covers a code with any value of the facet; pass only one of the two."
        )
    named = {act.round for act in acts if act.round is not None}
    for name in choice.rounds or ():  # None stands for what was coded in no round
        if name is not None:
            _check_name("round", name, sorted(named), "the rounds of the study")
    if choice.coders is not None:
        in_plan = planned(acts, units=known.texts)["coder"].unique()  # who has not begun has no acts yet
        for one in choice.coders:
            _check_name("coder", one, sorted({*coders, *in_plan}), "the coders of the study")


def _check_name(what: str, value: object, names: Sequence[str], of: str) -> None:
    """Raise `ArgumentError` where `value` is none of the `names`: an empty table would be read as "none"."""
    is_text = isinstance(value, str)
    if is_text and value in names:
        return
    described, hint = repr(value) if is_text else type(value).__name__, did_you_mean(str(value), names)
    if what == "coder" and is_text and value in RESERVED_CODERS:
        hint = "settled_by='rulings' gives what was agreed and ruled, settled_by='majority' counts"
    raise ArgumentError(f"decisions: expected {what} out of {of} – found {described} – {hint}")
