"""From the record to the decisions that every statistic takes: which of a coder's count, and how they settle.

The only place where the basis of a study's decisions is made (`Store.decisions`, and the widgets on a whole
study): what is in, what was left out, and why.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal, TypeAlias

import numpy as np
import pandas as pd

from sense7_qual import codings
from sense7_qual._basis import ANY_CODER, FIRST, FIRST_IN_ROUND, LAST, Basis, state
from sense7_qual.acts import Act, about, fold, preregistrations
from sense7_qual.acts.contents import AnalysisPlan
from sense7_qual.adjudication._consensus import consensus, latest_rulings
from sense7_qual.codebook import Codebook, Revision
from sense7_qual.frames import DECISIONS, is_model
from sense7_qual.rounds import Independent, Round, independent, opened

SettledBy: TypeAlias = Literal["rulings", "discussion", "majority", "nothing", "any"]
_RULES: Final[Mapping[str, str]] = {
    "rulings": "settled by rulings",
    "discussion": "settled by discussion",
    "majority": "majority",
    "any": ANY_CODER,
}
_PAIR: Final = ["unit_id", "coder"]
_KEY: Final = [*_PAIR, "round"]
_SEEN: Final[Mapping[str, str]] = {"others": "after seeing others", "suggestion": "after a suggestion"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """Which decisions are asked for; as the parameters of `Store.decisions`.

    Among the rounds, None is what was coded outside rounds.
    """

    rounds: tuple[str | None, ...] | None = None
    coders: tuple[str, ...] | None = None
    facet: str | None = None
    settled_by: SettledBy | None = None
    leave_coders_out: bool = False
    models: bool = False


def decide(
    acts: Sequence[Act], codebook: Codebook, revisions: Sequence[Revision], choice: Choice
) -> pd.DataFrame:
    """Return the decisions after `acts`, with their basis.

    By default each coder's first independent decision on a text, which agreement is about; with `settled_by`
    what the study's coders hold in the end, of their last decisions. Only rounds and coders of the registered
    plan count, unless others are asked for.
    """
    everybody = tuple(sorted({act.coder for act in acts if act.kind == "finish"}))
    if choice.facet is not None and choice.coders is not None and choice.coders != everybody:
        every = decide(
            acts, codebook, revisions, replace(choice, coders=everybody, settled_by=_unsettled(choice))
        )
        return _of_coders(every, choice)
    selection = _Selection.of(acts, choice)
    own = [act for act in acts if not is_model(act.coder)]
    before = independent(own, selection.rounds)
    if choice.settled_by is None:
        chosen = _first(own, before, selection, codebook)
        rule = FIRST_IN_ROUND if chosen.inside else FIRST
    else:
        chosen, rule = _last(own, before, selection, codebook), LAST
    chosen.left_out.update(selection.models_left_out(acts))
    rulings = _rulings(acts, codebook, revisions) if choice.settled_by == "rulings" else []
    ruled = frozenset((str(act.unit_id), str(act.code)) for act in rulings)
    under = _Under(codebook, revisions, choice.facet, ruled)
    models = selection.models(acts)
    until = _until(acts if models else own)
    decided = _decided(chosen, under, leave_out=choice.leave_coders_out, rule=rule, until=until)
    if choice.settled_by not in (None, "nothing"):
        decided = _settled(decided, str(choice.settled_by), rulings)
    if not models:
        return decided
    record = _of_models([act for act in acts if act.coder in models], selection, codebook)
    by_models = _decided(record, under, leave_out=False, rule=LAST, until=until)
    return pd.concat([decided, by_models], ignore_index=True)


def _unsettled(choice: Choice) -> SettledBy | None:
    return None if choice.settled_by is None else "nothing"


def _of_coders(every: pd.DataFrame, choice: Choice) -> pd.DataFrame:
    """Return some coders' decisions by a facet: with the values that anybody states, as among all."""
    own = every[every["coder"].isin(choice.coders or ())].reset_index(drop=True)
    basis = replace(Basis.of(own), n_texts=int(own["unit_id"].nunique()))
    decided = state(own[list(DECISIONS.columns)], replace(basis.with_rows(own), selected=None))
    if choice.settled_by in (None, "nothing"):
        return decided
    return _settled(decided, str(choice.settled_by), [])


