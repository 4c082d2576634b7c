"""The wrong calls with frames of decisions and units, with files and with ratings."""

from __future__ import annotations

from typing import Final

import pandas as pd

from sense7_qual import codings
from tests.helpers.wrong_calls import (
    ABSENT,
    CODEBOOK,
    CODES,
    DECISIONS,
    GOLD,
    IDS,
    NO_CODE,
    RIGHT,
    RIGHT_KAPPA,
    RIGHT_LINK,
    RIGHT_WIDTH,
    SAID,
    TABLE,
    TRAINEE,
    UNITS,
    Call,
    N,
    alpha,
    called,
    kappa,
    link,
    n_texts,
    of,
    width,
    without,
)

LOWER = UNITS.assign(case_id=UNITS["case_id"].where(UNITS.index < N // 2, UNITS["case_id"].str.lower()))
THREE = ["m10", "m20", "m30"]


def table(sheet: pd.DataFrame, **how: object) -> pd.DataFrame:
    """Return the decisions of a table with a row for each text and coder."""
    given = {"unit_id": "unit_id", "coder": "coder", "codes": list(CODES)} | how
    return codings.from_table(sheet, **given)  # type: ignore[arg-type]


def segments(**how: object) -> pd.DataFrame:
    """Return the decisions of a table with a row for each applied code."""
    rows = DECISIONS[DECISIONS["applied"]]
    return codings.from_segments(rows, CODEBOOK, unit_id="unit_id", code="code", coder="coder", **how)  # type: ignore[arg-type]


FRAMES: Final = (
    Call("one coder's applied codes alone", lambda: alpha(without(of("ben") & ABSENT)), RIGHT),
    Call("everybody's applied codes alone", lambda: alpha(without(ABSENT)), RIGHT),
    Call(
        "one coder's applied rows alone, of one code",
        lambda: alpha(without(of("ben", "warm") & ABSENT)),
        RIGHT,
    ),
    Call(
        "everybody's applied rows alone, of one code",
        lambda: alpha(without((DECISIONS["code"] == "warm") & ABSENT)),
        RIGHT,
    ),
    Call(
        "applied codes, and three whole texts",
        lambda: alpha(without(of("ben") & ABSENT & ~DECISIONS["unit_id"].isin(THREE))),
        RIGHT,
    ),
    Call(
        "one code alone: applied, and three absent texts",
        lambda: alpha(
            without(
                (of("ben", "warm") & ABSENT & ~DECISIONS["unit_id"].isin(IDS[:9]))
                | (DECISIONS["code"] != "warm")
            )
        ),
        RIGHT,
    ),
    Call("one coder's texts without a code left out", lambda: alpha(without(of("ben") & NO_CODE)), RIGHT),
    Call("everybody's texts without a code left out", lambda: alpha(without(NO_CODE)), RIGHT),
    Call("a coder called final", lambda: alpha(called("final")), RIGHT),
    Call("a coder called Gold", lambda: alpha(called("Gold")), RIGHT),
    Call("a coder called adjudicated", lambda: alpha(called("adjudicated")), RIGHT),
    Call("a coder called consensus_2", lambda: alpha(called("consensus_2")), RIGHT),
    Call("a coder called ground truth", lambda: alpha(called("ground truth")), RIGHT),
    Call("a coder called gpt-4o", lambda: alpha(called("gpt-4o")), RIGHT),
    Call("a coder called llm", lambda: alpha(called("llm")), RIGHT),
    Call("a coder called model_x", lambda: alpha(called("model_x")), RIGHT),
    Call("a coder called Claude 3", lambda: alpha(called("Claude 3")), RIGHT),
    Call("a coder called Consensus", lambda: alpha(called("Consensus")), RIGHT),
    Call("a coder called model-x", lambda: alpha(called("model-x")), RIGHT),
    Call("a model under a person's name", lambda: alpha(called("dora")), RIGHT, shows=False),
    Call(
        "a copy of a coder's decisions",
        lambda: alpha(pd.concat([DECISIONS, GOLD.assign(coder="dora")])),
        RIGHT,
    ),
    Call(
        "one coder in two spellings",
        lambda: alpha(DECISIONS.assign(coder=DECISIONS["coder"].where(DECISIONS["unit_id"] < "m30", "Ana"))),
        RIGHT,
    ),
    Call(
        "coders missing, and turned into text",
        lambda: alpha(DECISIONS.assign(coder=DECISIONS["coder"].replace("cleo", "nan"))),
        RIGHT,
    ),
    Call(
        "a coder called ?",
        lambda: alpha(DECISIONS.assign(coder=DECISIONS["coder"].replace("cleo", "?"))),
        RIGHT,
    ),
    Call(
        "codes in two spellings",
        lambda: alpha(
            DECISIONS.assign(
                code=DECISIONS["code"].where(DECISIONS["coder"] != "ben", DECISIONS["code"].str.title())
            )
        ),
        RIGHT,
    ),
    Call(
        "one coder's ids in capitals",
        lambda: alpha(
            DECISIONS.assign(
                unit_id=DECISIONS["unit_id"].where(
                    DECISIONS["coder"] != "ben", DECISIONS["unit_id"].str.upper()
                )
            )
        ),
        RIGHT,
    ),
    Call(
        "white space behind ids", lambda: alpha(DECISIONS.assign(unit_id=DECISIONS["unit_id"] + " ")), RIGHT
    ),
    Call("another row index", lambda: alpha(DECISIONS.set_axis(DECISIONS.index[::-1])), RIGHT),
    Call(
        "0 and 1 for applied",
        lambda: alpha(DECISIONS.assign(applied=DECISIONS["applied"].astype(int))),
        RIGHT,
    ),
    Call(
        "yes and no for applied",
        lambda: alpha(DECISIONS.assign(applied=DECISIONS["applied"].map({True: "yes", False: "no"}))),
        RIGHT,
    ),
    Call(
        "probabilities for applied",
        lambda: alpha(DECISIONS.assign(applied=DECISIONS["applied"] * 0.8)),
        RIGHT,
    ),
    Call(
        "applied missing",
        lambda: alpha(
            DECISIONS.assign(applied=DECISIONS["applied"].astype(object).where(DECISIONS.index % 9 > 0))
        ),
        RIGHT,
    ),
    Call("rows twice", lambda: alpha(pd.concat([DECISIONS, DECISIONS.head(9)])), RIGHT),
    Call(
        "the code in the coder's column",
        lambda: alpha(DECISIONS.rename(columns={"coder": "code", "code": "coder"}), "ana"),
        RIGHT,
        shows=False,
    ),
    Call(
        "the text in the coder's column, with units",
        lambda: alpha(
            DECISIONS.rename(columns={"coder": "unit_id", "unit_id": "coder"}), units=UNITS, cluster="case_id"
        ),
        RIGHT,
    ),
    Call("a sheet as decisions", lambda: alpha(TABLE), RIGHT),
    Call("participants in two spellings", lambda: width(LOWER), RIGHT_WIDTH),
    Call(
        "participants with and without zeros",
        lambda: width(UNITS.assign(case_id=[f"P{i % 20}" if i < 30 else f"P{i % 20:02}" for i in range(N)])),
        RIGHT_WIDTH,
    ),
    Call(
        "participants called NA",
        lambda: width(UNITS.assign(case_id=UNITS["case_id"].where(UNITS.index % 4 > 0, "NA"))),
        RIGHT_WIDTH,
    ),
    Call(
        "participants called −99",
        lambda: width(UNITS.assign(case_id=[-99 if i % 4 == 0 else i % 20 for i in range(N)])),
        RIGHT_WIDTH,
    ),
    Call(
        "participants missing",
        lambda: width(UNITS.assign(case_id=UNITS["case_id"].where(UNITS.index % 4 > 0))),
        RIGHT_WIDTH,
    ),
    Call("the text as the cluster", lambda: width(UNITS, "unit_id"), RIGHT_WIDTH),
    Call("the condition as the cluster", lambda: width(UNITS, "system"), RIGHT_WIDTH),
    Call(
        "units of another study",
        lambda: width(UNITS.assign(unit_id=[f"x{i}" for i in range(N)])),
        RIGHT_WIDTH,
    ),
    Call("a unit with two participants", lambda: width(pd.concat([UNITS, UNITS.head(2)])), RIGHT_WIDTH),
    Call(
        "mastery: the trainee's applied codes alone",
        lambda: kappa(TRAINEE[TRAINEE["applied"]], GOLD),
        RIGHT_KAPPA,
    ),
    Call(
        "mastery: applied rows alone, of one code",
        lambda: kappa(TRAINEE[TRAINEE["applied"] | (TRAINEE["code"] != "warm")], GOLD),
        RIGHT_KAPPA,
    ),
    Call("mastery: gold's applied codes alone", lambda: kappa(TRAINEE, GOLD[GOLD["applied"]]), RIGHT_KAPPA),
    Call("mastery: two trainees", lambda: kappa(DECISIONS[DECISIONS["coder"] != "ana"], GOLD), RIGHT_KAPPA),
    Call(
        "a link: −99 in ratings",
        lambda: link(UNITS.assign(stars=UNITS["stars"].where(UNITS.index % 9 > 0, -99))),
        lambda: link(UNITS.assign(stars=UNITS["stars"].where(UNITS.index % 9 > 0))),
    ),
    Call(
        "a link: 0 in ratings",
        lambda: link(UNITS.assign(stars=UNITS["stars"].where(UNITS.index % 9 > 0, 0))),
        lambda: link(UNITS.assign(stars=UNITS["stars"].where(UNITS.index % 9 > 0))),
    ),
    Call(
        "a link: n/a in ratings",
        lambda: link(UNITS.assign(stars=UNITS["stars"].astype(object).where(UNITS.index % 9 > 0, "n/a"))),
        RIGHT_LINK,
    ),
    Call("a link: ratings as text", lambda: link(UNITS.assign(stars=UNITS["stars"].astype(str))), RIGHT_LINK),
    Call(
        "a link: ratings reversed",
        lambda: link(UNITS.assign(stars=6 - UNITS["stars"])),
        RIGHT_LINK,
        shows=False,
    ),
    Call("a link: participants in two spellings", lambda: link(LOWER), RIGHT_LINK),
    Call(
        "a link: a coder's applied codes alone",
        lambda: link(UNITS, without(of("ben") & ABSENT), sources=["majority"]),
        lambda: link(UNITS, sources=["majority"]),
    ),
    Call("a table: blanks", lambda: alpha(table(TABLE.replace({0: None}))), RIGHT),
    Call("a table: n/a in cells", lambda: alpha(table(TABLE.replace({0: "n/a"}))), RIGHT),
    Call("a table: percentages", lambda: alpha(table(TABLE.replace({1: "80%", 0: "10%"}))), RIGHT),
    Call(
        "a table: e-mail addresses",
        lambda: alpha(table(TABLE.assign(coder=TABLE["coder"] + "@example.org"))),
        RIGHT,
    ),
    Call(
        "a table: coded by a row for texts with a code",
        lambda: alpha(table(TABLE[TABLE[list(CODES)].any(axis=1) | (TABLE["coder"] != "ben")])),
        RIGHT,
    ),
    Call("segments: what was finished is not said", lambda: alpha(segments()), RIGHT),
    Call("segments: texts with a code count as all", lambda: alpha(segments(finished="rows")), RIGHT),
    Call("texts: −99 and −77", lambda: n_texts([*SAID, "-99", "-77"]), lambda: 4.0),
    Call("texts: N/A that comes back", lambda: n_texts([*SAID, "N/A", "n/a", "N/A"]), lambda: 4.0),
    Call("texts: a dot in empty cells", lambda: n_texts([*SAID, ".", "."]), lambda: 4.0),
)
