"""The example studies that notebooks 02 to 05 work on: synthetic texts, coded by three synthetic coders."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd

import sense7_qual as qual

DATA = Path(__file__).parent.parent / "data"
DIMENSIONS = ["Affective", "Cognitive", "Response", "Prosocial", "Interest", "Contextual", "Relational"]


def study(folder: str = "studies/example") -> qual.Store:
    """Open the study that notebook 01 makes (or make it), with the synthetic coders' acts in it."""
    return _coded(folder, explanations(), "example_acts.jsonl")


def follow_up(folder: str = "studies/follow_up") -> qual.Store:
    """Open the study of the follow-up (or make it), with the synthetic coders' acts in it."""
    return _coded(folder, explanations("follow_up.csv"), "follow_up_acts.jsonl")


def _coded(folder: str, units: pd.DataFrame, acts_file: str) -> qual.Store:
    store = qual.Store.open_or_create(folder, units=units, codebook=qual.Codebook.read("sense7"))
    lines = (DATA / acts_file).read_text(encoding="utf-8").splitlines()
    acts = [qual.acts.Act(**json.loads(line)) for line in lines]
    for coder in ("ana", "ben", "chi", "lead"):
        store.append([act for act in acts if act.coder == coder])  # a second time this changes nothing
    return store


def explanations(file: str = "explanations.csv") -> pd.DataFrame:
    """Read the synthetic explanations, each column by its role."""
    return qual.corpus.read(
        DATA / file,
        text="Comment",
        unit_id="MessageId",
        document_id="TaskId",
        case_id="PID",
        position="Position",
        context="Context",
        ratings=["EmpathyOverall", *DIMENSIONS],
    )