# Which rounds and coders --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Selection:
    """The rounds and coders that count, out of those of a study.

    Attributes
    ----------
    rounds : tuple of Round
        All of the study.
    wanted_rounds, wanted_coders : tuple of str or None
        Those that count; None for all. Among the rounds, None is what was coded outside rounds.
    by_name : bool
        Whether the rounds were asked for by name.
    by_plan : bool
        Whether the coders are those of the plan.
    with_models : bool
        Whether models are asked for, all of them.
    """

    rounds: tuple[Round, ...]
    wanted_rounds: tuple[str | None, ...] | None
    wanted_coders: tuple[str, ...] | None
    by_name: bool
    by_plan: bool
    with_models: bool

    @classmethod
    def of(cls, acts: Sequence[Act], choice: Choice) -> _Selection:
        """Return what was asked for, or else what the registered plan says."""
        rounds = opened(acts)
        registered = preregistrations(acts)
        plan = registered[-1].plan if registered else None
        coders = choice.coders if choice.coders is not None else _planned_coders(plan, acts)
        return cls(
            rounds=rounds,
            wanted_rounds=choice.rounds if choice.rounds is not None else _planned_rounds(plan, rounds),
            wanted_coders=coders,
            by_name=choice.rounds is not None,
            by_plan=choice.coders is None,
            with_models=choice.models,
        )

    def is_apart(self, name: str | None) -> bool:
        """Return True for training, and for a discussion: what is revised there would agree too well."""
        return any(one.name == name and (one.is_training or one.discusses) for one in self.rounds)

    def counts(self, name: str | None) -> bool:
        """Return True for a round in which decisions count, None being outside rounds.

        A plan can name rounds only, so that it leaves out none of what was coded outside them.
        """
        if self.wanted_rounds is None or (name is None and not self.by_name):
            return not self.is_apart(name)
        return name in self.wanted_rounds

    def discusses_counted(self, name: str | None) -> bool:
        """Return True for a discussion of a round that counts."""
        return any(one.name == name and one.discusses and self.counts(one.discusses) for one in self.rounds)

    def models(self, acts: Iterable[Act]) -> set[str]:
        """Return the models that are asked for."""
        named = {name for name in self.wanted_coders or () if is_model(name)}
        return named | (_models_of(acts) if self.with_models else set())

    def models_left_out(self, acts: Sequence[Act]) -> dict[str, int]:
        """Return how many texts models coded that nobody asked for."""
        hidden = _models_of(acts) - self.models(acts)
        return {f"by {name}": len(_finished_by(acts, name)) for name in sorted(hidden)}

    def select(self, coverage: pd.DataFrame, *, discussions: bool = False) -> pd.DataFrame:
        """Return the rows of coverage of the rounds and coders that count."""
        counts = {
            name: self.counts(name) or (discussions and self.discusses_counted(name))
            for name in set(_names(coverage))
        }
        rows = coverage[np.array([counts[name] for name in _names(coverage)], dtype=bool)]
        return rows if self.wanted_coders is None else rows[rows["coder"].isin(self.wanted_coders)]

    def outside_plan(self, coverage: pd.DataFrame) -> dict[str, int]:
        """Return how many finished texts are left out because the plan does not have them."""
        planned = set(self.wanted_coders or ()) if self.by_plan else set()
        outside = {"outside the plan's rounds": 0, "by coders outside the plan": 0}
        for name, coder in zip(_names(coverage), coverage["coder"], strict=True):
            if self.counts(name):
                outside["by coders outside the plan"] += (
                    self.by_plan and bool(planned) and coder not in planned
                )
            elif not self.by_name and not self.is_apart(name):
                outside["outside the plan's rounds"] += 1
        return {what: n for what, n in outside.items() if n}


def _planned_rounds(plan: AnalysisPlan | None, rounds: Sequence[Round]) -> tuple[str, ...] | None:
    """Return the rounds of independent coding in the plan, where one of them was opened."""
    independent_ones = {one.name for one in rounds if not one.is_training and one.discusses is None}
    return tuple(name for name in (plan.rounds if plan else ()) if name in independent_ones) or None


