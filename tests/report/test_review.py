"""A study read as a reviewer reads it: each planted flaw is found, and without one there is no objection."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from sense7_qual import acts, report
from sense7_qual.errors import ArgumentError
from sense7_qual.report._review import ON_MATERIAL
from sense7_qual.report._review_coders import ON_AGREEMENT, ON_CODERS, ON_OVERLAP, _may_be_mistyped
from sense7_qual.report._review_coding import ON_CODING
from sense7_qual.store import Store
from tests.helpers.nightly import nightly_but
from tests.helpers.reviewed_study import BOOK, FLAWS, study
from tests.helpers.simulation import studies

pytestmark = pytest.mark.long


def kinds(store: Store, **named: bool | str) -> list[str]:
    return [one.kind for one in report.review(store, n_boot=20, **named)]  # type: ignore[arg-type]


def test_a_study_without_a_flaw_has_no_objection(tmp_path: Path) -> None:
    rated = {"rating": "Stars", "cluster": "case_id"}
    found = {seed: kinds(study(tmp_path / f"s{seed}", seed=seed), **rated) for seed in studies(2)}
    assert {seed: kind for seed, kind in found.items() if kind} == {}


@pytest.mark.parametrize("flaw", nightly_but(FLAWS, here=[*FLAWS][::5]))
def test_a_planted_flaw_is_found(flaw: str, tmp_path: Path) -> None:
    store = study(tmp_path / "study", seed=11, flaw=flaw)
    rating = None if flaw == "links_without_clusters" else "Stars"
    review = report.review(store, rating=rating, n_boot=20)
    found = {one.kind: one for one in review}
    assert flaw in found
    assert len(found) <= 3, "a flaw may show in two ways, not in everything"
    one = found[flaw]
    assert one.n > 0
    assert all(text.endswith(".") and len(text) > 20 for text in (one.seen, one.why, one.answer))
    texts = [text for text in store.units["text"] if text in review.table.markdown()]
    assert not texts


def test_every_check_has_its_flaw() -> None:
    assert len(FLAWS) == len(set(FLAWS)) >= 20
    checks = [*ON_CODING, *ON_CODERS, *ON_MATERIAL, *ON_AGREEMENT, *ON_OVERLAP]
    assert len(checks) == len(FLAWS) - 1  # that on participants finds two


@pytest.mark.nightly
def test_a_table_that_came_in_the_wrong_way_round_is_seen(tmp_path: Path) -> None:
    """Three texts that are called as people, and forty people that are called as texts."""
    units = pd.DataFrame(
        {
            "unit_id": ["ana", "ben", "cleo"],
            "text": ["One.", "Two.", "Three."],
            "document_id": "d",
            "case_id": ["p1", "p2", "p3"],
            "position": range(3),
        }
    )
    store = Store.create(tmp_path / "study", units=units, codebook=BOOK)
    for coder in (f"r{i}" for i in range(40)):
        store.append([acts.finish(coder=coder, unit_id=one, codebook=BOOK) for one in units["unit_id"]])
    found = {one.kind: one for one in report.review(store, n_boot=20)}
    assert found["swapped_axes"].n == 40
    assert "40 coders decided on 3 texts" in found["swapped_axes"].seen


@pytest.mark.parametrize("shift", [0, 1])
def test_words_that_are_marked_to_the_letter_by_two_are_copied(tmp_path: Path, shift: int) -> None:
    """A letter more or less at the end, as people mark, is no copy."""
    units = study(tmp_path / "first").units.head(24)
    store = Store.create(tmp_path / "study", units=units, codebook=BOOK)
    for coder, further in (("ana", 0), ("ben", shift)):
        for place, unit_id in enumerate(units["unit_id"]):
            named = {"coder": coder, "unit_id": unit_id, "codebook": BOOK}
            words = {"start": 0, "end": 8 + (further if place % 2 else 0)}
            store.append([acts.apply(code=f"c{place % 4}", **words, **named), acts.finish(**named)])
    assert ("copied" in kinds(store)) is (shift == 0)


@pytest.mark.parametrize(
    ("names", "alike"),
    [
        (("Maria", "maria "), True),
        (("martin", "marten"), True),
        (("coder1", "coder2"), False),
        (("ana", "ann"), False),
        (("maria", "marion"), False),
        (("m.lee", "mlee"), True),
    ],
)
def test_which_names_may_be_mistyped(names: tuple[str, str], alike: bool) -> None:
    assert _may_be_mistyped(*names) is alike


def test_links_are_looked_at_as_the_paper_makes_them(tmp_path: Path) -> None:
    store = study(tmp_path / "study", flaw="links_without_clusters")
    assert kinds(store) == ["links_without_clusters"]
    # By chance of how it was made, each participant has one rating: no text can be compared with another.
    assert kinds(store, rating="Warmth", cluster="case_id") == ["rating_of_participants"]
    assert kinds(store, rating="Warmth", cluster="unit_id") == ["links_without_clusters"]
    assert kinds(store, rating="Warmth", cluster="document_id") == []  # one conversation: coarser, not finer
    assert kinds(study(tmp_path / "other"), rating="Warmth", cluster="Message") == []


def test_without_agreement_none_is_asked_for(tmp_path: Path) -> None:
    store = study(tmp_path / "study", flaw="one_coder")
    assert kinds(store) == ["one_coder"]
    assert kinds(store, with_agreement=False) == []


def test_it_is_a_table_and_a_frame_and_a_short_repr(tmp_path: Path) -> None:
    review = report.review(study(tmp_path / "study", flaw="low_agreement"), n_boot=20)
    assert repr(review) == f"Review({len(review)} objections, 48 checks)"
    assert review.frame["kind"].tolist() == [one.kind for one in review]
    assert review.frame["n"].dtype == pd.Int64Dtype()
    assert [row[0] for row in review.table.rows] == review.frame["seen"].tolist()
    clean = report.review(study(tmp_path / "clean"), n_boot=20)
    assert [row[0] for row in clean.table.rows] == ["Nothing was found."]
    assert "Alpha is below .667" in review.table.markdown()
    assert "48 checks" in review.table.notes[0]


def test_what_is_no_study_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match="open study"):
        report.review(pd.DataFrame())  # type: ignore[arg-type]
    empty = study(tmp_path / "study")
    with pytest.raises(ArgumentError, match="n_boot"):
        report.review(empty, n_boot=0)
