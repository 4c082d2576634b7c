"""What texts take from the record of a study: its frames, each with the call that gives it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final

import pandas as pd

from sense7_qual._bootstrap import check_resampling
from sense7_qual._messages import did_you_mean, word
from sense7_qual.errors import ArgumentError, TableError
from sense7_qual.frames import is_model
from sense7_qual.links import MULTIVERSE, Adjustment, Hypothesis, Margin
from sense7_qual.report._review_facts import Study, read_once
from sense7_qual.report._text import Traced, trace

PARTICIPANT: Final = "case_id"
COMPUTED: Final = ("majority", "pooled", "consensus")
ANY_CODER: Final = "any coder"
"""Whose decisions are counted where several code and agreement is no part of the argument."""


@dataclass(frozen=True, repr=False)
class Record:
    """A study as its texts read it; each frame is read when it is first asked for."""

    names: dict[str, Traced]
    with_agreement: bool
    rating: str | None
    cluster: str | None
    n_boot: int
    seed: int
    source: str | None = None
    round: str | None = None
    multiverse: Traced | None = None
    adjust: Adjustment = "bh"
    equivalence: Margin | None = None
    hypothesis: Hypothesis = "within"
    further: Traced | None = None

    def __getitem__(self, name: str) -> Traced:
        return self.names[name]

    @property
    def store(self) -> Traced:
        """The study."""
        return self.names["store"]

    @cached_property
    def decisions(self) -> Traced:
        """What each coder decided in the end, without training and discussions."""
        return self.store.decisions(**self._in_round)

    @cached_property
    def independent(self) -> Traced:
        """What each coder had decided before any suggestion was shown to them."""
        return self.store.decisions(**self._in_round, before_suggestions=True)

    @cached_property
    def decided(self) -> Traced:
        """What each coder decided, and the consensus; of one coder where only one decided."""
        return self.store.decisions(**self._in_round, consensus=True, single=True)

    @property
    def _in_round(self) -> dict[str, str]:
        return {} if self.round is None else {"round": self.round}

    @cached_property
    def coders(self) -> list[str]:
        """Who decided."""
        return sorted(self.decisions.value["coder"].unique())

    @cached_property
    def is_settled(self) -> bool:
        """Whether everything that was decided on has a consensus."""
        decided, pairs = self.decided.value, ["unit_id", "code"]
        agreed = decided.loc[decided["coder"] == "consensus", pairs]
        return len(agreed) == len(decided[pairs].drop_duplicates())

    @property
    def linked(self) -> str:
        """Whose decisions are linked to ratings: those asked for, or the consensus where it is complete."""
        if self.source is not None:
            return self.source
        if len(self.coders) == 1:
            return self.coders[0]
        return "consensus" if self.is_settled else "pooled"

    @property
    def counted(self) -> str:
        """Whose decisions are counted: those that are linked, or the majority, where links are pooled."""
        if not self.with_agreement and self.source is None and len(self.coders) > 1:
            return ANY_CODER
        return "majority" if self.linked == "pooled" else self.linked

    @cached_property
    def counts(self) -> Traced:
        """The decisions that are counted, of the coder that `counted` names."""
        if self.counted == ANY_CODER:
            applied = self.decisions.groupby(["unit_id", "code"], as_index=False)["applied"].any()
            return applied.assign(coder=ANY_CODER)
        if self.counted == "majority":
            return self["codings"].majority(self.decided)
        return self.decided.query(f"coder == {self.counted!r}")

    @cached_property
    def people(self) -> Traced | None:
        """How many participants have each code among the decisions counted; None where not all are known."""
        if self.cluster is None:
            return None
        applied, whose = self.counts.query("applied"), self.store.units[["unit_id", self.cluster]]
        return applied.merge(whose, on="unit_id").groupby("code")[self.cluster].nunique()

    @cached_property
    def every_link(self) -> Traced | None:
        """How ratings differ with each code; None without a rating, participants, or anything decided.

        By max-T of every source, because p is then adjusted over all of them.
        """
        if self.rating is None or self.cluster is None or not len(self.decided.value):
            return None
        asked: dict[str, Any] = {} if self.adjust == "bh" else {"adjust": self.adjust}
        asked |= {"equivalence": [*self.equivalence]} if self.equivalence else {}
        asked |= {"hypothesis": self.hypothesis} if self.hypothesis != "within" else {}
        if self.adjust == "bh" or len(self.coders) == 1:
            asked["sources"] = [self.linked]
        return self["links"].code_to_rating(
            self.decided, self.store.units, rating=self.rating, cluster=self.cluster, n_boot=self.n_boot,
            seed=self.seed, **asked,
        )  # fmt: skip

    @property
    def links(self) -> Traced | None:
        """Of these the source that is reported."""
        every = self.every_link
        if every is None or every.value["source"].nunique() < 2:
            return every
        return every.query(f"source == {self.linked!r}")

    @cached_property
    def unrated(self) -> Traced:
        """Whether each text that is decided on lacks the rating."""
        units = self.store.units
        return units[units["unit_id"].isin(self.decided["unit_id"])][self.rating].isna()

    @cached_property
    def missing(self) -> Traced | None:
        """What missing ratings could do to the links; None where there are no links or none is missing."""
        if self.links is None or not self.unrated.value.any():
            return None
        return self["links"].models.missing_ratings(
            self.decided, self.store.units, rating=self.rating, cluster=self.cluster,
            sources=[self.linked_alone],
        )  # fmt: skip

    @property
    def linked_alone(self) -> str:
        """Whose decisions are linked, or the majority's, where links are pooled."""
        return "majority" if self.linked == "pooled" else self.linked

    @cached_property
    def disagreements(self) -> Traced:
        """On which text and code coders disagree, and what became of it."""
        return self["adjudication"].queue(self.decisions, rulings=self.store.rulings())

    def discussed(self, before: str, after: str) -> Traced:
        """Return agreement before and after a round of discussion; empty where nothing was decided in one."""
        rounds = (self.store.decisions(round=one) for one in (before, after))
        by = {name: self.resampling[name] for name in ("units", "cluster") if name in self.resampling}
        return self["agreement"].difference(*rounds, discussion=True, **by)

    @cached_property
    def n_coders(self) -> Traced:
        """How many people decided on anything."""
        return self.decisions["coder"].nunique()

    @cached_property
    def n_coded(self) -> Traced:
        """How many texts were coded."""
        return self.decisions["unit_id"].nunique()

    @cached_property
    def n_double(self) -> Traced:
        """How many texts two coders or more decided on, independently of suggestions."""
        return self.independent.groupby("unit_id")["coder"].nunique().gt(1).sum()

    @cached_property
    def alphas(self) -> Traced:
        """Agreement on each code."""
        return self["agreement"].by_code(self.independent, **self.resampling)

    @cached_property
    def models(self) -> list[str]:
        """The models that coded, by their names."""
        coders = self.store.coverage(models=True).value["coder"].unique().tolist()
        return sorted(name for name in coders if is_model(name))

    def with_people(self, models: Sequence[str]) -> Traced:
        """Return the agreement of models with people, beside that of people."""
        independent = self.store.decisions(before_suggestions=True, models=True)
        return self["agreement"].human_model(independent, models=list(models), **self.resampling)

    def card(self, model: str) -> Traced | str:
        """Return the card of a model that coded, or why there is none.

        Of its texts those that people coded count alike: the record does not say how they were drawn.
        """
        if self.cluster is None:
            return "a text has no participant, so that intervals would be too narrow"
        units, rounds = self.store.units, self.store.rounds
        own = [place for place, one in enumerate(rounds.value) if one.name == model]
        if own:
            units = units[units["unit_id"].isin(rounds[own[0]].units)]
        ids = units["unit_id"]
        people, made = self.independent, self.store.decisions(models=True).query(f"coder == {model!r}")
        try:
            return self["agreement"].diagnosis.model_card(
                people[people["unit_id"].isin(ids)], model=made[made["unit_id"].isin(ids)], units=units,
                cluster=self.cluster, inclusion="equal", by=[self.rating] if self.rating else [],
                n_boot=self.n_boot, seed=self.seed,
            )  # fmt: skip
        except TableError as error:
            return str(error)

    @property
    def resampling(self) -> dict[str, Any]:
        """How intervals are resampled: participants, where every coded text has one."""
        by: dict[str, Any] = {"units": self.store.units, "cluster": self.cluster} if self.cluster else {}
        return by | {"n_boot": self.n_boot, "seed": self.seed}

    @property
    def clusters(self) -> str:
        """What is resampled, as a plural."""
        if self.cluster is None:
            return "texts"
        return "participants" if self.cluster == PARTICIPANT else f"{self.cluster} clusters"

    @cached_property
    def objections(self) -> Traced:
        """What a reviewer would object to in how the coding was done, without agreement."""
        return self["report"].review(self.store, with_agreement=False).frame

    def objected(self, kind: str) -> Traced:
        """Return the number of texts, codes or acts of an objection; 0 without it."""
        return self.objections.set_index("kind")["n"].get(kind, 0)

    def kinds(self, kind: str) -> Traced:
        """Return the number of current acts of a kind."""
        return self["acts"].standing(self.store.acts(kind=kind)).how_many()

    def labels(self) -> dict[str, Traced]:
        """Return the labels of codes that can be applied, by id, in the codebook's order."""
        return {code.id: self.store.codebook[code.id].label for code in self.store.codebook.value.codable}