def _planned_coders(plan: AnalysisPlan | None, acts: Iterable[Act]) -> tuple[str, ...] | None:
    """Return the coders of the plan, where one of them coded."""
    coded = {act.coder for act in acts if act.kind == "finish"}
    return plan.coders if plan is not None and coded & set(plan.coders) else None


def _models_of(acts: Iterable[Act]) -> set[str]:
    return {act.coder for act in acts if act.kind == "finish" and is_model(act.coder)}


def _finished_by(acts: Iterable[Act], coder: str) -> set[str]:
    return {str(act.unit_id) for act in acts if act.kind == "finish" and act.coder == coder}


# Which decision of a coder on a text --------------------------------------------------------------------


@dataclass(slots=True)
class _Chosen:
    """Codings and finished units, one row of coverage per unit × coder, and what is in and out."""

    codings: pd.DataFrame
    coverage: pd.DataFrame
    abstained: pd.DataFrame
    inside: dict[str, int]
    left_out: dict[str, int]


def _first(own: Sequence[Act], before: Independent, selection: _Selection, codebook: Codebook) -> _Chosen:
    """Choose the first independent decisions; where a round is asked for by name, also those made later.

    A round by name may be one that was coded after seeing others: what is asked for is returned, and said.
    """
    every, early = fold(own, codebook=codebook), fold(before.acts, codebook=codebook)
    all_rows = selection.select(every.coverage)
    first = _earliest(selection.select(early.coverage))
    late = _without(all_rows, first)
    if not selection.by_name:
        chosen = _Chosen(_of_rows(early.codings, first), first, every.abstained, {}, {})
        chosen.left_out.update(_late(late, before, "decided only "))
    else:
        added = _earliest(late)
        coded = pd.concat([_of_rows(early.codings, first), _of_rows(every.codings, added)], ignore_index=True)
        coverage = pd.concat([first, added], ignore_index=True)
        chosen = _Chosen(coded, coverage, every.abstained, _late(added, before, ""), {})
    chosen.left_out.update(_again(all_rows, first, before))
    chosen.left_out.update(selection.outside_plan(every.coverage))
    return chosen


def _late(late: pd.DataFrame, before: Independent, prefix: str) -> dict[str, int]:
    """Count the texts, of each coder, on which they decided only after they had seen something."""
    seen = {key[:2]: before.later.get(key, "others") for key in _keys(late)}
    return {f"{prefix}{_SEEN[what]}": n for what, n in sorted(Counter(seen.values()).items())}


def _again(all_rows: pd.DataFrame, first: pd.DataFrame, before: Independent) -> dict[str, int]:
    """Count the texts that were decided on again: in a later round, or in the same after seeing something."""
    chosen = {key[:2]: key[2] for key in _keys(first)}
    again = [key for key in _keys(all_rows) if key[:2] in chosen]
    n_later = sum(key[2] != chosen[key[:2]] for key in again)
    found = {"of a later round": n_later} if n_later else {}
    seen = Counter(before.later[key] for key in again if key[2] == chosen[key[:2]] and key in before.later)
    return found | {f"finished again {_SEEN[what]}": n for what, n in sorted(seen.items())}


def _last(own: Sequence[Act], before: Independent, selection: _Selection, codebook: Codebook) -> _Chosen:
    """Choose each coder's last decisions, those of discussions among them."""
    every = fold(own, codebook=codebook)
    finished = selection.select(every.coverage, discussions=True)
    coded, rows = codings.of_round(_of_rows(every.codings, finished), finished)
    rows = _in_order_of(finished, rows)
    seen = Counter(_SEEN[before.later[key]] for key in _keys(rows) if key in before.later)
    return _Chosen(
        coded, rows, every.abstained, dict(sorted(seen.items())), selection.outside_plan(every.coverage)
    )


def _of_models(made: Sequence[Act], selection: _Selection, codebook: Codebook) -> _Chosen:
    """Choose the last decisions of models; of the plan's rounds, which are people's, they need not be."""
    every = fold(made, codebook=codebook)
    counts = [
        selection.counts(name) if selection.by_name else not selection.is_apart(name)
        for name in _names(every.coverage)
    ]
    rows = every.coverage[np.array(counts, dtype=bool)]  # a list of none would choose columns
    coded, rows = codings.of_round(_of_rows(every.codings, rows), rows)
    return _Chosen(coded, rows, every.abstained, {}, {})


