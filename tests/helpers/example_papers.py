"""The shipped studies, read from their files, as stores whose papers the tests read."""

from __future__ import annotations

import json
from pathlib import Path

from sense7_qual import acts, corpus
from sense7_qual.acts.contents import AnalysisPlan
from sense7_qual.codebook import Codebook
from sense7_qual.store import Store
from tests.helpers.places import ROOT

__all__ = ["PLAN", "settled", "shipped"]

PLAN = AnalysisPlan(
    question="What makes an answer empathic?",
    rating="EmpathyOverall",
    settled_by="rulings",
    n_boot=60,
    seed=3,
)


def shipped(path: Path, name: str = "explanations") -> Store:
    """Make a store of a shipped study: "explanations" or "follow_up"."""
    units = corpus.read(
        ROOT / "data" / f"{name}.csv",
        text="Comment",
        unit_id="MessageId",
        document_id="TaskId",
        case_id="PID",
        position="Position",
        context="Context",
        ratings=["EmpathyOverall"],
    )
    store = Store.create(path, units=units, codebook=Codebook.read("sense7"))
    file = {"explanations": "example_acts.jsonl", "follow_up": "follow_up_acts.jsonl"}[name]
    every = [acts.Act(**json.loads(line)) for line in (ROOT / "data" / file).read_text("utf-8").splitlines()]
    for coder in dict.fromkeys(act.coder for act in every):
        store.append([act for act in every if act.coder == coder])
    return store


def settled(path: Path) -> Store:
    """Make the first shipped study with a ruling on every disagreement."""
    from sense7_qual import adjudication

    store = shipped(path)
    queue = adjudication.queue(store.decisions(settled_by="nothing"), rulings=store.rulings())
    store.append(
        [
            acts.rule(
                unit_id=row.unit_id,
                code=row.code,
                applied=place % 2 == 0,
                coder="lead",
                codebook=store.codebook,
            )
            for place, row in enumerate(queue[queue["settled"].isna()].itertuples())
        ]
    )
    return store
