"""One working call of every public function, method and class, on the synthetic example.

`calls(folder)` gives, for each public name (`agreement.by_code`, `store.Store.append`), a function without
arguments that gives the callable and its keyword arguments afresh: a call may change what it is given.
"""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import itertools
import json
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache, partial
from operator import attrgetter
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np
import pandas as pd

import sense7_qual as qual
from scripts.measure_house import circles
from sense7_qual.store._copies import Admin, Copies
from sense7_qual.store._open_study import Desk

DATA = Path(__file__).parents[2] / "data"
N_PARTICIPANTS = 16

Call = tuple[Callable[..., Any], dict[str, Any]]

# Made by the package alone and handed out; nothing is computed from what they are given.
RESULTS = {
    "adjudication.Choice",
    "rounds.Independent",
    "acts.QuoteDecision",
    "rounds.Assignment",
    "acts.Preregistration",
    "acts.Record",
    "adjudication.Profile",
    "adjudication.TrueCodes",
    "agreement.diagnosis.AlternativeAnnotatorTest",
    "agreement.coefficients.Estimate",
    "agreement.spans.Gamma",
    "agreement.Mastery",
    "agreement.coefficients.Patterns",
    "agreement.spans.SegmentationAgreement",
    "agreement.spans.UnitizingAlphas",
    "agreement.UnitsNeeded",
    "exchange.Loss",
    "exchange.LossReport",
    "exchange.Match",
    "exchange.Project",
    "figures.Figure",
    "links.models.CumulativeModel",
    "links.scales.Polychoric",
    "models.Chat",
    "models.Cost",
    "models.Embedder",
    "models.StoredVectors",
    "models.Usage",
    "ratings.Evaluation",
    "ratings.OrdinalRegression",
    "report.Deviations",
    "report.PaperFolder",
    "report.Review",
    "redact.Redacted",
    "report.Table",
    "report.Text",
    "codebook.Change",
    "codebook.Revision",
    "rounds.Round",
    "store.Options",
    "suggestions.Screening",
    "suggestions.Suggester",
    "frames.Contract",
    "themes.Themes",
}


# What packages ask of each other, without a check of its own.
PARTS = {
    "acts.shows_suggestions",
    "adjudication.decide",
    "codings.decided_on",
    "rounds.independent",
    "acts.Kind",
    "acts.about",
    "acts.decided_at",
    "acts.in_one_step",
    "acts.moved",
    "acts.overlap",
    "acts.place_of_step",
    "acts.kinds_where",
    "adjudication.against_others",
    "adjudication.coder_profiles",
    "codebook.check_codebook",
    "corpus.refuse_other",
    "codebook.redefined",
    "rounds.Sight",
    "agreement.sets.set_alpha_of",
    "agreement.sets.set_distances",
    "agreement.sets.set_patterns",
    "agreement.sets.set_table",
}

PARTS_OF_A_STORE: dict[str, type] = {"copies": Copies, "admin": Admin, "desk": Desk}


class NoModel(qual.models.Embedder):
    """Vectors without a model, which would take seconds to load."""

    @property
    def dimensions(self) -> int:
        return 2

    def __call__(self, texts: Any) -> Any:
        return np.ones((len(texts), 2), dtype=np.float32)


def public_names() -> Iterator[str]:
    """Yield every function of the three circles, class that users make, and method that takes an argument."""
    for full, (_, package) in circles().items():
        if package != "errors" and full not in PARTS:
            value = getattr(importlib.import_module(f"sense7_qual.{package}"), full.rpartition(".")[2])
            if isinstance(value, FunctionType):
                yield full
            elif inspect.isclass(value) and not issubclass(value, Exception):
                if full not in RESULTS:
                    yield full
                yield from (f"{full}.{method}" for method in methods(value))
    for part, held in PARTS_OF_A_STORE.items():
        yield from (f"store.Store.{part}.{method}" for method in methods(held))


def methods(value: type) -> Iterator[str]:
    """Yield every public method of a class that takes an argument."""
    bases = value.__mro__[-2::-1] if value is qual.Store else (value,)
    members = {name: one for base in bases for name, one in vars(base).items()}
    for method, inner in members.items():
        function = getattr(inner, "__func__", inner)
        entered = method[0] != "_" or method == "__call__"
        if entered and isinstance(function, FunctionType) and len(inspect.signature(function).parameters) > 1:
            yield method


def embed(texts: list[str]) -> Any:
    """Vectors without a model: what letters a text has."""
    counted = np.array([[text.lower().count(letter) + 0.1 for letter in "abcdefghij"] for text in texts])
    return counted / np.linalg.norm(counted, axis=1, keepdims=True)


class Example:
    """The synthetic example, its record and what is computed from it."""

    def __init__(self) -> None:
        units = qual.corpus.read_sense7(DATA / "sense7_synthetic.xlsx")
        messages = qual.corpus.read_sense7_messages(DATA / "sense7_synthetic.xlsx")
        few = sorted(set(units["case_id"]))[:N_PARTICIPANTS]
        self.units = units[units["case_id"].isin(few)].reset_index(drop=True)
        self.messages = messages[messages["case_id"].isin(few)].reset_index(drop=True)
        self.codebook = qual.Codebook.read("sense7")
        lines = (DATA / "example_acts.jsonl").read_text("utf-8").splitlines()
        acts = (qual.acts.Act(**json.loads(line)) for line in lines)
        known = set(self.units["unit_id"])
        self.acts = [act for act in acts if act.unit_id in known]
        record = qual.acts.fold(self.acts)
        self.codings, self.coverage = record.codings, record.coverage
        self.decisions = qual.codings.decisions(self.codings, self.coverage, self.codebook)
        self.changed = dataclasses.replace(
            self.codebook,
            codes=(
                dataclasses.replace(self.codebook.codes[0], definition="Other."),
                *self.codebook.codes[1:],
            ),
        )
        self.spans = pd.DataFrame(
            {
                "unit_id": "t",
                "coder": ["a", "b", "a", "b"],
                "code": "x",
                "start": [0, 2, 20, 21],
                "end": [5, 6, 30, 29],
            }
        )
        self.ratings = self.units.set_index("unit_id")["EmpathyOverall"]
        self.groups = self.units.set_index("unit_id")["case_id"]
        self.applied = np.array([[1, 0, 1, 1, 0, 1, 0, 0], [1, 0, 0, 1, 0, 1, 0, 1]])

    @cache  # noqa: B019 – there is one example
    def made(self, name: str) -> Any:
        """Return the result of a call of the table, made once."""
        function, arguments = calls(Path(tempfile.mkdtemp()))[name]()
        return function(**arguments)


@cache
def example() -> Example:
    return Example()


def copied(value: Any) -> Any:
    return value.copy() if isinstance(value, pd.DataFrame | pd.Series | dict | list | np.ndarray) else value


