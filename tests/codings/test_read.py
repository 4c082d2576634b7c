"""Files of codings: what a file does not say is asked for, and nothing that changes a number is guessed."""

from __future__ import annotations

import warnings
from pathlib import Path
from tempfile import TemporaryDirectory

import pandas as pd
import pytest
from hypothesis import assume, given, settings, strategies as st

from sense7_qual import agreement, codings
from sense7_qual.errors import QualError, TableError
from sense7_qual.frames import DECISIONS
from tests.helpers import coding_exports as made

CODES = st.frozensets(st.sampled_from(list(made.LABELS)))


@st.composite
def coded(draw: st.DrawFn) -> made.Coded:
    """Draw what two or three coders found in the texts that each of them finished."""
    who = draw(st.sampled_from([["ana", "ben"], ["ana", "ben", "cy"]]))
    units = [str(n) for n in range(1, draw(st.integers(2, 6)) + 1)]
    found = {(unit, coder): draw(CODES) for unit in units for coder in who if draw(st.integers(0, 3))}
    assume(set(who) == {coder for (_, coder), codes in found.items() if codes})
    try:  # decisions that nobody could disagree on are refused wherever they come from
        DECISIONS.check(made.decisions(found))
    except TableError:
        assume(False)
    return found


def check(form: object, found: made.Coded) -> None:
    with TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        export = form(found, Path(folder))  # type: ignore[operator]
        said = {**export.answers, **export.fitting}
        read = codings.read(export.source, made.BOOK, **said)
        expected = DECISIONS.check(made.decisions(found))
        key = ["unit_id", "coder", "code"]
        pd.testing.assert_frame_equal(
            read.sort_values(key, ignore_index=True), expected.sort_values(key, ignore_index=True)
        )
        pd.testing.assert_frame_equal(
            agreement.by_code(read, n_boot=20, seed=7),
            agreement.by_code(expected, n_boot=20, seed=7),
            check_exact=True,
        )
        for answer in export.answers:
            with pytest.raises(QualError, match=r".* – .* – "):
                codings.read(export.source, made.BOOK, **{key: said[key] for key in said if key != answer})


@pytest.mark.parametrize("form", made.FORMS, ids=lambda form: form.__name__)
@given(found=coded())
@settings(max_examples=4, deadline=None)
def test_every_form_gives_the_decisions_it_was_made_of_or_asks(form: object, found: made.Coded) -> None:
    check(form, found)


@pytest.mark.nightly
@pytest.mark.parametrize("form", made.FORMS, ids=lambda form: form.__name__)
@given(found=coded())
@settings(max_examples=150, deadline=None)
def test_every_form_gives_the_decisions_it_was_made_of_or_asks_many(form: object, found: made.Coded) -> None:
    check(form, found)
