"""What texts take from the record of a study: its frames, each with the call that gives it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sense7_qual.report._review_facts import Study
from sense7_qual.report._traced import Traced, trace

__all__ = ["Record", "record_of"]


@dataclass(frozen=True, repr=False)
class Record:
    """A study as its texts read it; each frame is read when it is first asked for."""

    names: dict[str, Traced]
    with_agreement: bool
    rating: str | None
    cluster: str | None
    n_boot: int
    seed: int

    def __getitem__(self, name: str) -> Traced:
        return self.names[name]

    @property
    def store(self) -> Traced:
        """The study."""
        return self.names["store"]

    @cached_property
    def decisions(self) -> Traced:
        """What each coder decided in the end, without training and discussions."""
        return self.store.decisions()

    @cached_property
    def independent(self) -> Traced:
        """What each coder had decided before any suggestion was shown to them."""
        return self.store.decisions(before_suggestions=True)

    @cached_property
    def agreed(self) -> Traced:
        """What all decided alike, one coder alone decided, or a ruling settled."""
        return self.store.decisions(consensus=True, single=True).query('coder == "consensus"')

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
        return "participants" if self.cluster == "case_id" else "clusters"

    @cached_property
    def objections(self) -> Traced:
        """What a reviewer would object to in how the coding was done, without agreement."""
        return self["report"].review(self.store, with_agreement=False).frame

    def objected(self, kind: str) -> Traced:
        """Return how many texts, codes or acts an objection is about; 0 where there is none."""
        return self.objections.set_index("kind")["n"].get(kind, 0)

    def kinds(self, kind: str) -> Traced:
        """Return how many acts of a kind stand."""
        return self["acts"].standing(self.store.acts(kind=kind)).how_many()

    def labels(self) -> dict[str, Traced]:
        """Return what each code that can be applied is called, by id, in the codebook's order."""
        return {code.id: self.store.codebook[code.id].label for code in self.store.codebook.value.codable}


def record_of(
    store: Study, *, with_agreement: bool, rating: str | None, cluster: str | None, n_boot: int, seed: int
) -> Record:
    """Return the record of a study; participants are its clusters where every coded text has one."""
    names = trace(store)
    if cluster is None:
        coded = names["store"].decisions().value["unit_id"].unique()
        cases = store.units.set_index("unit_id")["case_id"].reindex(coded)
        cluster = None if cases.isna().any() or not len(cases) else "case_id"
    return Record(names, with_agreement, rating, cluster, n_boot, seed)