# Decisions and their basis ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Under:
    """In whose codes decisions are read, by which facet, and on which units and codes a ruling decides."""

    codebook: Codebook
    revisions: Sequence[Revision]
    facet: str | None
    ruled: frozenset[tuple[str, str]]

    def decisions(self, chosen: _Chosen, coverage: pd.DataFrame) -> pd.DataFrame:
        """Return the decisions on some of the finished units that were chosen."""
        return codings.decided_on(
            _of_rows(chosen.codings, coverage),
            coverage,
            self.codebook,
            revisions=self.revisions,
            facet=self.facet,
            abstained=chosen.abstained,
            ruled=self.ruled,
        )


def _decided(chosen: _Chosen, under: _Under, *, leave_out: bool, rule: str, until: str) -> pd.DataFrame:
    decided = under.decisions(chosen, chosen.coverage)
    basis = Basis.of(decided)
    if leave_out and any(one.how for one in basis.waiting):
        decided, basis = _without_those_who_wait(chosen, basis, under)
    inside, left_out = tuple(chosen.inside.items()), tuple(chosen.left_out.items())
    return state(decided, replace(basis, rule=rule, until=until, inside=inside, left_out=left_out))


def _without_those_who_wait(chosen: _Chosen, basis: Basis, under: _Under) -> tuple[pd.DataFrame, Basis]:
    """Leave out all that a coder decided on a code of which they have something to review, by its value."""
    no_figure = {one.code for one in basis.waiting if one.how}
    stale = codings.stale(chosen.codings, chosen.coverage, under.codebook, revisions=under.revisions)
    late = {code: set(rows["coder"]) for code, rows in stale.groupby("code") if code in no_figure}
    place = {code.id: place for place, code in enumerate(under.codebook.codable)}
    found = []
    for coders in {frozenset(late.get(code, ())) for code in place}:
        rest = chosen.coverage[~chosen.coverage["coder"].isin(coders)]
        decided = under.decisions(chosen, rest)
        codes = [code for code in place if late.get(code, set()) == coders]
        found.append(decided[_stem(decided["code"]).isin(codes)])
    chosen.left_out["by coders with something to review"] = sum(map(len, late.values()))
    kept = pd.concat(found)
    order = kept.assign(place=_stem(kept["code"]).map(place)).sort_values(["place"], kind="stable").index
    waiting = tuple(one for one in basis.waiting if not one.how)
    return kept.loc[order].reset_index(drop=True), replace(basis, waiting=waiting)


def _stem(codes: pd.Series) -> pd.Series:
    """Return the codes of decisions by a facet (relational.valence=met: relational)."""
    stems = {name: name.partition("=")[0].rpartition(".")[0] if "=" in name else name for name in set(codes)}
    return codes.map(stems)


def _until(acts: Iterable[Act]) -> str:
    """Return the time of the last act about what was decided, to the minute."""
    times = [act.at for act in acts if act.traits.decides or act.traits.subject == "ruling"]
    return max(times)[:16].replace("T", " ") + " UTC" if times else ""


# How disagreements are settled --------------------------------------------------------------------------


def _settled(decided: pd.DataFrame, by: str, rulings: Sequence[Act]) -> pd.DataFrame:
    """Return one decision on each text and code, with a basis that counts what stays open."""
    basis, tally = Basis.of(decided), codings.tally(decided)
    kinds = _kinds(tally)
    if by == "any":
        settled = DECISIONS.frame(tally.assign(coder=ANY_CODER, applied=tally["n_applied"] > 0))
        kinds = kinds.replace({"split": "by some of the coders"})
    elif by == "majority":
        settled = codings.majority(decided)
        tied = 2 * tally["n_applied"] == tally["n_coders"]
        kinds = kinds.mask(kinds.eq("split") & tied, "tied").replace({"split": "by more than half"})
    else:
        ruled = _that_count(rulings, decided, basis)
        settled = consensus(decided, rulings=ruled, single=True)
        kinds = _with_rulings(kinds, tally, ruled).replace({"split": "unsettled"})
    counts = kinds.value_counts()
    inside = [(what, int(counts[what])) for what in _INSIDE if what in counts]
    left = [(what, int(counts[what])) for what in _OPEN if what in counts]
    stated = replace(
        basis,
        rule=_RULES[by],
        n_texts=int(settled["unit_id"].nunique()),
        inside=(*inside, *basis.inside),
        left_out=(*left, *basis.left_out),
    )
    return state(settled[list(DECISIONS.columns)], stated)


