"""The texts coded by hand: drawn with the probabilities that are told, over all participants."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from sense7_qual.corpus import hand_sample
from sense7_qual.errors import QualError, TableError


def units(sizes: list[int]) -> pd.DataFrame:
    case = np.repeat([f"p{i:02}" for i in range(len(sizes))], sizes)
    ids = [f"u{i:03}" for i in range(len(case))]
    return pd.DataFrame({"unit_id": ids, "text": "…", "document_id": None, "case_id": case, "position": None})


def model(frame: pd.DataFrame, applied: np.ndarray) -> pd.DataFrame:
    return pd.DataFrame({"unit_id": frame["unit_id"], "coder": "model-a", "code": "warm", "applied": applied})


SIZES = [1, 2, 3, 5, 8, 13, 4, 4]


def test_each_participant_has_their_share_up_to_one_text() -> None:
    frame = units(SIZES)
    for seed in range(60):
        drawn = hand_sample(frame, n=16, seed=seed)
        assert drawn["drawn"].sum() == 16
        n = drawn.merge(frame, on="unit_id").groupby("case_id")["drawn"].sum().to_numpy()
        assert (np.abs(n - 16 * np.array(SIZES) / sum(SIZES)) < 1).all()


@pytest.mark.parametrize("by", ["random", "model"])
def test_texts_are_drawn_as_often_as_their_probability_says(by: str) -> None:
    frame = units(SIZES)
    said = model(frame, np.arange(len(frame)) % 5 == 0)
    draws = [hand_sample(frame, n=10, model=said, by=by, code="warm", seed=seed) for seed in range(1500)]
    often = np.mean([one["drawn"] for one in draws], axis=0)
    chance = draws[0]["probability"].to_numpy()
    assert chance.sum() == pytest.approx(10)
    assert np.abs(often - chance).max() < 4.5 * np.sqrt(0.25 / 1500)
    ratio = chance[0] / chance[1]
    assert ratio == pytest.approx(3 if by == "model" else 1)


def test_neither_order_nor_labels_of_rows_matter_and_the_seed_does() -> None:
    frame = units(SIZES)
    one = hand_sample(frame, n=10, seed=4)
    other = hand_sample(
        frame.sample(frac=1, random_state=1).set_index(np.arange(len(frame)) + 7), n=10, seed=4
    )
    pd.testing.assert_frame_equal(one, other)
    assert not one["drawn"].equals(hand_sample(frame, n=10, seed=5)["drawn"])


def test_participants_who_taught_the_model_are_not_drawn() -> None:
    frame = units(SIZES)
    said = model(frame, np.zeros(len(frame), dtype=bool)).assign(learned=frame["case_id"] == "p05")
    drawn = hand_sample(frame, n=27, model=said)
    assert set(drawn["unit_id"]) == set(frame.loc[frame["case_id"] != "p05", "unit_id"])
    with pytest.raises(QualError, match="n from 1 to 27"):
        hand_sample(frame, n=28, model=said)


def test_a_text_without_a_participant_is_its_own() -> None:
    frame = units([2, 2]).assign(case_id=["p1", "p1", None, None])
    assert hand_sample(frame, n=2)["drawn"].sum() == 2


def test_what_is_refused() -> None:
    frame = units(SIZES)
    said = model(frame, np.arange(len(frame)) % 5 == 0)
    for settings, words in (
        ({"n": 0}, "n from 1 to 40"),
        ({"n": 41}, "n from 1 to 40"),
        ({"n": 5, "seed": -1}, "seed"),
        ({"n": 5, "by": "model"}, "model and code"),
        ({"n": 5, "by": "model", "model": said}, "model and code"),
        ({"n": 5, "by": "model", "model": said, "code": "cold"}, "a code that the model applies"),
        ({"n": 5, "by": "chance"}, "expected by to be"),
        ({"n": 5, "cluster": "writer"}, "expected a column 'writer'"),
        ({"n": 5, "model": said.assign(coder="ana")}, "decisions of one model"),
    ):
        with pytest.raises(QualError, match=words):
            hand_sample(frame, **settings)  # type: ignore[arg-type]
    with pytest.raises(TableError):
        hand_sample(frame.drop(columns="text"), n=5)
