"""What a study says beforehand: a value that is checked, written and read, and an act that registers it."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import pytest

from sense7_qual import acts
from sense7_qual.acts.contents import AnalysisPlan
from sense7_qual.codebook import Codebook
from sense7_qual.errors import ActError

FULL = AnalysisPlan(
    question="Why?",
    hypotheses=("It “helps” \\ 🙂",),
    coders=("ana", "ben"),
    rounds=("one",),
    n_units=3,
    n_participants=2,
    double_coded=0.25,
    n_repeated=1,
    level="span",
    codebook="open",
    blind=False,
    new_codes="add",
    rating_shown="finished",
    suggestions="shown",
    themes=True,
    discussion=True,
    settled_by="discussion",
    coding_until="2026-03-31",
    with_agreement=False,
    min_alpha=-0.5,
    rating="R",
    models=("m-1",),
    prompts=("plain-1@sha256:0",),
    adjust="max-t",
    equivalence=("odds_ratio", 1.5),
    hypothesis="between",
    conditions=("Model",),
    cluster="case_id",
    n_boot=50,
    seed=3,
    answers={"title": "So\nit is", "aims": ""},
)


def test_every_field_is_written_and_read_back() -> None:
    again = AnalysisPlan.from_text(FULL.to_text())
    assert again == FULL
    assert again.fingerprint == FULL.fingerprint
    for one in fields(AnalysisPlan):
        default = replace(FULL, **{one.name: getattr(AnalysisPlan(question="Who?"), one.name)})
        assert default.fingerprint != FULL.fingerprint, one.name


def test_a_plan_that_leaves_later_fields_open_has_the_fingerprint_that_it_had() -> None:
    """Those of before models, and of before the adjustment and the margin were fields."""
    plan = AnalysisPlan(question="Why?")
    assert plan.fingerprint == "c31c87ce73a279cdd08dadeaff3d9d4c7eab1a66cafd6b037335b285257223de"
    with_models = replace(plan, rating="R", models=("m",))
    assert with_models.fingerprint == "96e5fcb5bb4c6d5935dc2be10f3ca0912f2f3e3dfcaf1d28b296f3404e7bf450"


WRONG: list[dict[str, Any]] = [
    {"question": " "},
    {"question": None},
    {"coders": "ana"},
    {"coders": ("ana", "ana")},
    {"coders": ("a b",)},
    {"coders": ("consensus",)},
    {"rounds": (1,)},
    {"n_units": -1},
    {"n_units": 2.0},
    {"n_units": True},
    {"double_coded": 25},
    {"double_coded": float("nan")},
    {"min_alpha": 2},
    {"level": "text"},
    {"codebook": True},
    {"blind": "yes"},
    {"new_codes": "never"},
    {"rating_shown": "never"},
    {"suggestions": "hidden"},
    {"settled_by": "ruling"},
    {"coding_until": "31.3.2026"},
    {"rating": ""},
    {"n_boot": 1},
    {"seed": None},
    {"with_agreement": None},
    {"answers": {"sampel": "x"}},
    {"adjust": "holm"},
    {"equivalence": 0.2},
    {"equivalence": ("rank_biserial",)},
    {"equivalence": ("rank_biserial", 1.2)},
    {"equivalence": ("odds_ratio", 0.5)},
    {"equivalence": ("odds_ratio", float("nan"))},
    {"equivalence": ("mean", True)},
    {"hypothesis": "mixed"},
    {"hypothesis": True},
    {"answers": {"sampling": None}},
    {"answers": ["x"]},
    {"question": "\ud800"},
]


@pytest.mark.parametrize("wrong", WRONG, ids=str)
def test_what_cannot_be_planned_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ActError, match=r"expected .* – found .* – "):
        AnalysisPlan(**({"question": "Why?"} | wrong))


def test_a_name_that_is_almost_right_is_shown() -> None:
    with pytest.raises(ActError, match="did you mean 'sampling'"):
        AnalysisPlan(question="Why?", answers={"sampel": "x"})


@pytest.mark.parametrize("text", [None, "", "{}", "[]", "null", '{"question": "Why?"}', FULL.to_text() + " "])
def test_another_text_is_no_plan(text: str | None) -> None:
    with pytest.raises(ActError, match=r"store\.preregister"):
        AnalysisPlan.from_text(text)


def test_the_repr_and_the_answers_show_and_change_nothing() -> None:
    assert "Why" not in repr(FULL)
    assert repr(FULL) == "AnalysisPlan(28 things settled, 2 answers)"
    with pytest.raises(TypeError):
        FULL.answers["title"] = "Other"  # type: ignore[index]


def test_registrations_come_in_order_of_time() -> None:
    book = Codebook.read("sense7")
    late = acts.preregister(FULL, coder="lead", codebook=book, at="2026-03-02T00:00:00.000Z")
    early = acts.preregister(
        AnalysisPlan(question="Who?"), coder="chair", codebook=book, at="2026-03-01T00:00:00.000Z"
    )
    first, last = acts.preregistrations([late, early])
    assert (first.coder, last.plan, last.codebook) == ("chair", FULL, book.fingerprint)
    with pytest.raises(ActError, match="expected an analysis plan"):
        acts.preregistrations([replace(late, text="{}")])
