"""`Store.decisions`: which of a coder's decisions counts, what waits for review, and what a plan says."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from sense7_qual import acts, agreement, rounds
from sense7_qual._basis import Basis
from sense7_qual.acts.contents import AnalysisPlan, Suggestion, show_suggestions
from sense7_qual.codebook import Code
from sense7_qual.store import Store
from tests.helpers import basis_study
from tests.helpers.basis_study import BOOK, Clock, Study, unit

ANA_AND_BEN = {"ana": {0, 1, 2, 3, 4}, "ben": {0, 1, 2, 3, 5}}
"""The texts with *warm*, of ten."""


def coded(path: Path, n: int = 10, round: str | None = None) -> Study:
    """Two coders, ten texts."""
    study = Study(path)
    if round is not None:
        study.open(round, range(n), ["ana", "ben"])
    for coder, places in ANA_AND_BEN.items():
        for place in range(n):
            study.store.append(list(study.code(coder, place, round, *(["warm"] if place in places else []))))
    return study


def warm_of(decisions: pd.DataFrame, coder: str) -> set[str]:
    own = decisions[(decisions["coder"] == coder) & (decisions["code"] == "warm") & decisions["applied"]]
    return set(own["unit_id"])


def alpha(decisions: pd.DataFrame) -> float:
    rows = agreement.by_code(decisions, n_boot=2).set_index("code")
    return float(rows.loc["warm", "alpha"])


def left_out(decisions: pd.DataFrame) -> dict[str, int]:
    return dict(Basis.of(decisions).left_out)


def revised(store: Store, meaning: str) -> None:
    codes = tuple(
        replace(code, definition="It is warm, in another sense.") if code.id == "warm" else code
        for code in store.codebook.codes
    )
    store.revise(
        replace(store.codebook, codes=codes), why="Clearer.", coder="lead", meaning={"warm": meaning}
    )


# what waits for review ------------------------------------------------------------------------------


@pytest.mark.parametrize(("meaning", "how", "n"), [("narrow", "narrowed", 10), ("widen", "widened", 10)])
def test_a_code_that_waits_by_its_value_has_no_decision_until_all_is_reviewed(
    tmp_path: Path, meaning: str, how: str, n: int
) -> None:
    study = coded(tmp_path / "s")
    store = study.store
    before = alpha(store.decisions())
    revised(store, meaning)
    assert "warm" not in set(store.decisions()["code"])
    (waiting,) = Basis.of(store.decisions()).waiting
    assert (waiting.code, waiting.n, waiting.of, waiting.how) == ("warm", n, 20, how)
    study.tick = Clock("2027-01-04")
    review(study, meaning, but=1)
    assert "warm" not in set(store.decisions()["code"])
    review(study, meaning)
    assert Basis.of(store.decisions()).waiting == ()
    assert alpha(store.decisions()) == pytest.approx(before)


def review(study: Study, meaning: str, *, but: int = 0) -> None:
    """Affirm what is asked again, except the last one."""
    asked = [
        (coder, place)
        for coder, places in ANA_AND_BEN.items()
        for place in range(10)
        if (place in places) == (meaning == "narrow")
    ]
    for coder, place in asked[: len(asked) - but]:
        codes = ["warm"] if place in ANA_AND_BEN[coder] else []
        study.store.append(list(study.code(coder, place, None, *codes)))


def test_texts_coded_after_a_narrowing_have_figures_of_their_own(tmp_path: Path) -> None:
    study = coded(tmp_path / "s")
    revised(study.store, "narrow")
    study.tick = Clock("2027-01-04")
    for coder, places in (("ana", {12, 13}), ("ben", {12, 13})):
        for place in range(12, 16):
            codes = ["warm"] if place in places else []
            study.store.append(list(study.code(coder, place, None, *codes)))
    found = study.store.decisions()
    assert set(found.loc[found["code"] == "warm", "unit_id"]) == {unit(place) for place in range(12, 16)}
    assert alpha(found) == 1


def test_the_figure_before_a_narrowing_is_had_by_its_codebook(tmp_path: Path) -> None:
    study = coded(tmp_path / "s")
    before, first = study.store.decisions(), study.store.codebook.fingerprint
    revised(study.store, "narrow")
    for named in (first, first[:8]):
        again = study.store.decisions(codebook=named)
        columns = ["unit_id", "coder", "code", "applied"]
        pd.testing.assert_frame_equal(again[columns], before[columns])
        assert Basis.of(again).codebook == first[:8]


def test_coders_who_do_not_review_can_be_left_out(tmp_path: Path) -> None:
    study = coded(tmp_path / "s")
    revised(study.store, "narrow")
    study.tick = Clock("2027-01-04")
    for place in range(5):
        study.store.append(list(study.code("ana", place, None, "warm")))
    found = study.store.decisions(waiting="leave coders out")
    of_warm = found[found["code"] == "warm"]
    assert set(of_warm["coder"]) == {"ana"}
    assert set(found.loc[found["code"] == "cold", "coder"]) == {"ana", "ben"}
    assert left_out(found)["by coders with something to review"] == 1


def test_what_is_asked_again_by_text_counts_where_it_was_reviewed(tmp_path: Path) -> None:
    study = coded(tmp_path / "s")
    dry = Code(id="dry", label="Dry", definition="It is dry.")
    study.store.revise(replace(BOOK, codes=(*BOOK.codes, dry)), why="New.", coder="lead")
    study.tick = Clock("2027-01-04")
    for coder in ("ana", "ben"):
        for place in range(4):
            study.store.append(list(study.code(coder, place, None, "dry")))
    found = study.store.decisions()
    assert len(found[found["code"] == "dry"]) == 8
    (waiting,) = Basis.of(found).waiting
    assert (waiting.n, waiting.of, waiting.how) == (12, 20, "")
    # The other code is as it was: finishing again does not take it out.
    assert len(found[found["code"] == "warm"]) == 20


def test_a_split_code_has_figures_once_it_is_reviewed_or_ruled_on_every_text(tmp_path: Path) -> None:
    study = coded(tmp_path / "s")
    store = study.store
    parts = tuple(Code(id=name, label=name.title(), definition="A part.") for name in ("near", "kind"))
    rest = tuple(code for code in BOOK.codes if code.id != "warm")
    store.revise(
        replace(BOOK, codes=(*rest, *parts)), why="Two.", coder="lead", split={"warm": ["near", "kind"]}
    )
    study.tick = Clock("2027-01-04")
    for place in range(5):
        store.append([ruling(study, place, "near", True), ruling(study, place, "kind", False)])
    assert not {"near", "kind"} & set(store.decisions(settled_by="rulings")["code"])
    store.append([ruling(study, 5, "near", False), ruling(study, 5, "kind", True)])
    settled = store.decisions(settled_by="rulings").set_index(["code", "unit_id"])["applied"]
    assert settled["near"].sum() == 5
    assert settled["kind"].sum() == 1
    assert len(settled["near"]) == 10
    # What the coders themselves hold is still open.
    assert not {"near", "kind"} & set(store.decisions()["code"])


def ruling(study: Study, place: int, code: str, applied: bool) -> acts.Act:
    return acts.rule(
        coder="lead",
        unit_id=unit(place),
        code=code,
        applied=applied,
        codebook=study.store.codebook,
        at=study.tick(),
    )


# what is independent --------------------------------------------------------------------------------


def test_a_change_after_unblinding_changes_what_is_settled_and_not_agreement(tmp_path: Path) -> None:
    study = coded(tmp_path / "s", round="main")
    store = study.store
    study.unblind("main")
    before = alpha(store.decisions())
    store.append([*study.code("ben", 4, "main", "warm")])
    assert alpha(store.decisions()) == before
    assert unit(4) not in warm_of(store.decisions(), "ben")
    assert unit(4) in warm_of(store.decisions(settled_by="nothing"), "ben")
    assert left_out(store.decisions()) == {"finished again after seeing others": 1}


def test_what_is_undone_after_unblinding_stays_in_agreement(tmp_path: Path) -> None:
    study = coded(tmp_path / "s", round="main")
    store = study.store
    study.unblind("main")
    applied = next(
        act for act in store.acts(coder="ben", kind="apply") if act.unit_id == unit(5) and act.code == "warm"
    )
    store.append([acts.undo(applied, codebook=BOOK, at=study.tick())])
    assert unit(5) in warm_of(store.decisions(), "ben")
    assert unit(5) not in warm_of(store.decisions(settled_by="nothing"), "ben")


def test_who_finishes_after_another_could_be_read_has_no_independent_decision(tmp_path: Path) -> None:
    study = Study(tmp_path / "s")
    store = study.store
    study.open("main", range(4), ["ana", "ben"])
    for place in range(4):
        store.append(list(study.code("ana", place, "main", "warm")))
    for place in range(2):
        store.append(list(study.code("ben", place, "main", "warm")))
    study.unblind("main")
    for place in range(2, 4):
        store.append(list(study.code("ben", place, "main", "warm")))
    found = store.decisions()
    assert set(found.loc[found["coder"] == "ben", "unit_id"]) == {unit(0), unit(1)}
    assert left_out(found) == {"decided only after seeing others": 2}
    # Asked for by its name, the round has them, and says so.
    by_name = store.decisions(round="main")
    assert by_name.loc[by_name["coder"] == "ben", "unit_id"].nunique() == 4
    assert dict(Basis.of(by_name).inside) == {"after seeing others": 2}


def test_an_adjudicator_who_also_codes_is_independent_until_they_rule(tmp_path: Path) -> None:
    study = coded(tmp_path / "s")
    store = study.store
    named = study.named("ana", 5, None)
    del named["round"]
    store.append([acts.rule(code="warm", applied=True, **named)])
    store.append(list(study.code("ana", 5, None, "warm")))
    assert unit(5) not in warm_of(store.decisions(), "ana")
    assert unit(5) in warm_of(store.decisions(settled_by="nothing"), "ana")


def test_suggestions_shown_from_the_start_leave_nothing_independent(tmp_path: Path) -> None:
    study = Study(tmp_path / "s")
    store = study.store
    for coder in ("ana", "ben"):
        for place in range(4):
            shown = show_suggestions(
                model="words",
                suggestions=[Suggestion(code="warm")],
                when="shown",
                **study.named(coder, place, None),
            )
            store.append([shown, *study.code(coder, place, None, "warm")])
    assert store.decisions().empty
    assert left_out(store.decisions()) == {"decided only after a suggestion": 8}
    assert "after a suggestion" in str(store.decisions()["basis"].cat.categories[0])
    kept = store.decisions(settled_by="nothing")
    assert dict(Basis.of(kept).inside) == {"after a suggestion": 8}


def test_a_clock_that_is_put_back_makes_no_later_decision_independent(tmp_path: Path) -> None:
    study = coded(tmp_path / "s", round="main")
    store = study.store
    study.unblind("main")
    store.append(list(study.code("ben", 0, "main", "warm")))  # after the unblinding, by a right clock
    study.tick = Clock("2026-01-05")
    store.append(list(study.code("ben", 4, "main", "warm")))
    assert unit(4) not in warm_of(store.decisions(), "ben")


def test_a_second_round_that_copies_is_not_agreement(tmp_path: Path) -> None:
    study = Study(tmp_path / "s")
    store = study.store
    study.open("first", range(8), ["ana", "ben"])
    for place in range(8):
        store.append(list(study.code("ana", place, "first", *(["warm"] if place % 2 else []))))
        store.append(list(study.code("ben", place, "first", *([] if place % 2 else ["warm"]))))
    study.unblind("first")
    study.open("second", range(8), ["ana", "ben"])
    for coder in ("ana", "ben"):
        for place in range(8):
            store.append(list(study.code(coder, place, "second", *(["warm"] if place % 2 else []))))
    assert alpha(store.decisions()) < 0
    assert alpha(store.decisions(round="second")) == 1
    second = Basis.of(store.decisions(round="second"))
    assert dict(second.inside) == {"after seeing others": 16}
    assert "independent" not in second.rule


# what the plan says ---------------------------------------------------------------------------------


def test_rounds_and_coders_of_the_registered_plan_count(tmp_path: Path) -> None:
    study = Study(tmp_path / "s")
    store = study.store
    plan = AnalysisPlan(question="What is warm?", rounds=("main",), coders=("ana", "ben"))
    for name, places in (("pilot", range(4)), ("main", range(8))):
        study.open(name, places, ["ana", "ben", "chi"])
        for coder in ("ana", "ben", "chi"):
            for place in places:
                store.append(list(study.code(coder, place, name, "warm")))
    assert Basis.of(store.decisions()).rounds == ("main", "pilot")
    store.preregister(plan, coder="lead")
    found = store.decisions()
    assert set(found["coder"]) == {"ana", "ben"}
    assert Basis.of(found).rounds == ("main",)
    assert left_out(found) == {"outside the plan's rounds": 12, "by coders outside the plan": 8}
    asked = store.decisions(round="pilot", coder=["ana", "chi"])
    assert set(asked["coder"]) == {"ana", "chi"}
    assert Basis.of(asked).rounds == ("pilot",)


def test_a_plan_whose_rounds_were_never_opened_leaves_nothing_out(tmp_path: Path) -> None:
    study = coded(tmp_path / "s")
    study.store.preregister(AnalysisPlan(question="What?", rounds=("main",)), coder="lead")
    assert len(study.store.decisions()) == 40
    assert left_out(study.store.decisions()) == {}


def test_decisions_of_the_whole_study(tmp_path: Path) -> None:
    store = basis_study.whole(tmp_path / "s")
    found = store.decisions()
    assert alpha(found) == pytest.approx(0.458204, abs=1e-6)
    assert rounds.opened(store.acts())[0].is_training
    settled = store.decisions(settled_by="rulings").set_index("code")
    assert settled.loc["warm", "applied"].sum() == 12
    assert len(settled.loc["warm"]) == 23
    assert unit(13) not in set(settled.loc["warm", "unit_id"])
    assert left_out(store.decisions(settled_by="rulings"))["unsettled"] == 1
