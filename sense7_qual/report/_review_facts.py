"""What a review reads of a study, once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, Final, Protocol, cast

import numpy as np
import pandas as pd

from sense7_qual import agreement, codings
from sense7_qual.acts import Act, Preregistration, decided_at, preregistrations
from sense7_qual.acts.contents import AnalysisPlan
from sense7_qual.adjudication import SettledBy
from sense7_qual.codebook import Codebook, Revision
from sense7_qual.errors import ArgumentError
from sense7_qual.frames import is_model, people
from sense7_qual.rounds import Round

SIZE: Final = 0.001
"""Of each test, over all that it compares in a study."""
_STANDARD: Final = ("unit_id", "text", "document_id", "case_id", "position", "context")
_MOST_LEVELS: Final = 10
_LEAST_EXPECTED: Final = 5  # in a cell of the test (Cochran 1954)


@dataclass(frozen=True, slots=True, kw_only=True)
class Objection:
    """One thing that a reviewer will object to.

    Attributes
    ----------
    kind : str
        A word for it, such as ``overlap_small``.
    seen : str
        What the record shows, with its numbers.
    n : int
        How many texts, codes, acts or people it is about.
    why, answer : str
        Why a reviewer minds, and what would meet it.
    """

    kind: str
    seen: str
    n: int
    why: str
    answer: str


class Study(Protocol):
    """What is reviewed: anything that has these, as a `Store` does."""

    @property
    def units(self) -> pd.DataFrame:
        """The texts."""

    @property
    def codebook(self) -> Codebook:
        """The present codebook."""

    @property
    def rounds(self) -> Sequence[Round]:
        """The rounds that were opened."""

    def acts(self, *, kind: str | None = ...) -> list[Act]:
        """Return every act, or those of a kind."""

    @property
    def plan(self) -> pd.DataFrame:
        """Return the assignments."""

    def codings(self, *, models: bool = ...) -> pd.DataFrame:
        """Return the current codings."""

    def coverage(self, *, models: bool = ...) -> pd.DataFrame:
        """Return the coverage."""

    @property
    def codebooks(self) -> Mapping[str, Codebook]:
        """Every version of the codebook."""

    def memos(self) -> pd.DataFrame:
        """Return the current memos."""

    def proposals(self) -> pd.DataFrame:
        """Return the codes that coders proposed."""

    def quotes(self) -> pd.DataFrame:
        """Return the decisions on quotes."""

    def decisions(
        self,
        *,
        round: str | Sequence[str] | None = ...,
        coder: str | Sequence[str] | None = ...,
        settled_by: SettledBy | None = ...,
        models: bool = ...,
    ) -> pd.DataFrame:
        """Return the coders' decisions."""

    def rulings(self) -> list[Act]:
        """Return the current rulings."""

    @property
    def revisions(self) -> tuple[Revision, ...]:
        """Return the revisions of the codebook."""


def require_study(store: Study, *, function: str = "review") -> None:
    """Raise `ArgumentError` where `store` is no open study."""
    needs = ("units", "codebook", "rounds", "acts", "decisions", "quotes")
    if isinstance(store, type) or not all(hasattr(store, name) for name in needs):
        raise ArgumentError(
            f"{function}: expected an open study as store – found {type(store).__name__} – pass Store(path)."
        )


def independent_rounds(rounds: Sequence[Round]) -> list[Round]:
    """Return the rounds of people's independent coding: neither training nor discussion."""
    return [one for one in rounds if not one.is_training and not one.discusses and not one.of_models]


