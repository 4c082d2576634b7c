"""The example studies that notebooks 02 to 06 work on: synthetic texts, coded by synthetic coders."""

from __future__ import annotations

import json
from dataclasses import replace
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
    store = qual.Store.create(folder, units=units, codebook=qual.Codebook.read("sense7"), exist_ok=True)
    lines = (DATA / acts_file).read_text(encoding="utf-8").splitlines()
    acts = [qual.acts.Act(**json.loads(line)) for line in lines]
    for coder in ("ana", "ben", "chi", "lead"):
        store.append([act for act in acts if act.coder == coder])  # a second time this changes nothing
    return store


def reflexive(folder: str = "studies/reflexive") -> qual.Store:
    """Open the study of notebook 06 (or make it): one synthetic coder, whose codes moved as she read on."""
    code, care = qual.codebook.Code, qual.codebook.Code(id="care", label="Taken care of", codable=False)
    seen = code(id="seen", label="Being seen", definition="It saw what the day was like.")
    noticed = code(id="noticed", label="Being noticed", definition="It took up a detail.")
    alone = code(id="alone", label="Left alone", definition="It did not help when help was asked for.")
    script = code(id="script", label="A script", definition="It says what it says to everybody.")
    first = qual.Codebook(name="seen", title="Being answered", codes=(seen, noticed, alone, script))
    store = qual.Store.create(folder, units=explanations().head(60), codebook=first, exist_ok=True)
    if store.acts():
        return store
    plan = qual.acts.contents.AnalysisPlan(
        question="What is it like to be answered by a machine?", coders=("mia",), codebook="open",
        with_agreement=False, answers={"design": "Reflexive thematic analysis."},
    )  # fmt: skip
    store.preregister(plan, coder="mia")
    _wrote(
        store, "I come to these texts as a nurse who was told to hurry. I may hear haste where there is none."
    )
    _read(store, range(25))
    _wrote(store, "Seen or noticed? I cannot tell them apart any more.", code="noticed")
    early = replace(script, definition="What it says to everybody, before it has listened.")
    under = [replace(seen, parent="care"), replace(alone, label="Left alone with it", parent="care")]
    for codes, why, merged in [
        ([seen, alone, script], "Each detail that was noticed was a way of being seen.", {"noticed": "seen"}),
        ([seen, alone, early], "What people mind is not the advice but how early it comes.", {}),
        ([care, *under, early], "Being seen and being left alone are two ends of being taken care of.", {}),
    ]:
        store.revise(replace(first, codes=tuple(codes)), why=why, coder="mia", merged=merged)
    _read(store, range(60))
    _wrote(
        store,
        "Nobody who felt seen wrote of advice. Is a script what is left when nobody looks?",
        code="script",
    )
    _wrote(store, "He thanks it, and I do not believe him.", unit_id=store.units["unit_id"][1])
    return store


def _read(store: qual.Store, rows: range) -> None:
    """Code some texts as ana coded them in the example, under the codes of now, and finish them."""
    codes = {"affective": "seen", "cognitive": "noticed", "prosocial": "alone", "response": "script"}
    if "noticed" not in store.codebook:
        codes["cognitive"] = "seen"
    lines = (DATA / "example_acts.jsonl").read_text(encoding="utf-8").splitlines()
    hers = [qual.acts.Act(**json.loads(line)) for line in lines]
    ids, who = (
        list(store.units["unit_id"][rows.start : rows.stop]),
        {"coder": "mia", "codebook": store.codebook},
    )
    done = [
        qual.acts.apply(unit_id=act.unit_id, code=codes[act.code], start=act.start, end=act.end, **who)
        for act in hers
        if act.kind == "apply" and act.coder == "ana" and act.unit_id in ids and act.code in codes
    ]
    store.append([*done, *(qual.acts.finish(unit_id=each, **who) for each in ids)])


def _wrote(store: qual.Store, text: str, **on: str) -> None:
    kind = "code" if "code" in on else "unit" if on else "study"
    store.append([qual.acts.memo(text=text, target_kind=kind, coder="mia", codebook=store.codebook, **on)])


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
