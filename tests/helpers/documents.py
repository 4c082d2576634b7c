"""Every table of a paper on the shipped example, and harder ones: long labels and any character."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd

import sense7_qual as qual
from sense7_qual.codebook import Code, Codebook
from sense7_qual.report import Table
from sense7_qual.report._table import Alignment
from tests.helpers.conversations import rated_turns
from tests.helpers.hostile_strings import HOSTILE
from tests.helpers.places import ROOT

DATA = ROOT / "data"
SENSE7 = Codebook.read("sense7")
LONG = Codebook(
    name="long",
    codes=tuple(
        Code(id=f"code_{place}", label=label, definition=f"{label}: " + "what was felt and done. " * 8)
        for place, label in enumerate(
            [
                "Anthropomorphization of conversational assistants",
                "Misinterpretation/overgeneralization of disappointment",
                "Institutionalisierungswiderstandsbewältigungsstrategie",
                "https://example.org/codebooks/emotional_responsiveness_revised",
                "Appropriateness",
            ]
        )
    ),
)
CHARACTERS = [
    "👩‍👩‍👧 🇩🇪 👍🏽 ❤️",
    "cafe\u0301, naïve, Łódź, Ångström, đak, „Hallo“, «bon», ‹x›",
    "καλά – α = .80, χ² = 3",
    "كان لطيفا جدا معي",
    "היה נחמד אליי",
    "你好吗？今天我觉得很好，谢谢你的帮助和理解。",
    "Привет, мир",
    "न‍मस्ते",
    "nul\x00x bell\x07 \ud800",
    r"\input{x} % # $ & _ { } ~ ^ \\[1em] [a] *b* `c` \"d\" <e> |f| -- ''",
    "−1 ≤ 2 ≥ 3 ∞ ← → ½ ≈ √ † …",
    "a\nb\u2028c",
    "soft\xadhyphen zero\u200bwidth \ufeffmark \u202eturned",
]


def record() -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Return the units, codings and decisions of the shipped example."""
    units = qual.corpus.read(
        DATA / "explanations.csv",
        text="Comment",
        unit_id="MessageId",
        document_id="TaskId",
        case_id="PID",
        position="Position",
        context="Context",
        ratings=["EmpathyOverall"],
    )
    lines = (DATA / "example_acts.jsonl").read_text(encoding="utf-8").splitlines()
    folded = qual.acts.fold([qual.acts.Act(**json.loads(line)) for line in lines])
    return units, folded.codings, qual.codings.decisions(folded.codings, folded.coverage, SENSE7)


def of_conversations() -> tuple[Table, Table]:
    """Return the tables of made-up ratings of 48 conversations of 5 turns."""
    rng = np.random.default_rng(2)
    units = rated_turns(rng, "EmpathyOverall")
    decisions = pd.concat(
        units[["unit_id"]].assign(coder="ana", code=code, applied=rng.random(len(units)) < 0.4)
        for code in SENSE7.ids
    )
    found = qual.links.disruption(
        units,
        rating="EmpathyOverall",
        document_id="document_id",
        position="turn",
        cluster="case_id",
        decisions=decisions,
        source="ana",
        n_boot=50,
    )
    shares = qual.links.variance_shares(
        units, rating="EmpathyOverall", levels=["case_id", "document_id"], n_boot=50
    )
    disruption = qual.report.tables.disruption(found, codebook=SENSE7, cluster_name="participants")
    return disruption, qual.report.tables.variance(shares, names={"case_id": "Participant"})


def of_predictions(units: pd.DataFrame) -> Table:
    predicted = qual.ratings.cross_validate(
        units,
        {"linear regression on embeddings": lambda train, test: np.arange(len(test)) % 5 + 1.0},
        rating="EmpathyOverall",
        cluster="case_id",
        folds=5,
        seed=7,
    )
    return qual.report.tables.rating(qual.ratings.compare(predicted, n_boot=50, seed=7), rating="empathy")


def of_characters() -> Table:
    rows = tuple((text, str(place), text) for place, text in enumerate(CHARACTERS))
    sides: tuple[Alignment, ...] = ("left", "right", "left")
    return Table(f"Any text {''.join(CHARACTERS)}", ("Text 👍", "n", "כן"), rows, tuple(CHARACTERS), sides)