class Facts:
    """A study as its reviewer reads it: frames and acts, each read when it is first asked for.

    What models coded, and rounds that are theirs, are left out: it is people's coding that is reviewed.
    """

    def __init__(
        self,
        store: Study,
        *,
        n_boot: int,
        seed: int,
        rating: str | None = None,
        cluster: str | None = None,
        settled_by: SettledBy | None = None,
    ) -> None:
        self.units, self.codebook = store.units, store.codebook
        self.rounds = tuple(one for one in store.rounds if not one.of_models)
        self.acts = [act for act in store.acts() if not is_model(act.coder)]
        self.described = store.acts(kind="describe")
        self.revisions = tuple(store.revisions)
        self._store, self._n_boot, self._seed = store, n_boot, seed
        self._rating, self._cluster, self._settled_by = rating, cluster, settled_by

    def __repr__(self) -> str:
        return f"Facts({len(self.units)} units, {len(self.acts)} acts)"

    @cached_property
    def decisions(self) -> pd.DataFrame:
        """What each coder decided last, discussions included and training not."""
        return self._store.decisions(settled_by="nothing")

    @cached_property
    def independent(self) -> pd.DataFrame:
        """What each coder decided first, before they could see another's decisions or a suggestion."""
        return self._store.decisions()

    @cached_property
    def settled_by(self) -> SettledBy | None:
        """How disagreements count: as asked for or registered; None where several decided and neither says.

        With one coder there are none.
        """
        planned = None if self.registered is None else self.registered.settled_by
        chosen = self._settled_by or cast(SettledBy | None, planned)
        return chosen or ("nothing" if len(self.coders) == 1 else None)

    @cached_property
    def settled(self) -> pd.DataFrame:
        """What counts in counts and links, where it is said how disagreements do."""
        return self._store.decisions(settled_by=self.settled_by)

    @cached_property
    def agreed(self) -> pd.DataFrame:
        """What all decided alike, one alone decided, or a ruling settled: unit_id, code, applied."""
        return self._store.decisions(settled_by="rulings")

    @cached_property
    def coverage(self) -> pd.DataFrame:
        """Which coder finished which text in which round."""
        return self._store.coverage()

    @cached_property
    def codings(self) -> pd.DataFrame:
        """The current codings."""
        return self._store.codings()

    @cached_property
    def plan(self) -> pd.DataFrame:
        """Who codes what."""
        return people(self._store.plan)

    @cached_property
    def first_finished(self) -> dict[tuple[str, str | None, str | None], str]:
        """When a coder first finished a text in a round, also where it was reopened or taken back."""
        first: dict[tuple[str, str | None, str | None], str] = {}
        for act in self.acts:
            if act.kind == "finish":
                first.setdefault((act.coder, act.unit_id, act.round), act.at)
        return first

    @cached_property
    def decided_at(self) -> dict[tuple[str, str], str]:
        """When codings with corrected edges were first made."""
        return decided_at(self.acts)

    @cached_property
    def rulings(self) -> list[Act]:
        """The current rulings."""
        return self._store.rulings()

    @cached_property
    def stale(self) -> pd.DataFrame:
        """What is to be looked at again since the codebook changed."""
        if not self.revisions:
            return pd.DataFrame(columns=["unit_id", "coder", "code", "reason"])
        return codings.stale(self.codings, self.coverage, self.codebook, revisions=self.revisions)

    @cached_property
    def n_unsettled(self) -> int:
        """How many disagreements nobody settled, a text and a code each."""
        return sum(key not in self._settled for key in self.disagreements)

    @cached_property
    def disagreements(self) -> list[tuple[str, str]]:
        """On which text and code coders disagree."""
        n_values = self.decisions.groupby(["unit_id", "code"])["applied"].nunique()
        return list(n_values.index[n_values > 1])

    @cached_property
    def _settled(self) -> set[tuple[str, str]]:
        alike = set(self.agreed[["unit_id", "code"]].itertuples(index=False, name=None))
        return alike | {(str(act.unit_id), str(act.code)) for act in self.rulings}

    @cached_property
    def double(self) -> set[str]:
        """The texts that two coders or more decided on, independently of suggestions."""
        n_coders = self.independent.groupby("unit_id")["coder"].nunique()
        return set(n_coders.index[n_coders > 1])

    @cached_property
    def coders(self) -> list[str]:
        """Who decided on anything."""
        return sorted(self.decisions["coder"].unique())

    @cached_property
    def by_models(self) -> pd.DataFrame:
        """What models decided."""
        decided = self._store.decisions(models=True)
        return decided[decided["coder"].map(is_model).astype(bool)]

    @cached_property
    def linked(self) -> tuple[str | None, str]:
        """The rating that codes are linked to, if any, and what its intervals take as independent."""
        rating, cluster = self._rating, self._cluster
        if rating is None and self.registered is not None:
            rating, cluster = self.registered.rating, cluster or self.registered.cluster
        return rating, cluster or "case_id"

    @cached_property
    def registered(self) -> AnalysisPlan | None:
        """The plan that was registered last."""
        registered = preregistrations(self.acts)
        return registered[-1].plan if registered else None

    @cached_property
    def cluster(self) -> str | None:
        """The column of participants; None where a text that was decided on has none."""
        cases = self.units.set_index("unit_id")["case_id"].reindex(self.decisions["unit_id"].unique())
        return None if cases.isna().any() else "case_id"

    @cached_property
    def coded(self) -> pd.DataFrame:
        """The texts that somebody decided on."""
        return self.units[self.units["unit_id"].isin(self.decisions["unit_id"])].reset_index(drop=True)

    @cached_property
    def conditions(self) -> list[str]:
        """The columns of units that say a condition: two to ten words or truth values."""
        return [
            str(name)
            for name, column in self.coded.items()
            if name not in (*_STANDARD, self.linked[0])
            and 2 <= column.nunique() <= _MOST_LEVELS
            and (not pd.api.types.is_numeric_dtype(column.dtype) or pd.api.types.is_bool_dtype(column.dtype))
        ]

    @cached_property
    def drawn(self) -> list[str]:
        """The column of what can be taken as independent: participants, or else texts."""
        return ["unit_id"] if self.coded["case_id"].isna().any() else ["case_id"]

    @cached_property
    def by_hand(self) -> pd.DataFrame:
        """Which person first finished which text when, in this order: unit_id, coder, at."""
        return codings.finish_order(self.coverage)

    @cached_property
    def _table(self) -> pd.DataFrame:
        """What each coder decided first, a column each."""
        keyed = self.independent.set_index(["unit_id", "code", "coder"])["applied"]
        return keyed.unstack("coder")  # noqa: PD010 – of truth values, with gaps

    def texts_of(self, coder: str) -> set[str]:
        """Return the texts that a coder finished."""
        return set(self.coverage.loc[self.coverage["coder"] == coder, "unit_id"])

    def same_words(self, one: str, other: str) -> tuple[int, int]:
        """Count the codings of words that two coders share on texts that both finished, and all of them."""
        both = self.texts_of(one) & self.texts_of(other)
        rows = self.codings[self.codings["start"].notna() & self.codings["unit_id"].isin(both)]
        key = ["unit_id", "code", "start", "end"]
        first, second = (
            set(rows.loc[rows["coder"] == coder, key].itertuples(index=False, name=None))
            for coder in (one, other)
        )
        return len(first & second), len(first | second)

    def apart(self, one: str, other: str) -> tuple[int, int]:
        """Return on how many of how many decisions two coders differ, where one of both applied the code."""
        if not {one, other} <= set(self._table.columns):
            return 0, 0
        both = self._table[[one, other]].dropna().astype(bool)
        both = both[both.any(axis=1)]
        return int((both[one] != both[other]).sum()), len(both)

    def differs(
        self, marked: pd.Series[bool], levels: pd.Series[Any], *, by_participant: bool = False
    ) -> float:
        """Return the p of chi-square that as much is marked at each level; 1 where that is too rare.

        Texts are counted, which holds where they were drawn one by one; participants, each with a level,
        where they are marked as wholes, or `by_participant`: then those with a text that is marked.
        """
        from scipy.stats import chi2_contingency

        of = self.coded[self.drawn[0]]
        rows = pd.DataFrame({"marked": marked, "level": levels.astype("string"), "of": of}).dropna()
        grouped = rows.groupby("of")
        alike = grouped[["marked", "level"]].agg("nunique").eq(1)
        as_wholes = alike["level"].all() and (by_participant or alike["marked"].all())
        counted = grouped.agg({"marked": "max", "level": "first"}) if as_wholes else rows
        counts = pd.crosstab(counted["marked"], counted["level"])
        if min(counts.shape) < 2:
            return 1.0
        tested = chi2_contingency(counts, correction=False)
        return float(tested.pvalue) if tested.expected_freq.min() >= _LEAST_EXPECTED else 1.0

    def shifted(self, marked: pd.Series[bool], values: pd.Series[Any]) -> float:
        """Return the p of Mann and Whitney that numbers of what is marked are as high as of the rest."""
        from scipy.stats import mannwhitneyu

        known = values.notna()
        one, other = (values[known & side].astype("float64") for side in (marked, ~marked))
        return float(mannwhitneyu(one, other).pvalue) if min(len(one), len(other)) else 1.0

    def fewer_participants(self, marked: pd.Series[bool]) -> float:
        """Return the p that as few participants, or fewer, wrote as many texts drawn at random.

        Normal, with a variance that is too large if anything: whether one participant is drawn goes with
        others being less so.
        """
        from scipy.stats import hypergeom, norm

        if self.drawn != ["case_id"]:
            return 1.0
        n, sizes = int(marked.sum()), self.coded["case_id"].value_counts()
        none = np.asarray(hypergeom.pmf(0, len(marked), sizes.to_numpy(), n))
        spread = float((none * (1 - none)).sum() ** 0.5)
        seen = self.coded.loc[marked, "case_id"].nunique()
        return float(norm.cdf((seen + 0.5 - (1 - none).sum()) / spread)) if spread else 1.0

    def parent(self, code: str) -> str | None:
        """Return the code above a code."""
        return self.codebook[code].parent if code in self.codebook else None

    @cached_property
    def alphas(self) -> pd.DataFrame:
        """Agreement on each code with its interval, of what was decided first."""
        by: dict[str, Any] = {"units": self.units, "cluster": self.cluster} if self.cluster else {}
        return agreement.by_code(self.independent, n_boot=self._n_boot, seed=self._seed, **by)

    @cached_property
    def unblinded(self) -> Mapping[str, str]:
        """When each round was unblinded, of those that were, but discussions and training."""
        return {
            one.name: one.unblinded_at
            for one in self.rounds
            if one.unblinded_at is not None and not one.discusses and not one.is_training
        }

    def label(self, code: str) -> str:
        """Return the label of a code."""
        return self.codebook[code].label if code in self.codebook else code

    def labels(self, codes: Sequence[str]) -> str:
        """Return the labels of the first three codes, and how many more there are."""
        named = ", ".join(f"“{self.label(code)}”" for code in codes[:3])
        return named + (f" and {len(codes) - 3} more" if len(codes) > 3 else "")