def record_of(
    store: Study,
    *,
    function: str,
    with_agreement: bool = True,
    rating: str | None = None,
    cluster: str | None = None,
    n_boot: int = 2000,
    seed: int = 0,
    source: str | None = None,
    round: str | None = None,
    multiverse: pd.DataFrame | None = None,
    adjust: Adjustment = "bh",
    equivalence: Margin | None = None,
    hypothesis: Hypothesis = "within",
    further: Mapping[str, Any] | None = None,
) -> Record:
    """Return the record of a study; participants are its clusters where every coded text has one.

    Raises `ArgumentError`, as of `function`, where `store` is no open study or a setting is none of its, and
    `TableError` where `multiverse` lacks a column.
    """
    store = read_once(store, function=function)
    check_resampling(function, n_boot=n_boot, confidence_level=0.95, seed=seed)
    columns = [name for name in store.units.columns if name not in ("unit_id", "text", "context")]
    for what, name in (("rating", rating), ("cluster", cluster)):
        if name is not None and name not in columns:
            raise ArgumentError(
                f"{function}: expected {what} to be a column of the study's units – found {word(name)} – "
                f"{did_you_mean(name, columns)}"
            )
    if multiverse is not None:
        MULTIVERSE.require(multiverse)
    tried = None if multiverse is None else Traced(MULTIVERSE.frame(multiverse), "multiverse")
    record = Record(
        trace(store), with_agreement, rating, cluster, n_boot, seed, source, round, tried, adjust,
        equivalence, hypothesis,
    )  # fmt: skip
    known = [*record.coders, *COMPUTED]
    if source is not None and source not in known:
        raise ArgumentError(
            f"{function}: expected as source a coder, consensus, majority or pooled – found {word(source)} – "
            f"{did_you_mean(source, known)}"
        )
    if further:
        record = replace(record, further=Traced(dict(further), "further"))
    return record if cluster is not None else replace(record, cluster=_participants(record))


def _participants(record: Record) -> str | None:
    coded = record.decisions.value["unit_id"].unique()
    cases = record.store.value.units.set_index("unit_id")[PARTICIPANT].reindex(coded)
    return None if cases.isna().any() or not len(cases) else PARTICIPANT
