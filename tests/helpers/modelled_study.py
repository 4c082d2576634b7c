"""A study of three people with a rating, and a model that codes it through a real address."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from sense7_qual import coders, corpus, rounds
from sense7_qual.acts.contents import AnalysisPlan
from sense7_qual.store import Store
from tests.helpers.planned_study import PLAN
from tests.helpers.reviewed_study import study
from tests.helpers.scripted_model import answering, says

QUICK = replace(PLAN, n_boot=20, rating="Warmth")
MODEL = "model-x"


def of_people(path: Path, *, plan: AnalysisPlan = QUICK) -> Store:
    """Make the study of three people with a rating, from the file of its texts."""
    made = study(path / "first", plan=plan)
    table = made.units[["unit_id", "text", "document_id", "case_id"]]
    table.assign(Warmth=[1 + i * 7 % 5 for i in range(len(table))]).to_csv(path / "texts.csv", index=False)
    units = corpus.read(
        path / "texts.csv",
        text="text",
        unit_id="unit_id",
        document_id="document_id",
        case_id="case_id",
        ratings=["Warmth"],
    )
    store = Store.create(path / "study", units=units, codebook=made.codebook)
    for coder in made.coders:
        store.append(made.acts(coder=coder))
    return store


def add_run(store: Store, *, wrong: float = 0.1, unsure: float = 0.03, seed: int = 2) -> coders.Run:
    """Let a model code every text, mostly as people do, and record it in a round that is unblinded."""
    rng = np.random.default_rng(seed)
    people = store.decisions().groupby(["unit_id", "code"])["applied"].mean().gt(0.5)
    unit = store.units.set_index("text")["unit_id"].to_dict()
    code = {one.label: one.id for one in store.codebook.codes}

    def reply(label: str, turns: list[dict[str, str]]) -> str:
        text = turns[-1]["content"]
        if rng.random() < unsure:
            return says("unsure")
        applied = bool(people.get((unit[text], code[label]), False)) ^ (rng.random() < wrong)
        return says("yes", text) if applied else says("no")

    with answering(reply) as model:
        run = coders.code(store.units, store.codebook, chat=model.chat(), coder=MODEL)
    store.record_model(run, coder="lead")
    store.append([rounds.unblind(MODEL, coder="lead", codebook=store.codebook)])
    return run
