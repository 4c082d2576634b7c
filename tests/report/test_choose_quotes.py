"""Quotes: one per participant, spread over the ratings, seeded, and cut from the right place."""

from __future__ import annotations

import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st

from sense7_qual import report
from sense7_qual.codebook import Code, Codebook
from sense7_qual.errors import CodebookError, QualError, TableError
from sense7_qual.frames import CODINGS
from sense7_qual.report import _choose_quotes

CODEBOOK = Codebook(name="two", codes=(Code(id="warm", label="Warm"), Code(id="cold", label="Cold")))


def units_of(rows: list[tuple[str, str, str | None, float | None]]) -> pd.DataFrame:
    frame = pd.DataFrame(rows, columns=["unit_id", "text", "case_id", "stars"])
    return frame.assign(document_id=None, position=range(len(frame)))


def codings_of(rows: list[tuple[str, str, str, int | None, int | None]]) -> pd.DataFrame:
    frame = pd.DataFrame(rows, columns=["unit_id", "coder", "code", "start", "end"])
    return CODINGS.check(frame.reindex(columns=list(CODINGS.columns)))


UNITS = units_of([(f"m{n:02}", f"text {n}", f"p{n // 4}", float(1 + n % 5)) for n in range(40)])
CODED = codings_of([(f"m{n:02}", "ana", "warm", None, None) for n in range(40)])


def test_one_quote_per_participant_and_code() -> None:
    chosen = _choose_quotes.select(CODED, UNITS, codebook=CODEBOOK, per_code=20, rating="stars", seed=7)
    assert len(chosen) == 10
    assert chosen["case_id"].is_unique


@pytest.mark.long
def test_quotes_are_spread_over_the_ratings() -> None:
    for seed in range(30):
        chosen = _choose_quotes.select(CODED, UNITS, codebook=CODEBOOK, per_code=5, rating="stars", seed=seed)
        assert sorted(chosen["rating"]) == [1, 2, 3, 4, 5]


@pytest.mark.long
def test_next_quote_is_farthest_from_those_chosen() -> None:
    ratings = [1.0, 1.1, 1.2, 9.0, 5.0]
    units = units_of([(f"m{n}", f"text {n}", f"p{n}", rating) for n, rating in enumerate(ratings)])
    codings = codings_of([(f"m{n}", "ana", "warm", None, None) for n in range(5)])
    for seed in range(20):
        chosen = _choose_quotes.select(
            codings, units, codebook=CODEBOOK, per_code=2, rating="stars", seed=seed
        )
        low, high = chosen["rating"]
        # Whichever comes first, the second is the rating farthest from it.
        assert (low, high) in {(1.0, 9.0), (1.1, 9.0), (1.2, 9.0)} | {(5.0, 9.0), (1.0, 5.0)}
        assert high - low >= 4


def test_units_without_rating_come_last() -> None:
    units = units_of([("m1", "one", "p1", None), ("m2", "two", "p2", 3.0), ("m3", "three", "p3", None)])
    codings = codings_of([(f"m{n}", "ana", "warm", None, None) for n in (1, 2, 3)])
    for seed in range(10):
        chosen = _choose_quotes.select(
            codings, units, codebook=CODEBOOK, per_code=2, rating="stars", seed=seed
        )
        assert chosen["rating"].iloc[0] == 3.0
        assert pd.isna(chosen["rating"].iloc[1])


@pytest.mark.long
@given(order=st.permutations(range(40)), seed=st.integers(0, 5))
@settings(max_examples=20, deadline=None)
def test_choice_does_not_depend_on_the_order_of_rows(order: list[int], seed: int) -> None:
    first = _choose_quotes.select(CODED, UNITS, codebook=CODEBOOK, rating="stars", seed=seed)
    again = _choose_quotes.select(
        CODED.iloc[order], UNITS.iloc[order[::-1]], codebook=CODEBOOK, rating="stars", seed=seed
    )
    pd.testing.assert_frame_equal(first, again)


@pytest.mark.long
def test_choice_depends_on_the_seed_and_not_on_other_codes() -> None:
    picks = {
        tuple(_choose_quotes.select(CODED, UNITS, codebook=CODEBOOK, seed=seed)["unit_id"])
        for seed in range(10)
    }
    assert len(picks) > 1
    both = pd.concat([CODED, CODED.assign(code="cold")])
    alone = _choose_quotes.select(CODED, UNITS, codebook=CODEBOOK, seed=1)
    beside = _choose_quotes.select(both, UNITS, codebook=CODEBOOK, seed=1)
    assert beside.loc[beside["code"] == "warm", "unit_id"].tolist() == alone["unit_id"].tolist()


def test_spans_count_code_points() -> None:
    text = "👩‍👩‍👧 é 🇩🇪 it saw me"
    start = text.index("it saw")
    codings = codings_of([("m1", "ana", "warm", start, start + 6), ("m1", "ben", "cold", None, None)])
    chosen = _choose_quotes.select(codings, units_of([("m1", text, "p1", 3.0)]), codebook=CODEBOOK, seed=0)
    assert chosen["quote"].tolist() == ["it saw", text]