_INSIDE: Final = ("agreed", "by one coder", "ruled", "by more than half", "by some of the coders")
_OPEN: Final = ("unsettled", "tied", "with both readings kept")


def _kinds(tally: pd.DataFrame) -> pd.Series:
    """Return whether each unit × code was decided by one coder, agreed on or split."""
    alike = (tally["n_applied"] == 0) | (tally["n_applied"] == tally["n_coders"])
    kinds = pd.Series("split", index=tally.index).mask(alike, "agreed")
    return kinds.mask(tally["n_coders"] == 1, "by one coder")


def _with_rulings(kinds: pd.Series, tally: pd.DataFrame, rulings: Sequence[Act]) -> pd.Series:
    latest = latest_rulings(rulings)
    keys = zip(tally["unit_id"], tally["code"], strict=True)
    said = {True: "ruled", False: "ruled", None: "with both readings kept"}
    return pd.Series(
        [said[latest[key].applied] if key in latest else kind for key, kind in zip(keys, kinds, strict=True)],
        index=kinds.index,
        dtype="object",
    )


def _rulings(acts: Sequence[Act], codebook: Codebook, revisions: Sequence[Revision]) -> list[Act]:
    """Return the current rulings, in the codes of the codebook."""
    return codings.rulings(about(acts, "ruling"), codebook, revisions=revisions)


def _that_count(rulings: Sequence[Act], decided: pd.DataFrame, basis: Basis) -> list[Act]:
    """Return the rulings on what was decided; those on a code that waits by its value wait with it."""
    waiting = {one.code for one in basis.waiting if one.how}
    units = set(decided["unit_id"])
    return [act for act in rulings if act.unit_id in units and act.code not in waiting]


# Rows of coverage ---------------------------------------------------------------------------------------


def _names(coverage: pd.DataFrame) -> list[str | None]:
    return [None if pd.isna(name) else str(name) for name in coverage["round"]]


def _keys(coverage: pd.DataFrame) -> list[tuple[str, str, str | None]]:
    """Return coder, unit and round of each row."""
    pairs = zip(coverage["coder"], coverage["unit_id"], strict=True)
    return [
        (str(coder), str(unit), name) for (coder, unit), name in zip(pairs, _names(coverage), strict=True)
    ]


def _earliest(coverage: pd.DataFrame) -> pd.DataFrame:
    """Return the row of the round in which each coder first finished each unit."""
    at = pd.to_datetime(coverage["first_finished_at"], utc=True, format="ISO8601")
    order = at.sort_values(kind="stable").index
    return coverage.loc[order].drop_duplicates(_PAIR).sort_index()


def _in_order_of(finished: pd.DataFrame, chosen: pd.DataFrame) -> pd.DataFrame:
    """Return the chosen rows in the order in which their coders and units first appear among all."""
    places = {key[:2]: place for place, key in reversed(list(enumerate(_keys(finished))))}
    order = np.argsort([places[key[:2]] for key in _keys(chosen)], kind="stable")
    return chosen.iloc[order]


def _without(rows: pd.DataFrame, chosen: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of the coders and units that are not among those chosen."""
    return rows[~_index(rows, _PAIR).isin(_index(chosen, _PAIR))]


def _of_rows(coded: pd.DataFrame, coverage: pd.DataFrame) -> pd.DataFrame:
    """Return the codings of the units, coders and rounds of these rows."""
    return coded[_index(coded, _KEY).isin(_index(coverage, _KEY))]


def _index(frame: pd.DataFrame, names: Collection[str]) -> pd.MultiIndex:
    return pd.MultiIndex.from_frame(frame[list(names)].fillna("").astype("object"))
