from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from sense7_qual import themes
from sense7_qual.codebook import Code, Codebook
from sense7_qual.errors import ArgumentError, TableError
from tests.helpers.small_themes import frame

WORDS = ("slow", "queue", "kind", "warm")
UNITS = frame(["slow queue", "slow", "kind", "kind kind", "queue"])
FOUND = themes.Themes(
    assignments=pd.DataFrame(),
    terms=pd.DataFrame(),
    parameters={},
    summary=pd.DataFrame({"theme": [0, 1], "label": ["waiting", "kindness"]}),
    quotes=pd.DataFrame(
        {
            "theme": [0, 0, 1, 1],
            "rank": [1, 2, 1, 2],
            "unit_id": ["u000", "u001", "u002", "u003"],
            "typicality": 0.9,
        }
    ),
)


def words_of(texts: list[str]) -> np.ndarray:
    return np.array([[0.1, *(text.lower().count(word) for word in WORDS)] for text in texts])


def book(**of_code: dict[str, object]) -> Codebook:
    codes = (Code(id=code, label=code.title(), **given) for code, given in of_code.items())  # type: ignore[arg-type]
    return Codebook(name="some", codes=(Code(id="group", label="slow", codable=False), *codes))


def test_nearest_codes_by_hand() -> None:
    both = book(
        speed={"definition": "It was slow."}, care={"definition": "It was kind.", "examples": ("so warm",)}
    )
    table = themes.nearest_codes(FOUND, UNITS, both, embed=words_of)
    assert table[["theme", "label", "rank", "code"]].to_numpy().tolist() == [
        [0, "waiting", 1, "speed"],
        [0, "waiting", 2, "care"],
        [1, "kindness", 1, "care"],
        [1, "kindness", 2, "speed"],
    ]
    assert table["has_definition"].all()
    assert table["n_examples"].tolist() == [0, 1, 1, 0]

    def unit(*vector: float) -> np.ndarray:
        return np.array(vector) / np.linalg.norm(vector)

    waiting = unit(*(unit(0.1, 1, 1, 0, 0) + unit(0.1, 1, 0, 0, 0)))
    care = unit(*(unit(0.1, 0, 0, 1, 0) + unit(0.1, 0, 0, 0, 1)))
    np.testing.assert_allclose(
        table["similarity"][:2], [waiting @ unit(0.1, 1, 0, 0, 0), waiting @ care], atol=1e-6
    )
    first = themes.nearest_codes(FOUND, UNITS, both, embed=words_of, k=1)
    assert first["code"].tolist() == ["speed", "care"]


def test_labels_alone_are_compared_and_equal_codes_keep_the_order_of_the_codebook() -> None:
    table = themes.nearest_codes(FOUND, UNITS, book(kind={}, b={}, a={}), embed=words_of)
    assert table["code"].tolist() == ["b", "a", "kind", "kind", "b", "a"]
    assert not table["has_definition"].any()


def test_no_codes_or_no_themes_give_no_rows_of_the_same_columns() -> None:
    full = themes.nearest_codes(FOUND, UNITS, book(speed={}), embed=words_of)
    empty = themes.nearest_codes(FOUND, UNITS, book(), embed=words_of)
    assert empty.empty
    assert empty.columns.tolist() == full.columns.tolist()


def test_units_that_the_themes_are_not_of_are_refused() -> None:
    with pytest.raises(TableError, match="found no 'u001', 'u002', 'u003'"):
        themes.nearest_codes(FOUND, UNITS.head(1), book(speed={}), embed=words_of)
    with pytest.raises(ArgumentError, match="k"):
        themes.nearest_codes(FOUND, UNITS, book(speed={}), embed=words_of, k=0)