def test_coders_are_all_who_applied_the_code_to_the_unit() -> None:
    codings = codings_of(
        [("m1", "ben", "warm", 0, 3), ("m1", "ana", "warm", None, None), ("m1", "cyd", "cold", None, None)]
    )
    chosen = _choose_quotes.select(
        codings, units_of([("m1", "one two", "p1", 1.0)]), codebook=CODEBOOK, seed=0
    )
    assert chosen["coders"].tolist() == ["ana, ben", "cyd"]


def test_unit_without_participant_counts_alone() -> None:
    units = units_of([("m1", "one", None, 1.0), ("m2", "two", None, 2.0), ("m3", "three", "m1", 2.0)])
    codings = codings_of([(f"m{n}", "ana", "warm", None, None) for n in (1, 2, 3)])
    assert len(_choose_quotes.select(codings, units, codebook=CODEBOOK, seed=0)) == 3


def test_blank_passages_are_left_out_and_none_is_an_empty_frame() -> None:
    codings = codings_of([("m1", "ana", "warm", 3, 4)])
    chosen = _choose_quotes.select(
        codings, units_of([("m1", "one two", "p1", 1.0)]), codebook=CODEBOOK, seed=0
    )
    assert chosen.empty
    none = _choose_quotes.select(CODINGS.empty(), UNITS, codebook=CODEBOOK, seed=0)
    assert [*none.columns[:7], none.columns[-1]] == [
        "code",
        "unit_id",
        "start",
        "end",
        "case_id",
        "rating",
        "coders",
        "quote",
    ]


@pytest.mark.parametrize(("start", "end"), [(0, 8), (3, 3), (-1, 2), (None, 2), (2, None), (5, 4)])
def test_span_outside_its_text_is_refused_without_the_text(start: int | None, end: int | None) -> None:
    with pytest.raises(TableError, match="spans inside their text – found others on units 'm1'") as refused:
        _choose_quotes.select(
            codings_of([("m1", "ana", "warm", start, end)]),
            units_of([("m1", "secret!", "p1", 1.0)]),
            codebook=CODEBOOK,
            seed=0,
        )
    assert "secret" not in str(refused.value)


def test_what_is_not_there_is_refused() -> None:
    with pytest.raises(CodebookError, match="did you mean 'warm'"):
        _choose_quotes.select(CODED.assign(code="wram"), UNITS, codebook=CODEBOOK, seed=0)
    with pytest.raises(TableError, match=r"found others: 'm10', 'm11', 'm12' \(30 in all\)"):
        _choose_quotes.select(CODED, UNITS.head(10), codebook=CODEBOOK, seed=0)
    with pytest.raises(TableError, match="did you mean 'stars'"):
        _choose_quotes.select(CODED, UNITS, codebook=CODEBOOK, rating="star", seed=0)
    with pytest.raises(TableError, match="numbers in the rating 'text'"):
        _choose_quotes.select(CODED, UNITS, codebook=CODEBOOK, rating="text", seed=0)


@pytest.mark.parametrize("wrong", [{"seed": -1}, {"seed": 1, "per_code": 0}])
def test_numbers_out_of_range_are_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(QualError, match="or more – found"):
        _choose_quotes.select(CODED, UNITS, codebook=CODEBOOK, **wrong)


@given(st.text(max_size=40), st.integers(1, 30))
def test_shortened_is_a_beginning_that_fits(text: str, length: int) -> None:
    short = _choose_quotes.shortened(text, length)
    if len(text) <= length:
        assert short == text
    else:
        kept = short.removesuffix(" […]")
        assert len(kept) <= length
        assert text.startswith(kept)


def test_shortened_cuts_at_words_and_never_inside_a_character() -> None:
    assert _choose_quotes.shortened("one two three", 7) == "one two […]"
    assert _choose_quotes.shortened("one two three", 9) == "one two […]"
    assert _choose_quotes.shortened("漢字漢字漢字", 3) == "漢字漢 […]"
    assert _choose_quotes.shortened("ab👩‍👩‍👧c", 4) == "ab […]"
    assert _choose_quotes.shortened("ab🇩🇪c", 3) == "ab […]"
    assert _choose_quotes.shortened("abe\u0301c", 3) == "ab […]"
    with pytest.raises(QualError, match="max_length of 1 or more"):
        _choose_quotes.shortened("one", 0)


@pytest.mark.long
@settings(max_examples=25)
@given(
    told=st.lists(st.booleans(), min_size=1, max_size=60),
    ratings=st.lists(st.sampled_from([None, 1.0, 2.0, 5.0]), min_size=60, max_size=60),
)
def test_the_same_is_drawn_where_only_what_is_needed_is_looked_through(
    told: list[bool], ratings: list[float | None]
) -> None:
    texts = ["Mail it@example.org now." if tells else "It listened." for tells in told]
    rows = [(f"m{at:02}", text, f"p{at // 2}", ratings[at]) for at, text in enumerate(texts)]
    coded = codings_of([(unit_id, "ana", "warm", None, None) for unit_id, *_ in rows])
    named = {"codebook": CODEBOOK, "rating": "stars", "per_code": 4}
    whole, needed = (
        report.quote_candidates(coded, units_of(rows), screened=screened, **named)
        for screened in ("all", "drawn")
    )
    looked = needed["identifies"].notna()
    assert looked[needed["drawn"]].all()
    pd.testing.assert_frame_equal(whole.drop(columns="identifies"), needed.drop(columns="identifies"))
    assert needed["identifies"][looked].tolist() == whole["identifies"][looked].tolist()