@cache
def calls(folder: Path) -> dict[str, Callable[[], Call]]:
    """Return the calls; files are written to `folder`."""
    x = example()
    number = itertools.count()

    def path(suffix: str = "") -> Path:
        return folder / f"{next(number)}{suffix}"

    def fresh() -> qual.Store:
        study = qual.Store.create(path(), units=x.units, codebook=x.codebook)
        for coder in ("ana", "ben"):
            study.append([act for act in x.acts if act.coder == coder][:20])
        return study

    def with_themes() -> qual.Store:
        study = fresh()
        study.record_themes(x.made("themes.fit"), coder="lead")
        return study

    @cache
    def project() -> Path:
        written = path(".qdpx")
        qual.exchange.write_project(store(), written)
        return written

    def further() -> dict[str, Any]:
        return {"Empathy": x.made("links.models.proportional_odds")}

    def coding_sheet() -> Path:
        return qual.exchange.write_coding_sheets(store(), path(), round="one")[0]

    def theme_acts() -> list[qual.acts.Act]:
        return with_themes().acts(kind="record_themes")

    @cache
    def store() -> qual.Store:
        """Return the one study of those calls that leave it as good as it was."""
        study = fresh()
        study.append([opened])
        return study

    linking = {
        "multiverse": lambda: None,
        "adjust": lambda: "bh",
        "equivalence": lambda: None,
        "hypothesis": lambda: "within",
    }

    @cache
    def registered() -> qual.Store:
        study = fresh()
        study.preregister(k.contents.AnalysisPlan(question="Why?", coders=("ana",)), coder="lead")
        return study

    @cache
    def assigned() -> list[qual.acts.Act]:
        study = fresh()
        study.assign(coders=["ana", "ben"], overlap=0.5, coder="lead")
        return study.acts(kind="assign")

    def cache_folder() -> Path:
        place = path()
        qual.models.chat(base_url="http://127.0.0.1:9", model="m", cache=place)
        return place

    def archived() -> Path:
        place = path(".zip")
        store().copies.archive(place)
        return place

    def handing_in() -> Call:
        place = path()
        store().copies.hand_out("one", "ana", place)
        return qual.Store(place).copies.hand_in, {"path": path(".zip")}

    def merging() -> Call:
        study, place = fresh(), path()
        study.copies.backup(place)
        return study.copies.merge, {"other": place, "coders": None, "person": False}

    def suggested() -> pd.DataFrame:
        frame: pd.DataFrame = x.made("suggestions.suggest")
        return frame.assign(learned=False)

    def method(name: str, of: Callable[[], Any], /, **given: Callable[[], Any]) -> Callable[[], Call]:
        return lambda: (attrgetter(name)(of()), {key: make() for key, make in given.items()})

    def call(function: Callable[..., Any], /, **given: Any) -> Callable[[], Call]:
        return lambda: (function, {key: copied(value) for key, value in given.items()})

    def late(function: Callable[..., Any], **given: Callable[[], Any]) -> Callable[[], Call]:
        return lambda: (function, {key: copied(make()) for key, make in given.items()})

    plan = qual.coders.variants(runs=2, n=2)
    asking = {
        "chat": lambda messages: '{"quote": "", "verdict": "no", "why": ""}',
        "with_context": True,
        "missing_on": None,
        "n_parallel": 1,
        "progress": None,
    }

    asked: dict[str, Callable[[], Any]] = {
        "units": lambda: x.units.head(4),
        "codebook": lambda: x.codebook,
        "coder": lambda: "model-x",
        "plan": lambda: plan,
        "wordings": lambda: qual.coders.WORDINGS,
        "with_context": lambda: True,
    }

    @cache
    def run() -> qual.coders.Run:
        chat = {"chat": asking["chat"], "plan": plan}
        return qual.coders.code(x.units.head(4), x.codebook, coder="model-x", **chat)  # type: ignore[arg-type]

    def written_run() -> Path:
        place = path(".jsonl")
        run().write(place)
        return place

    a, c, k, r = qual.agreement, qual.codings, qual.acts, qual.ratings
    f, s, t, p = qual.figures, qual.links, qual.frames, qual.report
    code = "relational"
    act = {"coder": "ana", "unit_id": x.acts[0].unit_id, "codebook": x.codebook}
    coded = act | {"code": code, "start": 0, "end": 3}
    stamp = {"act_id": "0f0e1c9a-52f6-4c39-9d4e-0b1a2c3d4e5f", "at": "2026-01-01T00:00:00.000Z"}
    boot = {"n_boot": 12, "confidence_level": 0.95, "seed": 0}
    boot_units = {"units": x.units, "cluster": "case_id", **boot}
    weighted = {"values": x.applied, "weights": "linear", "categories": [0, 1]}
    frames = {"codings": x.codings, "coverage": x.coverage}
    carried = {**frames, "codebook": x.codebook, "revisions": (), "round": None}
    spans = {"spans": x.spans, "lengths": {"t": 40}, "coverage": None}
    rating = {"rating": "EmpathyOverall", "rating_range": (1, 5)}
    link = {"decisions": x.decisions, "units": x.units, **rating}
    dimensions = list(qual.corpus.SENSE7_DIMENSIONS[:3])
    first = x.acts[0]
    ruling = k.rule(**act, code=code, applied=False, reason="slip")
    model = x.decisions[x.decisions["coder"] == "ana"].assign(coder="gpt")
    with_model = pd.concat([x.decisions, model], ignore_index=True)
    sizes = {
        "units_per_participant": 5.0,
        "prevalence": 0.3,
        "icc": 0.2,
        "rank_biserial": 0.4,
        "code_icc": 0.3,
        "sensitivity": 0.9,
        "specificity": 0.9,
        "agreement": None,
        "rating_shares": [0.2, 0.2, 0.2, 0.2, 0.2],
        "significance": 0.05,
        "n_simulations": 4,
        "seed": 0,
    }
    sheet = pd.DataFrame({"id": ["m1", "m2"], "said": ["one", "two"], "case": ["p1", "p2"], "stars": [1, 2]})
    wide = pd.DataFrame({"u": ["m1", "m1"], "c": ["ana", "ben"], "warm": [1, 0]})
    texts = {
        "units": x.units.head(40),
        "names": ["Anna"],
        "kinds": ["email", "name"],
        "columns": ["text"],
        "any_case": True,
        "inflected": True,
    }
    described = {
        "document_id": "document_id",
        "role": "Role",
        "content": "Content",
        "position": "position",
        "instructions": "Rate it.",
    }
    talk = {"messages": x.messages.head(30), **described}
    prompts = [[{"role": "user", "content": "hello"}]]
    chat = partial(qual.models.chat, base_url="http://127.0.0.1:9", model="m")
    drawn = {"codebook": x.codebook, "columns": 1}
    printed = {"codebook": x.codebook, "digits": 2, "cluster_name": "people", "notes": ["A note."]}
    opened = qual.rounds.open_round(
        "one", units=[first.unit_id], coders=["ana", "ben"], coder="lead", codebook=x.codebook
    )
    discussion = qual.rounds.open_round(
        "talk",
        units=[first.unit_id],
        coders=["ana", "ben"],
        coder="lead",
        codebook=x.codebook,
        discusses="one",
    )
    gold = pd.DataFrame({"unit_id": [first.unit_id], "code": [code], "applied": [True]})
    half = set(x.units["unit_id"][::2])
    limits = dataclasses.fields(qual.corpus.Limits)
    table = {"frame": x.units, "frame_name": "units"}
    predictions = {"majority": lambda train, test: pd.Series(3.0, index=test.index)}

    low = qual.codebook.Facet(name="intensity", values=(qual.codebook.FacetValue("low"),))

    def codes(file: Path) -> Path:
        file.write_text("id,label\nwarm,Warm\n", "utf-8")
        return file

    def drawn_from(function: Callable[..., Any], name: str, **given: Any) -> Callable[[], Call]:
        first_parameter = next(iter(inspect.signature(function).parameters))
        return lambda: (function, {first_parameter: x.made(name).copy(), **given})

    return {
        "acts.Act": call(
            k.Act,
            kind="apply",
            codebook=x.codebook.fingerprint,
            coder="ana",
            code=code,
            unit_id="m1",
            start=0,
            end=3,
            **stamp,
        ),
        "acts.apply": call(
            k.apply, **coded, facets=None, confidence="sure", round=None, found_by=None, **stamp
        ),
        "acts.check_coder": call(k.check_coder, coder="ana"),
        "acts.check_person": call(k.check_person, coder="ana"),
        "acts.finish": call(k.finish, **act, round=None, **stamp),
        "acts.fold": call(k.fold, acts=x.acts, codebook=x.codebook),
        "acts.memo": call(
            k.memo,
            **act,
            text="a memo",
            target_kind="span",
            code=None,
            start=0,
            end=3,
            memo_id=None,
            answers=None,
            round=None,
            **stamp,
        ),
        "acts.answer": call(
            k.answer,
            coder="lead",
            proposal="00000000-0000-4000-8000-000000000001",
            text="Taken.",
            codebook=x.codebook,
            code=code,
            round=None,
            **stamp,
        ),
        "acts.propose": call(
            k.propose,
            **act,
            label="Hope",
            definition="Looks forward.",
            origin="a model",
            theme=None,
            examples=["m1"],
            start=0,
            end=1,
            round=None,
            **stamp,
        ),
        "acts.quote": call(
            k.quote,
            **act,
            code=code,
            state="approved",
            start=0,
            end=3,
            role="shows",
            paraphrase="In other words.",
            **stamp,
        ),
        "acts.quote_decision": call(k.quote_decision, facets="role=shows state=chosen words=original"),
        "acts.contents.describe": call(
            k.contents.describe,
            coder="model-x",
            settings={"model": "m"},
            codebook=x.codebook,
            round=None,
            **stamp,
        ),
        "acts.contents.settings_of": call(
            k.contents.settings_of,
            act=k.contents.describe(coder="model-x", settings={"model": "m"}, codebook=x.codebook),
        ),
        "acts.contents.abstain": call(
            k.contents.abstain,
            **(act | {"coder": "model-x"}),
            code=code,
            reason="unsure",
            round=None,
            **stamp,
        ),
        "acts.contents.Proposal": call(
            k.contents.Proposal, label="Hope", definition="", origin="", theme=None, examples=()
        ),
        "acts.contents.Proposal.from_text": call(
            k.contents.Proposal.from_text, text='{"definition": "", "label": "Hope"}'
        ),
        "acts.contents.AnalysisPlan": call(
            k.contents.AnalysisPlan,
            question="Why?",
            hypotheses=(),
            coders=("ana",),
            rounds=("one",),
            conditions=("site",),
            n_units=3,
            n_participants=2,
            double_coded=0.5,
            n_repeated=0,
            level="unit",
            codebook="fixed",
            blind=True,
            new_codes="propose",
            rating_shown="hidden",
            suggestions="never",
            models=("m",),
            prompts=(),
            themes=False,
            discussion=False,
            settled_by="rulings",
            coding_until="2026-03-31",
            with_agreement=True,
            min_alpha=0.667,
            rating="EmpathyOverall",
            cluster="case_id",
            adjust="max-t",
            equivalence=("odds_ratio", 1.5),
            hypothesis="within",
            n_boot=50,
            seed=0,
            answers={"title": "So"},
        ),
        "acts.contents.AnalysisPlan.from_text": call(
            k.contents.AnalysisPlan.from_text, text=k.contents.AnalysisPlan(question="Why?").to_text()
        ),
        "acts.preregister": call(
            k.preregister,
            plan=k.contents.AnalysisPlan(question="Why?"),
            coder="lead",
            codebook=x.codebook,
            **stamp,
        ),
        "acts.preregistrations": call(k.preregistrations, acts=x.acts),
        "acts.contents.SpanMemo": call(k.contents.SpanMemo, text="a memo", quote="It"),
        "acts.contents.SpanMemo.from_text": call(
            k.contents.SpanMemo.from_text, text='{"memo": "a", "quote": "It"}'
        ),
        "acts.words_written": call(k.words_written, text="a memo"),
        "acts.contents.reject_suggestion": call(
            k.contents.reject_suggestion, **act, code=code, round=None, **stamp
        ),
        "acts.contents.show_suggestions": call(
            k.contents.show_suggestions,
            **act,
            model="words",
            suggestions=[k.contents.Suggestion(code=code)],
            withheld=False,
            when="finished",
            round=None,
            **stamp,
        ),
        "acts.contents.Suggested": call(
            k.contents.Suggested, model="words", suggestions=(), withheld=False, when="finished"
        ),
        "acts.contents.Suggested.from_text": call(
            k.contents.Suggested.from_text, text=k.contents.Suggested(model="words").to_text()
        ),
        "acts.contents.Suggestion": call(k.contents.Suggestion, code=code, probability=0.5, start=0, end=3),
        "acts.redo": call(k.redo, act=first, codebook=x.codebook, **stamp),
        "acts.remove": call(k.remove, **coded, round=None, **stamp),
        "acts.reopen": call(k.reopen, **act, round=None, **stamp),
        "acts.rule": call(k.rule, **act, code=code, applied=True, reason="slip", note="a note", **stamp),
        "acts.stamp": call(k.stamp, coder="ana", codebook=x.codebook, **stamp),
        "acts.standing": call(k.standing, acts=x.acts, subject="coding"),
        "acts.undo": call(k.undo, act=first, codebook=x.codebook, **stamp),
        "adjudication.consensus": call(
            qual.adjudication.consensus, decisions=x.decisions, rulings=[], single=False
        ),
        "adjudication.dawid_skene": call(
            qual.adjudication.dawid_skene,
            decisions=x.decisions,
            prevalence_by="EmpathyOverall",
            units=x.units,
            cluster="case_id",
            n_draws=3,
            confidence_level=0.95,
            seed=0,
        ),
        "adjudication.disagreements": call(
            qual.adjudication.disagreements, decisions=x.decisions, with_models=True
        ),
        "adjudication.overruled": call(qual.adjudication.overruled, decisions=x.decisions, rulings=[ruling]),
        "adjudication.profile": call(
            qual.adjudication.profile,
            decisions=x.decisions,
            repeats=x.decisions.head(70),
            rulings=[ruling],
            told_from=0.8,
            n_draws=20,
            **boot_units,
        ),
        "adjudication.queue": call(
            qual.adjudication.queue,
            decisions=x.decisions,
            rulings=[ruling],
            by="participant",
            units=x.units,
            cluster="case_id",
            with_models=True,
        ),
        "adjudication.remaining": call(qual.adjudication.remaining, decisions=x.decisions, rulings=[ruling]),
        "agreement.spans.alpha_u_2004": call(a.spans.alpha_u_2004, **spans),
        "agreement.diagnosis.alternative_annotator_test": call(
            a.diagnosis.alternative_annotator_test,
            decisions=with_model,
            models="gpt",
            epsilon=0.2,
            by="code",
            distance="absolute",
            fdr=0.05,
            fewest_units=5,
            units=x.units,
            cluster="case_id",
        ),
        "agreement.difference": call(
            a.difference,
            first=x.decisions,
            second=x.decisions.head(70),
            discussion=True,
            codes={x.codebook.ids[0]: x.codebook.ids[0]},
            with_models=False,
            units=x.units,
            cluster="case_id",
            confidence_level=0.9,
        ),
        "agreement.spans.boundary_similarity": call(
            a.spans.boundary_similarity, segments_a=[2, 3, 6], segments_b=[5, 6], n_t=2
        ),
        **{
            f"agreement.coefficients.{name}": call(getattr(a.coefficients, name), **weighted)
            for name in (
                "brennan_prediger",
                "cohen_kappa",
                "conger_kappa",
                "fleiss_kappa",
                "gwet_ac",
                "light_kappa",
                "percent_agreement",
                "scott_pi",
            )
        },
        "agreement.by_code": call(
            a.by_code, decisions=x.decisions, inclusion=None, with_models=True, **boot_units
        ),
        **{
            f"agreement.diagnosis.{name}": call(getattr(a.diagnosis, name), decisions=x.decisions)
            for name in ("by_unit", "confusion", "cross_check")
        },
        "agreement.pairwise": call(a.pairwise, decisions=x.decisions, with_models=True),
        "agreement.sets.distance": call(a.sets.distance, a=["x", "y"], b=["x"], distance="masi"),
        "agreement.coefficients.estimate": call(
            a.coefficients.estimate,
            values=x.applied,
            statistic="gwet_ac",
            ci="cluster",
            groups=list("ababcdcd"),
            **boot,
        ),
        "agreement.from_wide": call(
            a.from_wide, frame=pd.DataFrame({"ana": [1, 2], "ben": [1, 1]}), coders="columns", keep=["ana"]
        ),
        "agreement.spans.gamma": call(
            a.spans.gamma, **spans, position_weight=1.0, code_weight=1.0, empty=1.0, n_samples=2, seed=0
        ),
        "agreement.spans.gamma_dissimilarity": call(
            a.spans.gamma_dissimilarity,
            a=(0, 5),
            b=(2, 6),
            same_code=True,
            position_weight=1.0,
            code_weight=1.0,
            empty=1.0,
        ),
        "agreement.human_model": call(a.human_model, decisions=with_model, models=["gpt"], **boot_units),
        "agreement.diagnosis.model_card": late(
            a.diagnosis.model_card,
            decisions=lambda: x.decisions[x.decisions["unit_id"].isin(half)],
            model=lambda: suggested(),
            units=lambda: x.units,
            cluster=lambda: "case_id",
            inclusion=lambda: "equal",
            by=lambda: ["EmpathyOverall"],
            answers=lambda: None,
            shown=lambda: None,
            epsilon=lambda: 0.2,
            n_boot=lambda: 20,
            confidence_level=lambda: 0.9,
            seed=lambda: 1,
        ),
        "agreement.diagnosis.model_words": drawn_from(
            a.diagnosis.model_words,
            "agreement.diagnosis.model_card",
            behaviour=None,
            linked=None,
            fewest_participants=10,
            people_agree=0.6,
            usable=0.9,
            passed=0.8,
            half=0.5,
            narrower=0.9,
            behind=0.1,
            steady=0.8,
            failed_quotes=0.05,
            groups=0.01,
            differs=0.01,
        ),
        "agreement.coefficients.icc": call(
            a.coefficients.icc,
            values=[[1.0, 2, 3, 5], [2.0, 2, 4, 5]],
            kind="agreement",
            n_averaged=1,
            categories=[1, 2, 3, 4, 5],
        ),
        "agreement.coefficients.kendall_w": call(
            a.coefficients.kendall_w, values=[[1.0, 2, 3, 5], [2.0, 2, 4, 5]], categories=[1, 2, 3, 4, 5]
        ),
        "agreement.coefficients.krippendorff_alpha": call(
            a.coefficients.krippendorff_alpha, values=x.applied, level="nominal", categories=[0, 1]
        ),
        "agreement.sets.multivalued_alpha": call(
            a.sets.multivalued_alpha, sets=[[["x"], ["y"]], [["x", "y"], ["y"]]]
        ),
        "agreement.over_time": call(
            a.over_time, decisions=x.decisions, coverage=x.coverage, by="order", n_slices=2, **boot_units
        ),
        "agreement.overall": call(a.overall, decisions=x.decisions, distance="masi", **boot_units),
        "agreement.spans.overlap_f1": call(
            a.spans.overlap_f1,
            spans_a=x.spans[x.spans["coder"] == "a"],
            spans_b=x.spans[x.spans["coder"] == "b"],
            lengths={"t": 40},
        ),
        "agreement.coefficients.patterns": call(
            a.coefficients.patterns,
            table=x.decisions,
            unit_id="unit_id",
            coder="coder",
            value="applied",
            by="code",
            keep_coders=False,
        ),
        "agreement.coefficients.per_category": call(
            a.coefficients.per_category, values=x.applied, categories=[0, 1]
        ),
        "agreement.spans.segmentation_agreement": call(
            a.spans.segmentation_agreement,
            boundaries=pd.DataFrame({"unit_id": "t", "coder": ["a", "b"], "position": [3, 4]}),
            lengths={"t": 40},
            coverage=None,
            n_t=2,
        ),
        "agreement.sets.set_alpha": call(
            a.sets.set_alpha, sets=[[["x"], ["y"]], [["x", "y"], ["y"]]], distance="masi"
        ),
        "agreement.spans.span_agreement": call(
            a.spans.span_agreement,
            **frames,
            units=x.units,
            code=[code],
            round=None,
            cluster="case_id",
            **boot,
        ),
        "agreement.coefficients.specific_agreement": call(
            a.coefficients.specific_agreement, values=x.applied, category=1, categories=[0, 1]
        ),
        "agreement.stability": call(a.stability, first=x.decisions, second=x.decisions, **boot_units),
        "agreement.spans.unitizing_alphas": call(a.spans.unitizing_alphas, **spans),
        "agreement.mastery": call(
            a.mastery,
            decisions=x.decisions[x.decisions["coder"] == "ana"],
            order=None,
            fail_at=0.6,
            gold=x.decisions[x.decisions["coder"] == "ben"],
            pass_at=0.85,
            error=0.05,
            fail_within=40,
            pass_within=60,
            confidence_level=0.95,
        ),
        "agreement.drift": call(
            a.drift, decisions=x.decisions, coverage=x.coverage, plan=None, false_alarms=0.05
        ),
        "agreement.sequential": call(
            a.sequential,
            decisions=x.decisions,
            width=0.3,
            coefficient="gwet_ac",
            units=x.units,
            cluster="case_id",
            confidence_level=0.95,
        ),
        "agreement.units_needed": call(
            a.units_needed,
            alpha=0.7,
            prevalence=0.3,
            n_coders=2,
            width=0.3,
            level="nominal",
            confidence_level=0.95,
            design_effect=1.0,
            n_simulations=3,
            seed=0,
        ),
        "codebook.Code": call(
            qual.Code,
            id="warm",
            label="Warm",
            definition="",
            use_when=("a",),
            avoid_when=(),
            examples=(),
            counter_examples=(),
            parent=None,
            colour=None,
            key="w",
            origin="deductive",
            source="",
            rules_source="",
            codable=True,
        ),
        "codebook.Codebook": call(
            qual.Codebook,
            name="mine",
            title="",
            version="1",
            description="",
            source="",
            licence="",
            facets=(low,),
            codes=(qual.Code(id="warm", label="Warm"),),
            appeared=(x.codebook.codes,),
        ),
        "codebook.Codebook.check_facets": call(
            x.codebook.check_facets, code_id=code, facets={"valence": "met"}
        ),
        "codebook.Codebook.facet": call(x.codebook.facet, name="valence"),
        "codebook.Codebook.facets_of": call(x.codebook.facets_of, code_id=code),
        "codebook.Facet": call(
            qual.codebook.Facet,
            name="intensity",
            values=(qual.codebook.FacetValue("low"),),
            label="Intensity",
            codes=(),
        ),
        "codebook.FacetValue": call(qual.codebook.FacetValue, name="low", label="Low", key="l"),
        "codebook.Codebook.write": late(
            x.codebook.write, path=partial(path, ".yaml"), overwrite=lambda: False
        ),
        "codebook.free_id": call(qual.codebook.free_id, label="Warm", taken=["warm"], times=Counter()),
        "codebook.Codebook.read": late(
            qual.Codebook.read,
            source=lambda: codes(path(".csv")),
            columns=dict,
            sheet=lambda: None,
            encoding=lambda: "utf-8",
            split=lambda: ">",
        ),
        "codebook.Codebook.from_yaml": call(qual.Codebook.from_yaml, content=x.codebook.to_yaml()),
        "coders.Asking": late(qual.coders.Asking, **asked),
        "coders.Asking.ask": method(
            "ask",
            lambda: qual.coders.Asking(**{key: make() for key, make in asked.items()}),
            only=lambda: None,
            **{key: partial(lambda one: one, one) for key, one in asking.items() if key != "with_context"},
        ),
        "coders.Asking.take": method(
            "take",
            lambda: qual.coders.Asking(**{key: make() for key, make in asked.items()}),
            before=lambda: qual.coders.Asking(**{key: make() for key, make in asked.items()}),
        ),
        "coders.Run": call(qual.coders.Run, coder="model-x", answers=run().answers, card=dict(run().card)),
        "coders.Run.acts": method("acts", run, codebook=lambda: x.codebook),
        "coders.Run.write": method(
            "write", run, path=lambda: path(".jsonl"), with_why=lambda: False, overwrite=lambda: False
        ),
        "coders.behaviour": call(
            qual.coders.behaviour,
            codebook=x.codebook,
            units=x.units.head(4),
            n=2,
            seed=0,
            instructions=qual.coders.INSTRUCTIONS,
            **asking,
        ),
        "coders.code": call(
            qual.coders.code,
            units=x.units.head(4),
            codebook=x.codebook,
            coder="model-x",
            plan=plan,
            wordings=qual.coders.WORDINGS,
            **asking,
        ),
        "coders.prompts": call(
            qual.coders.prompts,
            units=x.units.head(4),
            codebook=x.codebook,
            plan=plan,
            wordings=qual.coders.WORDINGS,
            with_context=True,
        ),
        "coders.read": late(qual.coders.read, path=written_run),
        "coders.variants": call(
            qual.coders.variants, runs=2, wordings=["plain", "brief"], orders=2, n=2, seed=0
        ),
        "codings.carried": call(c.carried, **carried),
        "codings.decisions": call(c.decisions, **carried, facet="valence", abstained=None),
        "codings.development": call(
            c.development, **frames, units=x.units, cluster="case_id", codes=[code], order=None
        ),
        "codings.new_information": call(
            c.new_information,
            **frames,
            units=x.units,
            cluster="case_id",
            codes=[code, "interest"],
            order=None,
            base_size=2,
            run_length=1,
            threshold=0.05,
            n_orders=20,
            seed=0,
        ),
        "codings.saturation": call(
            c.saturation,
            **frames,
            units=x.units,
            cluster="case_id",
            emerged=[code, "interest"],
            more=[1],
            confidence_level=0.95,
        ),
        "codings.from_table": call(
            c.from_table,
            table=wide,
            unit_id="u",
            coder="c",
            codes=["warm"],
            blank="absent",
            finished=None,
            units=None,
            values={"ja": True},
            coders={"ben": "model-ben"},
        ),
        "codings.from_segments": call(
            c.from_segments,
            table=wide.assign(k=code),
            codebook=x.codebook,
            unit_id="u",
            code="k",
            coder="c",
            finished="rows",
            units=None,
            separator=", ",
            codes={"Warmth": code},
            coders={"ben": "model-ben"},
        ),
        "codings.read": call(
            c.read,
            source=wide.assign(k=code),
            codebook=x.codebook,
            unit_id="u",
            code="k",
            coder="c",
            finished="rows",
            units=None,
            blank=None,
            separator=", ",
            codes={"Warmth": code},
            coders={"ben": "model-ben"},
            values={"ja": True},
            sheet=None,
            sheets=None,
            delimiter=None,
            encoding=None,
            header=1,
            kind=None,
            limits=None,
        ),
        "codings.finish_order": call(c.finish_order, coverage=x.coverage, plan=None),
        "codings.majority": call(c.majority, decisions=x.decisions, with_models=True),
        "codings.of_round": call(c.of_round, **frames, round=None),
        "codings.quotes": call(c.quotes, acts=x.acts, codebook=x.codebook, revisions=()),
        "codings.rulings": call(c.rulings, acts=x.acts, codebook=x.codebook, revisions=()),
        "codings.stale": call(c.stale, **carried),
        "codings.after_discussion": call(
            c.after_discussion, decisions=x.decisions, discussed=x.decisions.head(7)
        ),
        "codings.tally": call(c.tally, decisions=x.decisions, with_models=True),
        "corpus.assign": call(
            qual.corpus.assign,
            units=x.units,
            coders=["ana", "ben"],
            overlap=0.5,
            seed=0,
            stratify="Model",
            coders_per_unit=2,
            calibration=2,
            fixed={"ana": [first.unit_id]},
            weights=None,
        ),
        "corpus.inclusion": call(
            qual.corpus.inclusion,
            units=x.units,
            overlap=0.5,
            seed=0,
            stratify="Model",
            weights=dict.fromkeys(x.units["unit_id"], 1.0),
        ),
        "corpus.hand_sample": late(
            qual.corpus.hand_sample,
            units=lambda: x.units,
            n=lambda: 30,
            by=lambda: "model",
            model=lambda: suggested(),
            code=lambda: code,
            cluster=lambda: "case_id",
            seed=lambda: 0,
        ),
        "rounds.Assignment.from_act": late(qual.rounds.Assignment.from_act, act=lambda: assigned()[0]),
        "rounds.assignments": late(qual.rounds.assignments, acts=assigned, round=lambda: None),
        "rounds.planned": late(qual.rounds.planned, acts=assigned, units=lambda: x.units["unit_id"].tolist()),
        "corpus.canonical": call(qual.corpus.canonical, text="a text"),
        "corpus.Limits": call(qual.corpus.Limits, **{field.name: 10 for field in limits}),
        "corpus.Limits.unpacked": call(qual.corpus.Limits().unpacked, packed=10),
        "corpus.Limits.require": call(
            qual.corpus.Limits().require,
            setting="rows",
            found=1,
            name="a.csv",
            of="rows",
            remedy="split it",
            allowed=None,
        ),
        "corpus.Limits.beyond": call(
            qual.corpus.Limits().beyond,
            setting="rows",
            name="a.csv",
            of="rows",
            remedy="split it",
            found="more",
            allowed=None,
        ),
        "corpus.read": call(
            qual.corpus.read,
            source=sheet,
            text="said",
            unit_id="id",
            document_id="case",
            case_id="case",
            position="stars",
            context=None,
            ratings=["stars"],
            variables=["case"],
            rating_labels=None,
            delimiter=None,
            encoding=None,
            sheet=None,
            header=1,
            kind=None,
            limits=None,
            empty="error",
            preview="error",
        ),
        "corpus.recognise": call(
            qual.corpus.recognise,
            source=sheet,
            delimiter=None,
            encoding=None,
            sheet=None,
            header=None,
            kind=None,
            limits=None,
        ),
        "corpus.read_sense7": call(qual.corpus.read_sense7, path=DATA / "sense7_synthetic.xlsx", limits=None),
        "corpus.read_sense7_messages": call(
            qual.corpus.read_sense7_messages, limits=None, path=DATA / "sense7_synthetic.xlsx"
        ),
        "corpus.sense7_levels": call(qual.corpus.sense7_levels, column=pd.Series(["1", "Good"])),
        "figures.agreement_plot": drawn_from(f.agreement_plot, "agreement.by_code", **drawn),
        "figures.code_dimension_matrix": drawn_from(f.code_dimension_matrix, "links.by_dimension", **drawn),
        "figures.disruption_plot": drawn_from(
            f.disruption_plot, "links.disruption", **drawn | {"columns": 2}
        ),
        "figures.drift_plot": drawn_from(f.drift_plot, "agreement.over_time", code=code, **drawn),
        "figures.theme_spread": drawn_from(f.theme_spread, "themes.spread", columns=2),
        "figures.granularity_plot": call(
            f.granularity_plot,
            granularities=pd.DataFrame(
                {
                    "granularity": [0.5, 1.0],
                    "n_themes": [4, 9],
                    "ari": [0.6, 0.7],
                    "ari_low": [0.5, 0.6],
                    "ari_high": [0.7, 0.8],
                    "ari_chance": [0.3, 0.2],
                    "chosen": [False, True],
                }
            ),
            columns=1,
        ),
        "figures.link_forest": drawn_from(
            f.link_forest, "links.code_to_rating", effect="rank_biserial", sources=["ana"], **drawn
        ),
        "figures.link_plot": drawn_from(f.link_plot, "links.code_to_rating", source="ana", **drawn),
        "figures.model_card": drawn_from(f.model_card, "agreement.diagnosis.model_card", codebook=None),
        "figures.pairwise_plot": drawn_from(
            f.pairwise_plot, "agreement.pairwise", code=code, statistic="alpha", **drawn
        ),
        "figures.power_curve": drawn_from(f.power_curve, "links.power", target=0.8, columns=1),
        "figures.rating_distributions": drawn_from(
            f.rating_distributions, "links.distributions", source="ana", **drawn
        ),
        "figures.specification_curve": drawn_from(
            f.specification_curve, "links.multiverse", code=code, effect="rank_biserial", **drawn
        ),
        "figures.unit_plot": drawn_from(
            f.unit_plot, "agreement.diagnosis.by_unit", code=code, most=5, **drawn
        ),
        "figures.Figure.png": method("png", partial(x.made, "figures.power_curve"), scale=lambda: 1.0),
        "figures.Figure.write": method(
            "write",
            partial(x.made, "figures.power_curve"),
            path=partial(path, ".svg"),
            overwrite=lambda: False,
        ),
        "links.by_dimension": call(
            s.by_dimension,
            decisions=x.decisions,
            units=x.units,
            ratings=dimensions,
            rating_range=(1, 5),
            cluster="case_id",
            source="ana",
            mapping={code: dimensions[0]},
            **boot,
        ),
        "links.co_occurrence": call(s.co_occurrence, decisions=x.decisions, source="ana"),
        "links.code_to_rating": call(
            s.code_to_rating,
            **link,
            cluster="case_id",
            sources=["ana"],
            nested="document_id",
            odds_ratios=False,
            sensitivity=False,
            pooling="joint",
            adjust="max-t",
            equivalence=("rank_biserial", 0.2),
            hypothesis="within",
            with_models=False,
            details=False,
            progress=None,
            **boot,
        ),
        "links.context": call(
            s.context, units=x.units, **rating, variables=["Model"], cluster="case_id", confidence_level=0.95
        ),
        "links.corrected": late(
            s.corrected,
            posterior=lambda: x.made("adjudication.dawid_skene").posterior,
            units=lambda: x.units,
            rating=lambda: "EmpathyOverall",
            cluster=lambda: "case_id",
            rating_range=lambda: (1, 5),
            n_imputations=lambda: 2,
            odds_ratios=lambda: False,
            confidence_level=lambda: 0.95,
            seed=lambda: 0,
        ),
        "links.models.cumulative_mixed": call(
            s.models.cumulative_mixed,
            rating=x.ratings,
            predictors=x.units.set_index("unit_id")["Affective"],
            groups=x.groups,
            nested=None,
            rating_range=(1, 5),
            quadrature=3,
            link="logit",
        ),
        "links.scales.dimension_correlations": call(
            s.scales.dimension_correlations,
            units=x.units,
            ratings=dimensions,
            rating_range=(1, 5),
            cluster="case_id",
            once_per=None,
            confidence_level=0.95,
        ),
        "links.disruption": call(
            s.disruption,
            units=x.units,
            **rating,
            document_id="document_id",
            position="position",
            threshold=2,
            cluster="case_id",
            outcomes=["PostTaskExperience_Engaged"],
            decisions=x.decisions,
            source="ana",
            **boot,
        ),
        "links.distributions": call(s.distributions, **link, sources=["ana"]),
        "links.scales.internal_consistency": call(
            s.scales.internal_consistency,
            units=x.units,
            ratings=dimensions,
            rating_range=(1, 5),
            cluster="case_id",
            missing="listwise",
            once_per=None,
            confidence_level=0.95,
        ),
        "links.joint": call(
            s.joint,
            **link,
            cluster="case_id",
            source="ana",
            interaction=None,
            nested="document_id",
            quadrature=3,
            confidence_level=0.95,
        ),
        "links.models.with_model": late(
            s.models.with_model,
            decisions=lambda: x.decisions[x.decisions["unit_id"].isin(half)],
            units=lambda: x.units,
            model=lambda: suggested(),
            inclusion=lambda: "equal",
            rating=lambda: "EmpathyOverall",
            cluster=lambda: "case_id",
            source=lambda: "majority",
            shown=lambda: None,
            rating_range=lambda: (1, 5),
            odds_ratios=lambda: False,
            confidence_level=lambda: 0.95,
        ),
        "links.models.by_hand": late(
            s.models.by_hand, linked=partial(x.made, "links.models.with_model"), n=lambda: [20, 40]
        ),
        "links.models.missing_ratings": call(
            s.models.missing_ratings,
            **link,
            cluster="case_id",
            sources=["ana"],
            deltas=[-1, 1],
            confidence_level=0.9,
            progress=None,
        ),
        "links.models.r_script": call(
            s.models.r_script,
            **link,
            path=path(".R"),
            cluster="case_id",
            source="ana",
            codes=[code],
            variables=["position"],
            slopes=[code],
            nested="document_id",
            crossed=["position"],
            link="logit",
            overwrite=True,
        ),
        "links.models.marginal": call(
            s.models.marginal,
            rating=x.ratings,
            predictors=x.units.set_index("unit_id")["Affective"],
            groups=x.groups,
            rating_range=(1, 5),
            standard_errors="robust",
        ),
        "links.multiverse": call(
            s.multiverse,
            **link,
            cluster="case_id",
            sources=["ana"],
            analyses=["rank_biserial"],
            exclusions=["none"],
            arms=None,
            inclusion="equal",
            progress=None,
            **boot,
        ),
        "links.scales.polychoric": call(
            s.scales.polychoric, first=x.ratings, second=x.ratings, rating_range=(1, 5), confidence_level=0.95
        ),
        "links.power": call(s.power, participants=[20], target=None, **sizes, odds_ratio=None, between=0.0),
        "links.variance_shares": call(
            s.variance_shares, units=x.units, **rating, levels=["case_id", "document_id"], **boot
        ),
        "links.models.proportional_odds": call(
            s.models.proportional_odds,
            rating=x.ratings,
            predictors=x.units.set_index("unit_id")["Affective"],
            groups=x.groups,
            rating_range=(1, 5),
            model="marginal",
            confidence_level=0.95,
        ),
        "links.models.CumulativeModel.intervals": method(
            "intervals", partial(x.made, "links.models.marginal"), confidence_level=lambda: 0.95
        ),
        "links.models.CumulativeModel.odds_ratios": method(
            "odds_ratios", partial(x.made, "links.models.marginal"), confidence_level=lambda: 0.95
        ),
        "models.Chat.__call__": method("__call__", chat, messages=lambda: prompts[0]),
        "models.embedder": call(
            qual.models.embedder,
            model=folder,
            texts=["It listened."],
            precision="float32",
            cache=None,
            batch_size=4,
            progress=None,
        ),
        "models.embed_to_folder": late(
            qual.models.embed_to_folder,
            texts=lambda: ["It listened."],
            folder=path,
            embed=lambda: NoModel(model_id="none", batch_size=1, folder=Path()),
            chunk=lambda: 8,
            client=lambda: None,
            progress=lambda: False,
        ),
        "models.chat": call(
            qual.models.chat,
            base_url="http://127.0.0.1:9",
            model="m",
            consent=None,
            api_key_env=None,
            redact=None,
            timeout=1.0,
            max_retries=0,
            cache=None,
            price_per_million=1.0,
            parameters={"temperature": 0},
            run=1,
        ),
        "models.clear_cache": late(qual.models.clear_cache, folder=cache_folder),
        "models.Chat.prepare": method("prepare", chat, conversations=list),
        "models.local_chat": call(
            qual.models.local_chat,
            weights=None,
            context=512,
            threads=1,
            reproducible=False,
            consent=None,
            cache=None,
            parameters={"temperature": 0},
            redact=None,
            timeout=60.0,
        ),
        "models.Chat.as_sent": method("as_sent", chat, messages=lambda: prompts[0]),
        "models.Chat.for_run": method("for_run", chat, run=lambda: 2),
        "models.Chat.estimate": method(
            "estimate", chat, conversations=lambda: prompts, reply_tokens=lambda: 10
        ),
        "ratings.compare": late(
            r.compare,
            predictions=partial(x.made, "ratings.cross_validate"),
            **{key: partial(lambda one: one, value) for key, value in boot.items()},
        ),
        "ratings.cross_validate": call(
            r.cross_validate,
            units=x.units,
            predictors=predictions,
            rating="EmpathyOverall",
            cluster="case_id",
            unit_id="unit_id",
            folds=3,
            seed=0,
        ),
        "ratings.evaluate": call(
            r.evaluate,
            true=[1.0, 2, 3, 4, 5, 3],
            predicted=[1.0, 2, 3, 4, 4, 3],
            labels=None,
            fold=None,
            groups=list("abcdef"),
            **boot,
        ),
        "ratings.evaluate_runs": call(
            r.evaluate_runs, true=[1.0, 2, 3, 4], runs=np.array([[1.0, 1], [2, 2], [3, 4], [4, 4]])
        ),
        "ratings.ground_truth": call(
            r.ground_truth,
            messages=x.messages,
            document_id="document_id",
            case_id="case_id",
            role="Role",
            position="position",
            dimensions=dimensions,
        ),
        "ratings.judge": call(r.judge, **talk, chat=lambda messages: "4", missing_on=(), progress=None),
        "ratings.judge_prompts": call(r.judge_prompts, **talk),
        "ratings.ordinal_regression": call(
            r.ordinal_regression, embed=embed, text="text", penalties=(0.1, 1.0)
        ),
        "ratings.OrdinalRegression.__call__": method(
            "__call__",
            partial(r.ordinal_regression, embed),
            train=lambda: x.units.head(30).assign(
                truth=x.units["EmpathyOverall"].fillna(3), cluster=x.units["case_id"]
            ),
            test=lambda: x.units.tail(5),
        ),
        "redact.apply": call(qual.redact.apply, **texts, found=None, key="kept in a safe place"),
        "redact.find": call(qual.redact.find, **texts),
        "redact.preview": late(
            qual.redact.preview,
            units=lambda: x.units.head(40),
            found=partial(x.made, "redact.find"),
            width=lambda: 20,
        ),
        "redact.summary": late(
            qual.redact.summary, units=lambda: x.units.head(40), found=partial(x.made, "redact.find")
        ),
        "report.tables.codebook": call(
            p.tables.codebook,
            codebook=x.codebook,
            layout="list",
            revisions=(),
            codebooks={x.codebook.fingerprint: x.codebook},
            notes=["A note."],
        ),
        "report.tables.co_occurrence": drawn_from(
            p.tables.co_occurrence,
            "links.co_occurrence",
            form="matrix",
            most=3,
            with_phi=False,
            codebook=x.codebook,
            digits=2,
            notes=["A note."],
        ),
        "report.tables.condition": call(
            p.tables.condition,
            decisions=x.decisions,
            units=x.units.assign(system="one"),
            condition="system",
            source="ana",
            cluster="case_id",
            codebook=x.codebook,
            notes=["A note."],
        ),
        "report.tables.disagreement": call(
            p.tables.disagreement,
            disagreements=qual.adjudication.queue(x.decisions, rulings=[ruling]),
            codebook=x.codebook,
            notes=["A note."],
        ),
        "report.tables.difference": drawn_from(
            p.tables.difference, "agreement.difference", **printed, names=("before", "after")
        ),
        "report.tables.model_card": drawn_from(
            p.tables.model_card,
            "agreement.diagnosis.model_card",
            **printed,
            words=None,
            models={"model-suggestions": "the study's own suggestions"},
        ),
        "report.tables.further": late(
            p.tables.further, further=further, digits=lambda: 2, notes=lambda: ["More."]
        ),
        "report.tables.human_model": drawn_from(
            p.tables.human_model, "agreement.human_model", **printed, models={"gpt": "a model"}
        ),
        "report.tables.revision": call(
            p.tables.revision, revisions=(), codebooks={x.codebook.fingerprint: x.codebook}, notes=["A note."]
        ),
        "report.tables.disruption": drawn_from(p.tables.disruption, "links.disruption", **printed),
        "report.tables.joint": drawn_from(p.tables.joint, "links.joint", **printed, rating="Empathy"),
        "report.tables.link": drawn_from(
            p.tables.link, "links.code_to_rating", source="ana", **printed, rating="Empathy"
        ),
        "report.tables.missing": drawn_from(
            p.tables.missing, "links.models.missing_ratings", source="ana", **printed, rating="Empathy"
        ),
        "report.tables.multiverse": drawn_from(
            p.tables.multiverse, "links.multiverse", **printed, rating="Empathy"
        ),
        "report.tables.memo": call(
            p.tables.memo,
            memos=k.fold(x.acts).memos,
            units=x.units,
            earlier=[],
            codebook=x.codebook,
            max_length=80,
            notes=["A note."],
        ),
        "report.tables.overruled": call(
            p.tables.overruled,
            overruled=qual.adjudication.overruled(x.decisions, rulings=[ruling]),
            notes=["A note."],
        ),
        "report.tables.quote": call(
            p.tables.quote,
            codings=x.codings,
            units=x.units,
            codebook=x.codebook,
            per_code=2,
            max_length=80,
            per_participant=2,
            decisions=x.decisions,
            quotes=None,
            names=["Ann"],
            rating="EmpathyOverall",
            seed=0,
            notes=["A note."],
        ),
        "report.quote_candidates": call(
            p.quote_candidates,
            codings=x.codings,
            units=x.units,
            codebook=x.codebook,
            per_code=2,
            per_participant=2,
            decisions=x.decisions,
            quotes=None,
            names=["Ann"],
            rating="EmpathyOverall",
            seed=0,
            screened="drawn",
        ),
        "report.tables.rating": drawn_from(
            p.tables.rating,
            "ratings.compare",
            **{key: printed[key] for key in printed if key != "codebook"},
            rating="Empathy",
        ),
        "report.tables.reliability": drawn_from(
            p.tables.reliability, "agreement.by_code", **printed, cross_check=None
        ),
        "report.tables.variance": drawn_from(
            p.tables.variance,
            "links.variance_shares",
            names={"case_id": "Participant"},
            digits=2,
            rating="Empathy",
            notes=["A note."],
        ),
        "report.tables.suggestion": call(
            p.tables.suggestion,
            answers=pd.DataFrame(
                {
                    "unit_id": ["m1", "m2"],
                    "coder": "ana",
                    "code": code,
                    "model": "gpt",
                    "when": "finished",
                    "before": [False, True],
                    "answer": ["accepted", "agreed"],
                }
            ),
            codebook=x.codebook,
            models={"gpt": "a model"},
            notes=["A note."],
        ),
        "report.Table.latex": method(
            "latex",
            partial(x.made, "report.tables.codebook"),
            label=lambda: "t1",
            style=lambda: "apa",
            page_columns=lambda: 2,
        ),
        "report.Table.write": method(
            "write",
            partial(x.made, "report.tables.codebook"),
            path=partial(path, ".md"),
            overwrite=lambda: False,
            style=lambda: "acm",
            page_columns=lambda: 2,
            paper_size=lambda: "letter",
        ),
        "report.Text.write": method(
            "write",
            partial(x.made, "report.methods"),
            path=partial(path, ".md"),
            overwrite=lambda: False,
            paper_size=lambda: "letter",
        ),
        "codebook.changes": call(
            qual.codebook.changes, old=x.codebook, new=x.changed, merged=None, split=None, meaning=None
        ),
        "codebook.combine": call(qual.codebook.combine, base=x.codebook, ours=x.changed, theirs=x.codebook),
        "codebook.emerged": call(
            qual.codebook.emerged, revisions=(), codebooks={x.codebook.fingerprint: x.codebook}
        ),
        "codebook.path": call(qual.codebook.path, revisions=(), made_under="a", now="a"),
        "codebook.Revision.from_text": call(
            qual.codebook.Revision.from_text,
            text='{"base": "a", "changes": [], "why": "w"}',
            coder="lead",
            at=stamp["at"],
            codebook="b",
        ),
        "rounds.open_round": call(
            qual.rounds.open_round,
            round="one",
            units=[first.unit_id],
            coders=["ana"],
            coder="lead",
            codebook=x.codebook,
            leads=["lead"],
            gold=gold,
            discusses=None,
            **stamp,
        ),
        "rounds.first_decisions": call(
            qual.rounds.first_decisions, acts=x.acts, coder="ana", round=qual.rounds.opened([opened])[0]
        ),
        "rounds.own_codings": call(
            qual.rounds.own_codings,
            acts=x.acts,
            round=qual.rounds.opened([discussion])[0],
            coder="ana",
            codebook=x.codebook,
        ),
        "rounds.opened": call(qual.rounds.opened, acts=[opened]),
        "rounds.ever_opened": call(qual.rounds.ever_opened, acts=[opened]),
        "rounds.coders_named": call(qual.rounds.coders_named, act=opened),
        "rounds.progress": call(
            qual.rounds.progress, rounds=list(qual.rounds.opened([opened])), coverage=x.coverage
        ),
        "rounds.unblind": call(qual.rounds.unblind, round="one", coder="lead", codebook=x.codebook, **stamp),
        "rounds.visible": call(qual.rounds.visible, acts=x.acts, viewer="ana"),
        "store.Store": late(qual.Store, path=lambda: store().path, forget_again=lambda: False),
        "store.Store.create": late(
            qual.Store.create,
            path=path,
            units=lambda: x.units,
            codebook=lambda: x.codebook,
            lead=lambda: None,
            exist_ok=lambda: True,
        ),
        "store.Store.admin.add_coder": method(
            "admin.add_coder", store, coder=lambda: "cat", role=lambda: None, lead=lambda: False
        ),
        "store.Store.admin.end_coder": method("admin.end_coder", store, coder=lambda: "cat"),
        "store.Store.append": method("append", store, acts=lambda: [k.finish(**act)], person=lambda: False),
        "store.Store.desk.seats": method("desk.seats", store, coder=lambda: "cat"),
        "store.Store.desk.sheet_key": method("desk.sheet_key", store, coder=lambda: "cat"),
        "store.handed_in": late(qual.store.handed_in, source=lambda: Path(archived())),
        "store.Store.desk.append_after": method(
            "desk.append_after", store, acts=lambda: [k.finish(**act)], n_read=lambda: 1, meet=lambda: print
        ),
        "store.Store.revise": method(
            "revise",
            fresh,
            codebook=lambda: x.changed,
            why=lambda: "clearer",
            coder=lambda: "lead",
            merged=lambda: None,
            split=lambda: None,
            meaning=lambda: None,
        ),
        "store.Store.acts": method(
            "acts", store, coder=lambda: "ana", kind=lambda: "finish", viewer=lambda: None
        ),
        **{
            f"store.Store.{name}": method(name, store, coder=lambda: "ana", viewer=lambda: None)
            for name in ("memos", "proposals")
        },
        **{
            f"store.Store.{name}": method(
                name, store, round=lambda: None, coder=lambda: "ana", models=lambda: True, viewer=lambda: None
            )
            for name in ("codings", "coverage")
        },
        "store.Store.quotes": method("quotes", store, viewer=lambda: None),
        "store.Store.rulings": method("rulings", store, viewer=lambda: None),
        "store.Store.decisions": method(
            "decisions",
            store,
            round=lambda: None,
            coder=lambda: "ana",
            facet=lambda: None,
            settled_by=lambda: None,
            codebook=lambda: None,
            waiting=lambda: None,
            models=lambda: True,
            viewer=lambda: None,
        ),
        "store.Store.assign": method(
            "assign",
            fresh,
            coders=lambda: ["ana", "ben"],
            overlap=lambda: 0.5,
            coder=lambda: "lead",
            seed=lambda: 0,
            stratify=lambda: None,
            coders_per_unit=lambda: None,
            calibration=lambda: None,
            round=lambda: None,
            weights=lambda: None,
        ),
        "store.Store.set_options": method(
            "set_options",
            store,
            coder=lambda: "lead",
            new_codes=lambda: "add",
            rating=lambda: "shown",
            suggestions=lambda: "finished",
            rating_column=lambda: None,
            leads=lambda: None,
        ),
        "store.Store.desk.draft": method("desk.draft", store, work=lambda: "codebook", coder=lambda: "lead"),
        "store.Store.desk.keep_draft": method(
            "desk.keep_draft",
            fresh,
            work=lambda: "codebook",
            draft=lambda: {"why": "x"},
            coder=lambda: "lead",
        ),
        "store.Store.record_themes": method(
            "record_themes", fresh, themes=partial(x.made, "themes.fit"), coder=lambda: "lead"
        ),
        "store.Store.edit_theme": method(
            "edit_theme",
            with_themes,
            theme=lambda: 0,
            coder=lambda: "lead",
            name=lambda: "Kindness",
            merge_into=lambda: None,
            dismissed=lambda: None,
            parts=lambda: None,
            code=lambda: None,
            why=lambda: "seen so",
        ),
        "exchange.export": late(
            qual.exchange.export,
            store=store,
            path=partial(path, ".csv"),
            table=lambda: "texts",
            with_agreement=lambda: True,
            labels=lambda: {"case_id": "Who?"},
            overwrite=lambda: True,
        ),
        "exchange.write_project": late(
            qual.exchange.write_project,
            store=store,
            path=partial(path, ".qdpx"),
            offsets=lambda: "utf-16",
            layout=lambda: "texts",
            groups=lambda: None,
            quotations=lambda: None,
            overwrite=lambda: True,
        ),
        "exchange.match": late(
            qual.exchange.match, store=store, project=lambda: qual.exchange.read_project(project())
        ),
        "exchange.write_coding_sheets": late(
            qual.exchange.write_coding_sheets,
            store=store,
            folder=path,
            round=lambda: "one",
            coders=lambda: ["ana"],
            overwrite=lambda: True,
        ),
        "exchange.read_coding_sheets": late(
            qual.exchange.read_coding_sheets, store=store, path=coding_sheet, undo=lambda: True
        ),
        "exchange.read_project": late(
            qual.exchange.read_project,
            path=project,
            offsets=lambda: "code-points",
            split=lambda: "::",
            limits=lambda: qual.corpus.Limits(),
        ),
        "store.Store.admin.accept_loss": method(
            "admin.accept_loss", store, coder=lambda: "ana", by=lambda: "lead", why=lambda: "gone"
        ),
        "store.Store.admin.salvage": method(
            "admin.salvage", store, coder=lambda: "ana", path=partial(path, ".sqlite")
        ),
        "store.Store.copies.merge": merging,
        "store.Store.copies.backup": method("copies.backup", store, path=path),
        "store.Store.copies.hand_out": method(
            "copies.hand_out",
            store,
            round=lambda: "one",
            coder=lambda: "ana",
            path=path,
            variables=lambda: (),
            accept=lambda: (),
        ),
        "store.Store.copies.hand_in": handing_in,
        "store.Store.copies.archive": method("copies.archive", store, path=partial(path, ".zip")),
        "store.Store.copies.bundle": method(
            "copies.bundle",
            store,
            path=path,
            texts=lambda: "withheld",
            analysis_plan=lambda: k.contents.AnalysisPlan(question="Why?", n_boot=5),
            rating=lambda: None,
            cluster=lambda: None,
            settled_by=lambda: "rulings",
            seed=lambda: 0,
            conditions=list,
            variables=list,
            names=list,
            accept=list,
            formats=lambda: ["csv"],
            title=lambda: None,
            authors=lambda: ["Doe, Jane"],
            licence=lambda: "CC-BY-4.0",
            keywords=lambda: ["warmth"],
            software=lambda: "https://example.org/a",
            overwrite=lambda: False,
            progress=lambda: None,
        ),
        "store.Store.restore": late(
            qual.Store.restore, archive=archived, path=path, forget_again=lambda: False
        ),
        "store.Store.record_model": method("record_model", fresh, run=run, coder=lambda: "lead"),
        "store.Store.forget": method(
            "forget", fresh, case_id=lambda: x.units["case_id"].iloc[0], why=lambda: "asked to"
        ),
        "store.Store.preregister": method(
            "preregister", store, plan=lambda: k.contents.AnalysisPlan(question="Why?"), coder=lambda: "lead"
        ),
        "report.paper": late(
            qual.report.paper,
            store=registered,
            analysis_plan=lambda: k.contents.AnalysisPlan(question="Why?", n_boot=5),
            path=path,
            formats=lambda: ["csv"],
            style=lambda: "plain",
            page_columns=lambda: 2,
            paper_size=lambda: "letter",
            codebook_layout=lambda: "grid",
            conditions=lambda: ["document_id"],
            settled_by=lambda: "rulings",
            round=lambda: None,
            with_texts=lambda: False,
            names=lambda: ["Ann"],
            with_agreement=lambda: None,
            with_prose=lambda: True,
            positionality=lambda: None,
            multiverse=lambda: None,
            overwrite=lambda: True,
            progress=lambda: False,
        ),
        "report.open_answers": late(
            qual.report.open_answers, store=store, with_agreement=lambda: True, asked=dict
        ),
        "report.ask_in_call": late(
            qual.report.ask_in_call, command=lambda: "paper", answers=lambda: {"nothing": "none"}
        ),
        "report.listed": late(qual.report.listed, answers=lambda: {"nothing": "none"}),
        "report.deviations": late(
            qual.report.deviations,
            store=registered,
            analysis_plan=lambda: k.contents.AnalysisPlan(question="Why?", seed=1),
        ),
        "report.tables.preregistration": late(
            qual.report.tables.preregistration,
            store=registered,
            plan=lambda: k.contents.AnalysisPlan(question="Why?"),
        ),
        "report.tables.theme": late(
            qual.report.tables.theme, store=store, with_memos=lambda: True, notes=lambda: ["More."]
        ),
        "report.review": late(
            qual.report.review,
            store=store,
            with_agreement=lambda: True,
            rating=lambda: "EmpathyOverall",
            cluster=lambda: "case_id",
            settled_by=lambda: "rulings",
            n_boot=lambda: 5,
            seed=lambda: 0,
            multiverse=lambda: None,
            further=further,
        ),
        **{
            f"report.{name}": late(
                getattr(qual.report, name),
                store=store,
                with_agreement=lambda: True,
                n_boot=lambda: 5,
                seed=lambda: 0,
                **more,
            )
            for name, more in {
                "methods": {
                    "rating": lambda: None,
                    "cluster": lambda: None,
                    "positionality": lambda: None,
                    "settled_by": lambda: "rulings",
                    "further": further,
                    **linking,
                },
                "results": {
                    "rating": lambda: None,
                    "cluster": lambda: None,
                    "settled_by": lambda: "rulings",
                    **linking,
                },
                "checklist": {
                    "guideline": lambda: "coreq",
                    "positionality": lambda: None,
                    "settled_by": lambda: "rulings",
                },
                "ai_statement": {"models": lambda: ()},
            }.items()
        },
        "suggestions.made_when": call(qual.suggestions.made_when, acts=x.acts),
        "suggestions.model_uses": call(qual.suggestions.model_uses, acts=x.acts),
        "suggestions.answers": call(qual.suggestions.answers, acts=x.acts),
        "suggestions.shown": call(qual.suggestions.shown, acts=x.acts),
        "suggestions.check": late(
            qual.suggestions.check,
            suggestions=partial(x.made, "suggestions.suggest"),
            units=lambda: x.units,
            codebook=lambda: x.codebook,
        ),
        "suggestions.effect": late(
            qual.suggestions.effect,
            decisions=lambda: x.decisions,
            shown=lambda: ~qual.suggestions.withheld(x.units["unit_id"], share=0.4),
            units=lambda: x.units,
            suggestions=lambda: None,
            cluster=lambda: "case_id",
            confidence_level=lambda: 0.9,
        ),
        "suggestions.fit": call(
            qual.suggestions.fit,
            units=x.units,
            decisions=x.decisions,
            codebook=x.codebook,
            embed=embed,
            codings=x.codings,
            coder="ana",
            cluster="case_id",
            seed=0,
        ),
        "suggestions.order": late(
            qual.suggestions.order,
            units=lambda: x.units,
            n=lambda: 20,
            by=lambda: "uncertainty",
            suggestions=partial(x.made, "suggestions.suggest"),
            seed=lambda: 0,
        ),
        "suggestions.screen": late(
            qual.suggestions.screen,
            suggestions=partial(x.made, "suggestions.suggest"),
            decisions=lambda: x.decisions.iloc[:0],
            codebook=lambda: x.codebook,
            units=lambda: x.units,
            cluster=lambda: "case_id",
            false_share=lambda: 0.1,
            lost_share=lambda: 0.2,
            delta=lambda: 0.2,
            agreement=lambda: None,
            least_agreement=lambda: 0.5,
            coder=lambda: None,
        ),
        "suggestions.Suggester.__call__": method(
            "__call__", partial(x.made, "suggestions.fit"), units=lambda: x.units.head(9)
        ),
        "suggestions.Suggester.nearest": method(
            "nearest",
            partial(x.made, "suggestions.fit"),
            units=lambda: x.units,
            k=lambda: 2,
            suggestions=partial(x.made, "suggestions.suggest"),
        ),
        "suggestions.Suggester.suggest": method(
            "suggest",
            partial(x.made, "suggestions.fit"),
            units=lambda: x.units.head(9),
            with_spans=lambda: True,
        ),
        "suggestions.suggest": late(
            qual.suggestions.suggest,
            units=lambda: x.units,
            suggester=partial(x.made, "suggestions.fit"),
            codebook=lambda: x.codebook,
            share_withheld=lambda: 0.1,
            seed=lambda: 0,
        ),
        "suggestions.withheld": call(
            qual.suggestions.withheld, unit_ids=x.units["unit_id"], share=0.2, seed=0
        ),
        "frames.Contract.check": call(t.DECISIONS.check, frame=x.decisions, as_written=False),
        "frames.Contract.described": call(t.DECISIONS.described, starred=True),
        "frames.Contract.example": call(t.DECISIONS.example, unit_id="m1", coder="ana", code=code),
        "frames.Contract.frame": call(t.DECISIONS.frame, rows=x.decisions),
        "frames.Contract.require": call(t.DECISIONS.require, frame=x.decisions),
        "frames.Contract.returns": call(t.DECISIONS.returns, function=lambda: x.decisions),
        "frames.as_models": call(t.as_models, frame=model, models=["gpt"]),
        "frames.as_people": call(t.as_people, frame=t.as_models(model, ["gpt"]), models=["model-gpt"]),
        "frames.is_model": call(t.is_model, coder="model-gpt"),
        "frames.people": call(t.people, frame=x.decisions, with_models=True),
        "frames.without_models": call(t.without_models, frame=x.decisions, function="by_code", but=["ana"]),
        "frames.check_coder_names": call(t.check_coder_names, names=["ana", "ben"], frame_name="decisions"),
        "frames.one_case": call(t.one_case, names=["m1", "m2"], name="unit_id", frame_name="units"),
        "frames.check_people": call(t.check_people, decisions=x.decisions),
        "frames.clusters_by_unit": call(t.clusters_by_unit, units=x.units, cluster="case_id"),
        "frames.indexed_by_unit": call(t.indexed_by_unit, labels=x.groups, name="cluster"),
        "frames.labels_by_unit": call(
            t.labels_by_unit, labels=x.groups, unit_ids=x.groups.index, name="cluster"
        ),
        "frames.one_spelling": call(
            t.one_spelling, ids=x.units["unit_id"], name="unit_id", frame_name="units"
        ),
        "frames.require_column": call(t.require_column, **table, column="text"),
        "frames.without_blanks": call(t.without_blanks, labels=x.units["text"]),
        "themes.against_codebook": late(
            qual.themes.against_codebook,
            themes=partial(x.made, "themes.fit"),
            decisions=lambda: x.decisions,
            codebook=lambda: x.codebook,
            units=lambda: x.units,
            cluster=lambda: "case_id",
            share=lambda: 0.3,
            lift=lambda: 2.0,
            confidence_level=lambda: 0.9,
        ),
        "themes.codes_by_theme": late(
            qual.themes.codes_by_theme,
            themes=partial(x.made, "themes.fit"),
            decisions=lambda: x.decisions,
            codebook=lambda: x.codebook,
            units=lambda: x.units,
            cluster=lambda: "case_id",
            confidence_level=lambda: 0.9,
        ),
        "themes.check_recorded": late(
            qual.themes.check_recorded, acts=theme_acts, units=lambda: list(x.units["unit_id"])
        ),
        "themes.edit": late(
            qual.themes.edit,
            theme=lambda: 0,
            acts=theme_acts,
            units=lambda: x.units,
            coder=lambda: "lead",
            codebook=lambda: x.codebook,
            name=lambda: "Kindness",
            merge_into=lambda: None,
            dismissed=lambda: None,
            parts=lambda: None,
            code=lambda: None,
            why=lambda: "seen so",
        ),
        "themes.history": late(qual.themes.history, acts=theme_acts),
        "themes.match_recorded": late(
            qual.themes.match_recorded, themes=partial(x.made, "themes.fit"), acts=theme_acts
        ),
        "themes.record": late(
            qual.themes.record,
            themes=partial(x.made, "themes.fit"),
            acts=theme_acts,
            coder=lambda: "lead",
            codebook=lambda: x.codebook,
        ),
        "themes.recorded": late(qual.themes.recorded, acts=theme_acts, units=lambda: x.units),
        "themes.fit": call(
            qual.themes.fit,
            units=x.units.head(60),
            embed=embed,
            codebook=x.codebook,
            seed=0,
            granularity=1.0,
            min_size=5,
            n_resamples=0,
            stop_words="english",
            progress=False,
        ),
        "themes.nearest": call(qual.themes.nearest, units=x.units.head(20), embed=embed, k=2),
        "themes.nearest_codes": late(
            qual.themes.nearest_codes,
            themes=partial(x.made, "themes.fit"),
            units=lambda: x.units.head(60),
            codebook=lambda: x.codebook,
            embed=lambda: embed,
            k=lambda: 2,
        ),
        "themes.participants_by_theme": late(
            qual.themes.participants_by_theme,
            themes=partial(x.made, "themes.fit"),
            units=lambda: x.units.head(60),
            cluster=lambda: "case_id",
        ),
        "themes.spread": late(
            qual.themes.spread,
            themes=partial(x.made, "themes.fit"),
            units=lambda: x.units.head(60),
            by=lambda: "position",
            cluster=lambda: "case_id",
            n_groups=lambda: 3,
            confidence_level=lambda: 0.9,
        ),
        "themes.text_map": call(
            qual.themes.text_map, units=x.units.head(8), embed=embed, seed=0, progress=None
        ),
        "themes.to_bertopic": late(
            qual.themes.to_bertopic,
            themes=partial(x.made, "themes.fit"),
            units=lambda: x.units.head(60),
            embed=lambda: embed,
        ),
        "themes.typical": late(
            qual.themes.typical, themes=partial(x.made, "themes.fit"), units=lambda: x.units, n=lambda: 2
        ),
        "widgets.QuotesWidget": late(
            qual.widgets.QuotesWidget,
            store=store,
            coder=lambda: "lead",
            per_code=lambda: 2,
            per_participant=lambda: 2,
            rating=lambda: "EmpathyOverall",
            names=lambda: ["Ann"],
            seed=lambda: 0,
            without_round=lambda: True,
        ),
        "widgets.AdjudicationWidget": late(
            qual.widgets.AdjudicationWidget,
            store=store,
            coder=lambda: "lead",
            letters=lambda: False,
            without_round=lambda: False,
            embed=lambda: None,
        ),
        "widgets.CodebookWidget": late(
            qual.widgets.CodebookWidget,
            store=store,
            coder=lambda: "lead",
            draft=lambda: x.changed,
            without_round=lambda: False,
            embed=lambda: None,
            chat=lambda: None,
        ),
        "widgets.OverviewWidget": late(
            qual.widgets.OverviewWidget,
            store=store,
            coder=lambda: "lead",
            width=lambda: 0.3,
            without_round=lambda: False,
        ),
        "widgets.ModelCoderWidget": late(
            qual.widgets.ModelCoderWidget,
            store=store,
            coder=lambda: "lead",
            chat=lambda: None,
            model=lambda: "model-a",
            plan=lambda: None,
            with_context=lambda: True,
            n_parallel=lambda: 1,
            lead_codes=lambda: True,
        ),
        "widgets.ThemesWidget": late(
            qual.widgets.ThemesWidget,
            store=store,
            coder=lambda: "lead",
            embed=lambda: None,
            chat=lambda: None,
            without_round=lambda: False,
        ),
        "widgets.CodingWidget": call(
            qual.widgets.CodingWidget,
            store=None,
            units=x.units.head(5),
            codebook=x.codebook,
            coder="ana",
            acts=[],
            save=len,
            rating=None,
            show_rating=False,
            round=None,
            review=[],
            conditions=[],
            embed=None,
            suggest=None,
            screening=None,
            layout="text",
            keys=None,
        ),
        "widgets.CodingWidget.goto": method(
            "goto", partial(x.made, "widgets.CodingWidget"), unit_id=lambda: x.units["unit_id"].iloc[0]
        ),
    }
