"""The printed card of a model: every number is the frame's, and the words name their codes."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.model_card_coverage import Design, flawed, study
from sense7_qual import _present, report
from sense7_qual.agreement.diagnosis import model_card, model_words
from sense7_qual.errors import TableError


def test_every_number_is_that_of_the_card() -> None:
    rng = np.random.default_rng(1)
    made = study(rng, Design(participants=30))
    answers, behaviour, model = flawed(rng, made, "copies badly")
    card = model_card(**made | {"model": model}, cluster="case_id", by=["group"], answers=answers, n_boot=20)
    words = model_words(card, behaviour=behaviour)
    table = report.tables.model_card(card, words=words, models={"model-a": "a script"})
    assert len(table.rows) == len(card)
    for printed, row in zip(table.rows, card.itertuples(), strict=True):
        assert printed[2:4] == (str(row.n_units), str(row.n_clusters))
        assert printed[4] == _present.coefficient(row.value, 2)
        assert printed[5] == _present.interval(row.low, row.high, 2)
        assert printed[6] == _present.p_value(row.p_holm)
    notes = " ".join(table.notes)
    assert "model-a: a script." in notes
    assert "(quotes)" in notes
    assert "the words that the model quotes are not in the text" in " ".join(row[1] for row in table.rows)
    with pytest.raises(TableError, match="one row per code, measure and group"):
        report.tables.model_card(card.iloc[[0, 0]])