def of_hostile_strings() -> dict[str, Table]:
    """Return the hostile strings in rows and columns, and as a list."""
    rows = tuple((text, "1", text) for text in HOSTILE)
    sides: tuple[Alignment, ...] = ("left", "right", "left")
    grid = Table("Hostile", ("Text", "n", "Again"), rows, (" ".join(HOSTILE),), sides)
    return {"hostile grid": grid, "hostile list": replace(grid, layout="list", notes=())}


def of_the_coding(decisions: pd.DataFrame, units: pd.DataFrame) -> dict[str, Table]:
    """Return tables of how the coding went: disagreements, discussion, a model, revisions, conditions."""
    changed = replace(
        SENSE7, codes=tuple(replace(code, label=f"{code.label} (revised)") for code in SENSE7.codes)
    )
    step = qual.codebook.Revision(
        coder="lead",
        at="2026-02-03T14:05:00Z",
        base=SENSE7.fingerprint,
        codebook=changed.fingerprint,
        changes=qual.codebook.changes(SENSE7, changed),
        why="Coders mixed them up 👍 היה",
    )
    talked = decisions.head(200).assign(applied=True)
    model = decisions[decisions["coder"] == "ana"].assign(coder="gpt")
    with_model = pd.concat([decisions, model], ignore_index=True)
    pairs = qual.links.co_occurrence(decisions, source="majority")
    report, book = qual.report, {"codebook": SENSE7}
    return {
        "revisions": report.tables.revision(
            [step], codebooks={one.fingerprint: one for one in (SENSE7, changed)}
        ),
        "disagreements": report.tables.disagreement(qual.adjudication.queue(decisions), **book),
        "difference": report.tables.difference(
            qual.agreement.difference(decisions, talked, discussion=True, units=units, cluster="case_id"),
            **book,
        ),
        "model": report.tables.human_model(
            qual.agreement.human_model(with_model, models="gpt", n_boot=50), **book
        ),
        "suggestions": report.tables.suggestion(
            pd.DataFrame(
                {
                    "unit_id": decisions["unit_id"],
                    "coder": decisions["coder"],
                    "code": decisions["code"],
                    "model": "words",
                    "when": "finished",
                    "before": False,
                    "answer": "accepted",
                }
            ),
            **book,
        ),
        "co-occurrence": report.tables.co_occurrence(pairs, **book),
        "co-occurrence by pair": report.tables.co_occurrence(pairs, form="pairs", **book),
        "conditions": report.tables.condition(
            decisions, units, condition="system", source="majority", cluster="case_id", **book
        ),
    }


@cache
def tables() -> dict[str, Table]:
    """Return every table that the package makes, by name."""
    units, codings, decisions = record()
    named = {"cluster_name": "participants", "codebook": SENSE7}
    agreement = qual.agreement.by_code(decisions, units=units, cluster="case_id", n_boot=50, seed=7)
    ways = {"rating": "EmpathyOverall", "cluster": "case_id"}
    links = qual.links.code_to_rating(decisions, units, **ways, n_boot=50, seed=7)
    sources = ["majority", *sorted(decisions["coder"].unique()), "pooled"]
    compared = units.assign(system=np.where(np.arange(len(units)) % 2, "companion", "assistant"))
    joint = qual.links.joint(decisions, compared, **ways, source="majority", interaction="system")
    disruption, variance = of_conversations()
    codes = dict(zip(SENSE7.ids, LONG.ids, strict=False))
    renamed = [
        frame[frame["code"].isin(list(codes))].replace({"code": codes}) for frame in (agreement, links)
    ]
    return {
        "codebook": qual.report.tables.codebook(SENSE7),
        "codebook in columns": qual.report.tables.codebook(SENSE7, layout="grid"),
        "codebook of long labels": qual.report.tables.codebook(LONG),
        "reliability": qual.report.tables.reliability(agreement, **named),
        "reliability of long labels": qual.report.tables.reliability(renamed[0], codebook=LONG),
        "links": qual.report.tables.link(links, source="majority", rating="EmpathyOverall", **named),
        "links of all sources": qual.report.tables.link(links, source=sources, **named),
        "links of long labels": qual.report.tables.link(renamed[1], source=sources, codebook=LONG),
        "joint": qual.report.tables.joint(joint, **named),
        "ratings": of_predictions(units),
        "disruption": disruption,
        "variance": variance,
        "quotes": qual.report.tables.quote(
            codings, units, codebook=SENSE7, per_code=3, rating="EmpathyOverall", seed=7
        ),
        **of_the_coding(decisions, compared),
        **of_hostile_strings(),
        "characters": of_characters(),
    }
