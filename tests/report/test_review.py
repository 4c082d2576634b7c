"""A study read as a reviewer reads it: each planted flaw is found, and without one there is no objection."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from sense7_qual import report
from sense7_qual.errors import ArgumentError
from sense7_qual.report._review_agreement import ON_AGREEMENT
from sense7_qual.report._review_coding import ON_CODING
from sense7_qual.store import Store
from tests.helpers.reviewed_study import FLAWS, study
from tests.helpers.simulation import studies


def kinds(store: Store, **named: bool) -> list[str]:
    return [one.kind for one in report.review(store, n_boot=20, **named)]


def test_a_study_without_a_flaw_has_no_objection(tmp_path: Path) -> None:
    found = {seed: kinds(study(tmp_path / f"s{seed}", seed=seed)) for seed in studies(2)}
    assert {seed: kind for seed, kind in found.items() if kind} == {}


@pytest.mark.parametrize("flaw", FLAWS)
def test_a_planted_flaw_is_found(flaw: str, tmp_path: Path) -> None:
    store = study(tmp_path / "study", seed=11, flaw=flaw)
    review = report.review(store, n_boot=20)
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
    assert len(ON_CODING) + len(ON_AGREEMENT) == 24  # that on participants finds two


def test_without_agreement_none_is_asked_for(tmp_path: Path) -> None:
    store = study(tmp_path / "study", flaw="one_coder")
    assert kinds(store) == ["one_coder"]
    assert kinds(store, with_agreement=False) == []


def test_it_is_a_table_and_a_frame_and_a_short_repr(tmp_path: Path) -> None:
    review = report.review(study(tmp_path / "study", flaw="low_agreement"), n_boot=20)
    assert repr(review) == f"Review({len(review)} objections, 24 things looked at)"
    assert review.frame["kind"].tolist() == [one.kind for one in review]
    assert review.frame["n"].dtype == pd.Int64Dtype()
    assert [row[0] for row in review.table.rows] == review.frame["seen"].tolist()
    assert "Alpha is below .667" in review.table.markdown()
    assert "24 things" in review.table.notes[0]


def test_what_is_no_study_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match="open study"):
        report.review(pd.DataFrame())  # type: ignore[arg-type]
    empty = study(tmp_path / "study")
    with pytest.raises(ArgumentError, match="n_boot"):
        report.review(empty, n_boot=0)
