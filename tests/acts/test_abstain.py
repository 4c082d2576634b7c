"""What a model could not decide is neither applied nor absent."""

from __future__ import annotations

import dataclasses

import pytest

from sense7_qual import acts, codings
from sense7_qual.codebook import Codebook, Revision, changes
from sense7_qual.errors import ActError
from tests.helpers.revised_codebooks import BASE, plus, without

SENSE7 = Codebook.read("sense7")
OF_MODEL = {"coder": "model-a", "codebook": SENSE7, "round": "model-a"}


def recorded() -> acts.Record:
    return acts.fold(
        [
            acts.contents.describe(settings={"model": "a"}, **OF_MODEL),
            acts.apply(unit_id="m1", code="interest", **OF_MODEL),
            acts.contents.abstain(unit_id="m1", code="relational", reason="quote_not_in_text", **OF_MODEL),
            acts.finish(unit_id="m1", **OF_MODEL),
        ]
    )


def test_an_abstention_has_no_decision_and_every_other_code_has_one() -> None:
    record = recorded()
    decided = codings.decisions(record.codings, record.coverage, SENSE7, abstained=record.abstained)
    assert set(decided["code"]) == set(SENSE7.ids) - {"relational"}
    assert decided.loc[decided["applied"], "code"].tolist() == ["interest"]
    assert record.abstained["reason"].tolist() == ["quote_not_in_text"]


def test_an_abstention_in_another_round_changes_nothing() -> None:
    record = recorded()
    elsewhere = record.abstained.assign(round="another")
    assert len(codings.decisions(record.codings, record.coverage, SENSE7, abstained=elsewhere)) == 7


@pytest.mark.parametrize(
    ("told", "gone", "come", "expected"),
    [
        (
            {"merged": {"warm": "warmth", "kind": "warmth"}},
            ("warm", "kind"),
            ("warmth",),
            {"warm": None, "kind": None, "neither": False, "also kind": True},
        ),
        (
            {"split": {"warm": ["mild", "hot"]}},
            ("warm",),
            ("mild", "hot"),
            {"warm": None, "kind": False, "neither": False, "also kind": None},
        ),
    ],
)
def test_what_was_abstained_from_is_never_absent_in_what_its_code_became(
    told: dict[str, dict[str, object]],
    gone: tuple[str, ...],
    come: tuple[str, ...],
    expected: dict[str, bool | None],
) -> None:
    mine = {"coder": "model-a", "codebook": BASE, "round": "model-a"}
    made = []
    for unit_id in expected:
        if unit_id != "neither":
            code = "kind" if unit_id == "kind" else "warm"
            made.append(acts.contents.abstain(unit_id=unit_id, code=code, reason="unsure", **mine))
        if unit_id == "also kind":
            made.append(acts.apply(unit_id=unit_id, code="kind", **mine))
        made.append(acts.finish(unit_id=unit_id, **mine))
    record, book = acts.fold(made), plus(without(BASE, *gone), *come)
    step = Revision(
        coder="lead",
        at="2999-01-01T00:00:00.000Z",
        why="So.",
        base=BASE.fingerprint,
        codebook=book.fingerprint,
        changes=changes(BASE, book, **told),
    )
    decided = codings.decisions(
        record.codings, record.coverage, book, revisions=[step], abstained=record.abstained
    ).set_index(["unit_id", "code"])["applied"]
    for code in come:
        assert {unit_id: decided.get((unit_id, code)) for unit_id in expected} == expected
    assert decided.loc[:, "cold"].eq(False).sum() == len(expected)


@pytest.mark.parametrize("kind", ["describe", "abstain"])
def test_no_person_makes_them(kind: str) -> None:
    about = (
        {"settings": {}} if kind == "describe" else {"unit_id": "m1", "code": "interest", "reason": "unsure"}
    )
    with pytest.raises(ActError, match="expected a model"):
        getattr(acts.contents, kind)(coder="ana", codebook=SENSE7, **about)


def test_a_reason_is_one_of_the_list() -> None:
    with pytest.raises(ActError, match="expected reason out of"):
        acts.contents.abstain(unit_id="m1", code="interest", reason="tired", **OF_MODEL)
    act = acts.contents.abstain(unit_id="m1", code="interest", reason="unsure", **OF_MODEL)
    with pytest.raises(ActError, match="expected reason out of"):
        dataclasses.replace(act, facets="valence=met")
