"""The matrix of codes and dimensions: numbers in their cells, the own dimension framed."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from sense7_qual import figures
from sense7_qual.codebook import Code, Codebook
from sense7_qual.errors import QualError, TableError
from tests.helpers.pictures import boxes, marks, parsed, texts

BOOK = Codebook(name="x", codes=(Code(id="b", label="Bee"), Code(id="a", label="Ay")))
MATRIX = pd.DataFrame(
    {
        "code": ["a"] * 3 + ["b"] * 3,
        "source": "majority",
        "dimension": ["Affective", "Interest", None] * 2,
        "own": [True, False, None, False, True, None],
        "estimate": [0.5, -0.1, 0.6, -0.8, np.nan, np.nan],
        "low": [0.3, -0.3, 0.4, np.nan, np.nan, np.nan],
        "high": [0.7, 0.1, 0.8, np.nan, np.nan, np.nan],
        "confidence_level": 0.9,
        "reason": [None, None, None, "few_clusters", "constant_rating", "rating_not_computable"],
    }
)


@pytest.mark.long
@pytest.mark.parametrize("columns", [1, 2])
def test_numbers_stand_in_their_cells(columns: int) -> None:
    figure = figures.code_dimension_matrix(MATRIX, codebook=BOOK, columns=columns)  # type: ignore[arg-type]
    written = {(e.text or ""): (round(x), round(y)) for x, y, e in marks(figure, "text mark")}
    assert written[".50"][0] < written["−.10"][0] < written[".60"][0]
    assert written["−.80"][0] == written[".50"][0]
    assert written["−.80"][1] < written[".50"][1]  # the codebook has b first
    assert ("[.30, .70]" in written) == (columns == 2)
    # Without spaces, because lines are broken at other ones in one column.
    shown = "".join(parsed(figure).itertext()).replace(" ", "")
    for words in (
        "a no interval: too few clusters have, or lack, the code",
        "b not computable: every rating was the same",
        "c not computable: a rating that the comparison needs could not be computed",
        "Own minus",
    ):
        assert words.replace(" ", "") in shown
    assert {"a", "b", "c", "–"} <= set(texts(figure))


def test_the_own_dimension_is_framed_and_colours_tell_sign_and_size() -> None:
    figure = figures.code_dimension_matrix(MATRIX, codebook=BOOK)
    cells = [e for *_, e in boxes(figure, "rect mark")]
    frames = [e for e in cells if e.get("stroke") == "black"]
    assert len(frames) == 2
    fills = [e.get("fill") for e in cells if e.get("stroke") == "white"]
    assert len(fills) == 3  # neither the missing one nor the contrasts
    red, blue = (lambda c: int(c[4:-1].split(",")[0]), lambda c: int(c[4:-1].split(",")[2]))
    strongest = [fill for fill in fills if fill and red(fill) > blue(fill)]
    assert "rgb(179, 88, 6)" in strongest  # −.80 is the largest, at the end of the orange


def test_the_matrix_in_words() -> None:
    figure = figures.code_dimension_matrix(MATRIX, codebook=BOOK)
    assert figure.description == (
        "Rank-biserial r of each code with each rating, 90% CI (majority). Bee: Affective −.80; Interest "
        "(own) not computable; own minus others not computable. Ay: Affective (own) .50 [.30, .70]; Interest "
        "−.10 [−.30, .10]; own minus others .60 [.40, .80]."
    )


def test_refusals() -> None:
    with pytest.raises(TableError, match="rows of one source – found 'majority', 'ana'"):
        figures.code_dimension_matrix(pd.concat([MATRIX, MATRIX.assign(source="ana")]))
    with pytest.raises(TableError, match="several for 'a', 'b'"):
        figures.code_dimension_matrix(pd.concat([MATRIX] * 2))
    wide = pd.concat([MATRIX.head(1).assign(dimension=f"d{number}") for number in range(8)])
    with pytest.raises(QualError, match="at most 7 dimensions in 1 columns – found 8"):
        figures.code_dimension_matrix(wide, columns=1)
