"""The wrong calls with sheets and arrays of values."""

from __future__ import annotations

from typing import Final

import numpy as np
import pandas as pd

from sense7_qual import agreement
from tests.helpers.wrong_calls import (
    IDS,
    LATIN,
    MARKS,
    OTHER_CASE,
    RIGHT_MARKS,
    RIGHT_STARS,
    RIGHT_WORDS,
    STARS,
    WORDS,
    Call,
    N,
    array,
    column,
    gap,
    mapped,
    some,
    stars,
    words,
)

FLIPPED = MARKS.assign(ben=1 - MARKS["ben"])
SHEETS: Final = (
    Call("NA, as R writes it", lambda: words(some(WORDS, "ben", 5, "NA")), gap(WORDS, "ben", 5)),
    Call("None, turned into text", lambda: words(some(WORDS, "ana", 6, "None")), gap(WORDS, "ana", 6)),
    Call("? where a coder was undecided", lambda: words(some(WORDS, "cleo", 5, "?")), gap(WORDS, "cleo", 5)),
    Call("a dash in each empty cell", lambda: words(some(WORDS, "ben", 4, "–")), gap(WORDS, "ben", 4)),
    Call(
        "n/a as SPSS labels it", lambda: words(some(WORDS, "ben", 7, "Not applicable")), gap(WORDS, "ben", 7)
    ),
    Call("k. A. of a German sheet", lambda: words(some(WORDS, "ana", 4, "k. A.")), gap(WORDS, "ana", 4)),
    Call("#N/A of a formula", lambda: words(some(WORDS, "cleo", 9, "#N/A")), gap(WORDS, "cleo", 9)),
    Call("n/a among numbers", lambda: stars(some(STARS, "ben", 5, "n/a")), gap(STARS, "ben", 5)),
    Call(
        "n/a among numbers as text",
        lambda: words(some(STARS.astype(str), "ben", 5, "n/a")),
        lambda: words(some(STARS, "ben", 5, None)),
    ),
    Call("−99 for missing", lambda: stars(some(STARS, "ben", 8, -99)), gap(STARS, "ben", 8)),
    Call("9 for missing", lambda: stars(some(STARS, "ana", 8, 9)), gap(STARS, "ana", 8)),
    Call("999 for missing", lambda: stars(some(STARS, "cleo", 8, 999)), gap(STARS, "cleo", 8)),
    Call("0 for missing among 1 to 5", lambda: stars(some(STARS, "ben", 5, 0)), gap(STARS, "ben", 5)),
    Call(
        "−1 for missing among 0 and 1",
        lambda: words(some(MARKS, "ben", 6, -1)),
        lambda: words(some(MARKS, "ben", 6, None)),
        shows=False,
    ),
    Call(
        "the letter o for 0, in a sheet of text",
        lambda: words(mapped("ben", {"0": "o"}, MARKS.astype(str))),
        RIGHT_MARKS,
    ),
    Call("the letter o for 0, once", lambda: words(some(MARKS.astype(str), "ben", 99, "o")), RIGHT_MARKS),
    Call("Yes beside yes", lambda: words(mapped("ben", OTHER_CASE)), RIGHT_WORDS),
    Call(
        "Yes beside yes, kept as an error advises",
        lambda: words(mapped("ben", OTHER_CASE), keep=["ben"]),
        RIGHT_WORDS,
    ),
    Call(
        "1.0 beside 1",
        lambda: words(STARS.astype(str).assign(ben=STARS["ben"].astype(float).astype(str))),
        RIGHT_STARS,
    ),
    Call("a decimal comma", lambda: array([["1.5", "2", "2.5"] * 9, ["1,5", "2", "2,5"] * 9]), lambda: 1.0),
    Call("white space behind a value", lambda: words(mapped("ben", {"good": "good "})), RIGHT_WORDS),
    Call(
        "two spaces inside a value",
        lambda: array([["very good", "poor"] * 12, ["very  good", "poor"] * 12]),
        lambda: 1.0,
    ),
    Call(
        "an underscore for a space",
        lambda: array([["very good", "poor"] * 12, ["very_good", "poor"] * 12]),
        lambda: 1.0,
    ),
    Call(
        "a non-breaking space",
        lambda: array([["very good", "poor"] * 12, ["very\u00a0good", "poor"] * 12]),
        lambda: 1.0,
    ),
    Call(
        "a Cyrillic a",
        lambda: words(WORDS.assign(ben=[one.translate(LATIN) for one in WORDS["ben"]])),
        RIGHT_WORDS,
    ),
    Call(
        "an emoji with and without its variation selector",
        lambda: array([["❤", "👍"] * 12, ["❤\ufe0f", "👍"] * 12]),
        lambda: 1.0,
    ),
    Call("44 for 4, once", lambda: stars(some(STARS, "ben", 99, 44)), RIGHT_STARS),
    Call("wram for warm, once", lambda: words(some(WORDS, "ben", 99, "goood")), RIGHT_WORDS),
    Call("half-way values", lambda: stars(some(STARS.astype(float), "ben", 20, 3.5)), RIGHT_STARS),
    Call("one coder in percent", lambda: stars(STARS.assign(ben=STARS["ben"] * 20)), RIGHT_STARS),
    Call(
        "one coder on a scale from 0 to 10",
        lambda: stars(STARS.assign(ben=STARS["ben"] * 2.5 - 2.5)),
        RIGHT_STARS,
    ),
    Call("one coder's scale reversed", lambda: stars(STARS.assign(ben=6 - STARS["ben"])), RIGHT_STARS),
    Call("one coder's 0 and 1 exchanged", lambda: words(FLIPPED), RIGHT_MARKS),
    Call("everybody's scale reversed", lambda: stars(6 - STARS), RIGHT_STARS),
    Call("an array of units × coders", lambda: array(STARS.to_numpy(), "ordinal"), RIGHT_STARS),
    Call(
        "a small array of units × coders",
        lambda: array(STARS.head(5).to_numpy(), "nominal"),
        lambda: array(STARS.head(5).T.to_numpy(), "nominal"),
    ),
    Call("a frame without names", lambda: array(STARS, "ordinal"), RIGHT_STARS),
    Call(
        "columns of units called coders",
        lambda: agreement.coefficients.krippendorff_alpha(
            agreement.from_wide(STARS.T, coders="columns"), level="ordinal"
        ),
        RIGHT_STARS,
    ),
    Call(
        "a long table as a sheet",
        lambda: words(STARS.rename_axis("unit_id").reset_index().melt("unit_id", var_name="coder")),
        RIGHT_STARS,
    ),
    Call("a row of totals", lambda: stars(pd.concat([STARS, STARS.sum().to_frame("Total").T])), RIGHT_STARS),
    Call("a column of means", lambda: stars(STARS.assign(mean=STARS.mean(axis=1).round())), RIGHT_STARS),
    Call(
        "a column that says whether coders agree",
        lambda: words(MARKS.assign(agree=(MARKS.nunique(axis=1) == 1).astype(int))),
        RIGHT_MARKS,
    ),
    Call("a column n", lambda: stars(STARS.assign(n=3)), RIGHT_STARS),
    Call("a column final", lambda: words(column("final")), RIGHT_MARKS),
    Call("a column of gold labels", lambda: words(column("gold_label")), RIGHT_MARKS),
    Call("a column gpt-4o", lambda: words(column("gpt-4o")), RIGHT_MARKS),
    Call("a column of ids", lambda: stars(STARS.assign(response=range(1001, 1001 + N))), RIGHT_STARS),
    Call("a column of row numbers", lambda: stars(STARS.assign(row=range(N))), RIGHT_STARS),
    Call("a column of notes", lambda: words(WORDS.assign(notes=[f"see {i}" for i in IDS])), RIGHT_WORDS),
    Call(
        "a column of texts' lengths", lambda: stars(STARS.assign(words=np.arange(N) % 37 + 12)), RIGHT_STARS
    ),
    Call("two copies of one coder's sheet", lambda: words(WORDS.assign(dora=WORDS["ana"])), RIGHT_WORDS),
    Call(
        "one coder's sheet, twice and alone",
        lambda: words(WORDS[["ana"]].assign(ben=WORDS["ana"])),
        lambda: words(WORDS[["ana", "ben"]]),
    ),
    Call(
        "a second row of names",
        lambda: words(
            pd.concat(
                [
                    pd.DataFrame([["Coder A", "Coder B", "Coder C"]], columns=WORDS.columns, index=["names"]),
                    WORDS,
                ]
            )
        ),
        RIGHT_WORDS,
        shows=False,
    ),
    Call(
        "ones and blanks", lambda: words(MARKS.assign(ben=MARKS["ben"].where(MARKS["ben"] == 1))), RIGHT_MARKS
    ),
    Call(
        "x and blanks",
        lambda: words(MARKS.replace({1: "x", 0: "o"}).assign(ben=MARKS["ben"].map({1: "x"}))),
        RIGHT_MARKS,
    ),
    Call("a category left blank", lambda: words(mapped("ben", {"fair": None})), RIGHT_WORDS),
    Call("TRUE beside True", lambda: array([["TRUE", "FALSE"] * 12, ["True", "False"] * 12]), lambda: 1.0),
    Call(
        "a masked array",
        lambda: array(np.ma.masked_equal(some(STARS, "ben", 8, -99).T.to_numpy(float), -99), "ordinal"),
        gap(STARS, "ben", 8),
    ),
    Call("a text that comes twice", lambda: stars(pd.concat([STARS, STARS.head(3)])), RIGHT_STARS),
    Call(
        "texts in two spellings",
        lambda: stars(pd.concat([STARS, STARS.head(5).rename(str.upper)])),
        RIGHT_STARS,
    ),
    Call(
        "Series of other texts",
        lambda: array([STARS["ana"], STARS["ben"].iloc[::-1]], "ordinal"),
        RIGHT_STARS,
    ),
    Call(
        "each coder's column sorted by itself",
        lambda: stars(STARS.apply(lambda one: pd.Series(sorted(one), index=IDS))),
        RIGHT_STARS,
        shows=False,
    ),
    Call(
        "sets with n/a",
        lambda: agreement.sets.set_alpha(
            [
                [{one} for one in WORDS["ana"]],
                [{"n/a"} if i % 5 == 0 else {one} for i, one in enumerate(WORDS["ana"])],
            ],
            distance="masi",
        ),
        lambda: 1.0,
    ),
    Call(
        "sets as text",
        lambda: agreement.sets.set_alpha(
            [["warm;cold", "cold"] * 9, ["cold;warm", "cold"] * 9], distance="masi"
        ),
        lambda: 1.0,
    ),  # type: ignore[list-item]
)
