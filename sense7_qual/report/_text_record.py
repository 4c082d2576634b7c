"""What texts take from the record of a study: its frames, each with the call that gives it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final

import pandas as pd

from sense7_qual._basis import COLUMN, Basis, Waiting
from sense7_qual._bootstrap import check_resampling
from sense7_qual._messages import did_you_mean, word
from sense7_qual.acts import preregistrations
from sense7_qual.acts.contents import AnalysisPlan
from sense7_qual.adjudication import SettledBy
from sense7_qual.errors import ArgumentError, TableError
from sense7_qual.frames import is_model
from sense7_qual.links import MULTIVERSE, Adjustment, Hypothesis, Margin
from sense7_qual.report._review_facts import Study, independent_rounds, read_once
from sense7_qual.report._settled_by import ask_in_call, linked_source, open_answers
from sense7_qual.report._text import Traced, trace

PARTICIPANT: Final = "case_id"


@dataclass(frozen=True, repr=False)
class Record:
    """A study as its texts read it; each frame is read when it is first asked for."""

    names: dict[str, Traced]
    with_agreement: bool
    rating: str | None
    cluster: str | None
    n_boot: int
    seed: int
    function: str = "paper"
    asked_for: SettledBy | None = None
    round: str | None = None
    rounds: tuple[str, ...] = ()
    by: tuple[str, ...] = ()
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

    @property
    def asked(self) -> dict[str, Any]:
        """The rounds and coders that are asked for; nothing where those of the registered plan count.

        Rounds of a plan leave out none of what was coded outside rounds; the round of a call does.
        """
        coders = {"coder": list(self.by)} if self.by else {}
        if self.round is not None:
            return {"round": self.round, **coders}
        return {**({"round": [*self.rounds, None]} if self.rounds else {}), **coders}

    @cached_property
    def independent(self) -> Traced:
        """What each coder decided first, before they could see another's decisions or a suggestion."""
        return self.store.decisions(**self.asked)

    @cached_property
    def last(self) -> Traced:
        """What each coder decided last, discussions included and training not."""
        return self.store.decisions(**self.asked, settled_by="nothing")

    @cached_property
    def coders(self) -> list[str]:
        """Who decided."""
        return sorted(self.last.value["coder"].unique())

    @cached_property
    def settled_by(self) -> SettledBy:
        """How disagreements count; raises `ArgumentError` where several decided and nobody said it."""
        if self.asked_for is not None:
            return self.asked_for
        answers = open_answers(self.store.value, with_agreement=self.with_agreement, asked=self.asked)
        if answers:
            raise ask_in_call(self.function, answers)
        return "nothing"

    @cached_property
    def settled(self) -> Traced:
        """What counts in counts, links and quotes: one frame for all of them."""
        return self.store.decisions(**self.asked, settled_by=self.settled_by)

    @property
    def source(self) -> str:
        """The name of what is settled among the sources of decisions."""
        return linked_source(self.settled_by, self.coders)

    @property
    def is_pooled(self) -> bool:
        """Whether several coders' own decisions count, none of them settled."""
        return self.settled_by == "nothing" and len(self.coders) > 1

    @property
    def is_ruled(self) -> bool:
        """Whether a ruling is among what counts."""
        return "ruled" in dict(Basis.of(self.settled.value).inside)

    @cached_property
    def shares(self) -> Traced:
        """Which share of the coders of a text applied each code: 1 or 0 where one decision counts."""
        if self.is_pooled:
            return self.settled.groupby(["unit_id", "code"], as_index=False, observed=True)["applied"].mean()
        return self.settled

    @cached_property
    def waiting(self) -> dict[str, Waiting]:
        """The codes with decisions to be reviewed among those that count, by their ids."""
        return {one.code: one for one in Basis.of(self.settled.value).waiting}

    def basis(self, frame: Traced) -> Traced:
        """Return what decisions rest on."""
        return frame.given(f"Basis.of({frame.expression})", Basis.of(frame.value))

    @cached_property
    def people(self) -> Traced | None:
        """How many participants have each code; None where not all are known, or coders' own count."""
        if self.cluster is None or self.is_pooled:
            return None
        applied, whose = self.settled.query("applied"), self.store.units[["unit_id", self.cluster]]
        return applied.merge(whose, on="unit_id").groupby("code")[self.cluster].nunique()

    @cached_property
    def every_link(self) -> Traced | None:
        """How ratings differ with each code; None without a rating, participants, or anything decided.

        By max-T of every source among them, because p is then adjusted over all of these.
        """
        if self.rating is None or self.cluster is None or not len(self.settled.value):
            return None
        asked: dict[str, Any] = {} if self.adjust == "bh" else {"adjust": self.adjust}
        asked |= {"equivalence": [*self.equivalence]} if self.equivalence else {}
        asked |= {"hypothesis": self.hypothesis} if self.hypothesis != "within" else {}
        if self.adjust == "bh" or not self.is_pooled:
            asked["sources"] = [self.source]
        return self["links"].code_to_rating(
            self.settled,
            self.store.units,
            rating=self.rating,
            cluster=self.cluster,
            n_boot=self.n_boot,
            seed=self.seed,
            **asked,
        )

    @property
    def links(self) -> Traced | None:
        """Of these the source that is reported."""
        every = self.every_link
        if every is None or every.value["source"].nunique() < 2:
            return every
        return every.query(f"source == {self.source!r}")

    @cached_property
    def unrated(self) -> Traced:
        """Whether each text that is decided on lacks the rating."""
        units = self.store.units
        return units[units["unit_id"].isin(self.settled["unit_id"])][self.rating].isna()

    @cached_property
    def missing(self) -> Traced | None:
        """What missing ratings could do to the links; None without links, or where none is missing.

        Of the source that is linked: where coders' own links are pooled there is none, since the bounds of
        another source would be those of another number.
        """
        if self.links is None or self.is_pooled or not self.unrated.value.any():
            return None
        return self["links"].models.missing_ratings(
            self.settled,
            self.store.units,
            rating=self.rating,
            cluster=self.cluster,
            sources=[self.source],
        )

    @cached_property
    def disagreements(self) -> Traced:
        """On which text and code coders disagree, and what became of it."""
        return self["adjudication"].queue(self.last, rulings=self.store.rulings())

    def discussed(self, before: str, after: str) -> Traced:
        """Return agreement before and after a round of discussion; empty where nothing was decided in one."""
        rounds = (self.store.decisions(round=one) for one in (before, after))
        by = {name: self.resampling[name] for name in ("units", "cluster") if name in self.resampling}
        return self["agreement"].difference(*rounds, discussion=True, **by)

    @cached_property
    def n_coders(self) -> Traced:
        """How many people decided on anything."""
        return self.last["coder"].nunique()

    @cached_property
    def n_coded(self) -> Traced:
        """How many texts were coded."""
        return self.last["unit_id"].nunique()

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
        independent = self.store.decisions(**self.asked, models=True)
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
                people[people["unit_id"].isin(ids)],
                model=made[made["unit_id"].isin(ids)],
                units=units,
                cluster=self.cluster,
                inclusion="equal",
                by=[self.rating] if self.rating else [],
                n_boot=self.n_boot,
                seed=self.seed,
            )
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
    plan: AnalysisPlan | None = None,
    settled_by: SettledBy | None = None,
    with_agreement: bool = True,
    rating: str | None = None,
    cluster: str | None = None,
    n_boot: int = 2000,
    seed: int = 0,
    round: str | None = None,
    multiverse: pd.DataFrame | None = None,
    adjust: Adjustment = "bh",
    equivalence: Margin | None = None,
    hypothesis: Hypothesis = "within",
    further: Mapping[str, Any] | None = None,
) -> Record:
    """Return the record of a study; participants are its clusters where every coded text has one.

    How disagreements count, and which rounds and coders, is what `settled_by` says, or else the plan, or else
    the registered one.

    Raises `ArgumentError`, as of `function`, where `store` is no open study or a setting is none of its, and
    `TableError` where `multiverse` lacks a column or mixes decisions on several bases.
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
    record = Record(
        trace(store),
        with_agreement,
        rating,
        cluster,
        n_boot,
        seed,
        function,
        round=round,
        multiverse=_tried(multiverse),
        adjust=adjust,
        equivalence=equivalence,
        hypothesis=hypothesis,
        **_choice(store, plan, settled_by),
    )
    if further:
        record = replace(record, further=Traced(dict(further), "further"))
    return record if cluster is not None else replace(record, cluster=_participants(record))


REMOVED: Final[Mapping[str, str]] = {
    "source": "settled_by: 'rulings' (was 'consensus'), 'majority' or 'nothing' (was 'pooled'); for one "
    "coder, a plan that names them, AnalysisPlan(coders=('ana',))",
}
"""The arguments of papers and texts that there are no more, and what took their place."""


def _choice(store: Study, plan: AnalysisPlan | None, settled_by: SettledBy | None) -> dict[str, Any]:
    """Return how disagreements count, and the rounds and coders of a plan that is not the registered one."""
    plans = preregistrations(store.acts())
    registered = plans[-1].plan if plans else None
    said = [one.settled_by for one in (plan, registered) if one is not None and one.settled_by is not None]
    choice: dict[str, Any] = {"asked_for": settled_by or next(iter(said), None)}
    if plan is None or plan == registered:
        return choice
    if plan.rounds and (registered is None or plan.rounds != registered.rounds):
        choice["rounds"] = tuple(
            one.name for one in independent_rounds(store.rounds) if one.name in plan.rounds
        )
    if plan.coders and (registered is None or plan.coders != registered.coders):
        coded = set(store.coverage()["coder"])
        choice["by"] = tuple(name for name in plan.coders if name in coded)
    return choice


def _tried(multiverse: pd.DataFrame | None) -> Traced | None:
    if multiverse is None:
        return None
    MULTIVERSE.require(multiverse)
    lines = multiverse[COLUMN].dropna().astype(str) if COLUMN in multiverse else pd.Series(dtype="string")
    if lines.str.startswith("several").any():
        raise TableError(
            "paper: expected a multiverse of decisions on one basis – found several – make it of one call "
            "of store.decisions."
        )
    frame = MULTIVERSE.frame(multiverse)
    return Traced(frame.assign(**{COLUMN: multiverse[COLUMN]}) if len(lines) else frame, "multiverse")


def _participants(record: Record) -> str | None:
    coded = record.last.value["unit_id"].unique()
    cases = record.store.value.units.set_index("unit_id")[PARTICIPANT].reindex(coded)
    return None if cases.isna().any() or not len(cases) else PARTICIPANT