def read_once(store: Study, *, function: str) -> Study:
    """Return the study as it is now: what others code from now on does not come in half.

    Of a round of its own the decisions are read when they are first asked for. Raises `ArgumentError`, as of
    `function`, where `store` is no open study.
    """
    require_study(store, function=function)
    if isinstance(store, _ReadOnce):
        return store
    snapshot = cast(Study, _ReadOnce(store))
    for name in ("units", "codebook", "codebooks", "rounds", "plan", "revisions"):
        getattr(snapshot, name)
    for read in (
        snapshot.acts,
        snapshot.codings,
        snapshot.coverage,
        snapshot.decisions,
        snapshot.memos,
        snapshot.proposals,
        snapshot.quotes,
        snapshot.rulings,
    ):
        read()
    snapshot.decisions(settled_by="nothing")
    return snapshot


class _ReadOnce:
    def __init__(self, store: Study) -> None:
        self._store = store

    def __repr__(self) -> str:
        return f"ReadOnce({type(self._store).__name__})"

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        of_store = getattr(self._store, name)
        if not callable(of_store):
            vars(self)[name] = of_store
            return of_store
        read = cache(of_store)

        def read_again(**asked: Any) -> Any:
            return _own(read(**{name: _hashable(value) for name, value in asked.items()}))

        vars(self)[name] = read_again
        return read_again


def _hashable(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _own(value: Any) -> Any:
    """Return the value as a caller's own: what they change of it changes nothing for the others."""
    if isinstance(value, pd.DataFrame):
        return value.copy(deep=False)
    return list(value) if isinstance(value, list) else value


def minute(at: str) -> str:
    """Return a time of the record as it is printed: ``2026-03-02 09:00 UTC``."""
    return f"{at[:10]} {at[11:16]} UTC"


class Done:
    """What was done, and the plan that was in force when coding began."""

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
        """Return the number of acts before the act in the chain of `coder`."""
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
