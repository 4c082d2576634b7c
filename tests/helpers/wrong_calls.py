"""A hundred plausible wrong calls, no two alike: what is called, and what the right call gives.

Each is a mistake that people make with a sheet, a file or a frame. `shows` says whether the data show it;
where they do, the call must be refused, or say so, or give the right number anyway.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from sense7_qual import agreement, codings, corpus, links
from sense7_qual.codebook import Code, Codebook

N = 60
CODERS = ("ana", "ben", "cleo")
CODES = ("warm", "cold", "mixed")
IDS = [f"m{i:02}" for i in range(N)]


class Answer(NamedTuple):
    """A number, and the reasons and cautions that stand next to it."""

    value: float
    cautions: tuple[str, ...] = ()


class Call(NamedTuple):
    """A wrong call, the right one, and whether the data show which it is."""

    name: str
    wrong: Callable[[], float | Answer]
    right: Callable[[], float | Answer] | None = None
    shows: bool = True


def _drawn() -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Return decisions, units, a sheet of categories and one of ratings, all of three coders."""
    rng = np.random.default_rng(41)
    rows = []
    for code, share in zip(CODES, (0.35, 0.3, 0.25), strict=True):
        truth = rng.random(N) < share
        for coder in CODERS:
            applied = np.where(rng.random(N) < 0.85, truth, rng.random(N) < share)
            rows.append(pd.DataFrame({"unit_id": IDS, "coder": coder, "code": code, "applied": applied}))
    decisions = pd.concat(rows, ignore_index=True)
    warm = decisions.query("code == 'warm' and coder == 'ana'")["applied"].to_numpy()
    stars = np.clip(np.round(3 + warm + rng.normal(0, 1, N)), 1, 5)
    units = pd.DataFrame(
        {
            "unit_id": IDS,
            "text": "It heard me.",
            "case_id": [f"P{i % 20:02}" for i in range(N)],
            "stars": stars,
            "system": np.where(np.arange(N) % 2 == 0, "a", "b"),
        }
    )
    mood = rng.choice(["good", "fair", "poor"], N)
    rated = rng.integers(1, 6, N)
    words = {c: np.where(rng.random(N) < 0.8, mood, rng.choice(["good", "fair", "poor"], N)) for c in CODERS}
    numbers = {c: np.clip(rated + rng.choice([-1, 0, 0, 0, 1], N), 1, 5) for c in CODERS}
    return decisions, units, pd.DataFrame(words, index=IDS), pd.DataFrame(numbers, index=IDS)


DECISIONS, UNITS, WORDS, STARS = _drawn()
MARKS = (
    DECISIONS.query("code == 'warm'").pivot(index="unit_id", columns="coder", values="applied").astype(int)
)
MARKS = MARKS.rename_axis(index=None, columns=None)
CODEBOOK = Codebook(name="tone", codes=tuple(Code(id=code, label=code.title()) for code in CODES))
TABLE = (
    DECISIONS.pivot(index=["unit_id", "coder"], columns="code", values="applied").astype(int).reset_index()
)


def alpha(decisions: pd.DataFrame, code: str = "warm", **how: Any) -> Answer:
    """Return the alpha of a code, and its reason."""
    row = agreement.by_code(decisions, n_boot=50, seed=1, **how).set_index("code").loc[code]
    return Answer(float(row["alpha"]), () if pd.isna(row["reason"]) else (str(row["reason"]),))


def width(units: pd.DataFrame, cluster: str = "case_id") -> Answer:
    """Return the number of clusters on which an interval rests."""
    row = agreement.by_code(DECISIONS, units=units, cluster=cluster, n_boot=50, seed=1).iloc[0]
    return Answer(float(row["n_clusters"]), () if pd.isna(row["reason"]) else (str(row["reason"]),))


def words(sheet: pd.DataFrame, **how: Any) -> float:
    """Return nominal alpha of a sheet with a column for each coder."""
    wide = agreement.from_wide(sheet, coders="columns", **how)
    return agreement.coefficients.krippendorff_alpha(wide, level="nominal")


def stars(sheet: pd.DataFrame) -> float:
    """Return ordinal alpha of a sheet with a column for each coder."""
    wide = agreement.from_wide(sheet, coders="columns")
    return agreement.coefficients.krippendorff_alpha(wide, level="ordinal")


def array(rows: Any, level: str = "nominal") -> float:
    """Return alpha of rows of coders."""
    return agreement.coefficients.krippendorff_alpha(rows, level=level)  # type: ignore[arg-type]


def kappa(decisions: pd.DataFrame, gold: pd.DataFrame) -> Answer:
    """Return the kappa of a coder in training, and its reason."""
    found = agreement.mastery(decisions, gold=gold)
    return Answer(found.kappa, () if found.reason is None else (found.reason,))


def link(units: pd.DataFrame, decisions: pd.DataFrame = DECISIONS, **how: Any) -> Answer:
    """Return the rank-biserial correlation of a code with a rating, and its cautions."""
    settings = {"rating": "stars", "cluster": "case_id", "sources": ["ana"], "odds_ratios": False} | how
    rows = links.code_to_rating(decisions, units, n_boot=50, details=True, **settings)
    row = rows[rows["code"] == "warm"].iloc[0]
    said = [str(row[name]) for name in ("reason", "caution") if name in row and not pd.isna(row[name])]
    return Answer(float(row["rank_biserial"]), tuple(said))


def n_texts(said: list[str], **how: Any) -> float:
    """Return the number of units that are read of a column of answers."""
    table = pd.DataFrame({"id": [f"r{i}" for i in range(len(said))], "why": said})
    return float(len(corpus.read(table, text="why", unit_id="id", **how)))


def some(sheet: pd.DataFrame, coder: str, every: int, value: object) -> pd.DataFrame:
    """Return a sheet with a value in every so many cells of a coder."""
    spoiled = sheet.astype(object)
    spoiled.iloc[::every, list(sheet.columns).index(coder)] = value
    return spoiled


def gap(sheet: pd.DataFrame, coder: str, every: int) -> Callable[[], float]:
    """Return the right call where these cells are missing."""
    return lambda: (words if sheet is WORDS else stars)(some(sheet, coder, every, None))


def mapped(coder: str, new: dict[object, object], sheet: pd.DataFrame = WORDS) -> pd.DataFrame:
    """Return a sheet with the values of a coder written otherwise."""
    return sheet.assign(**{coder: sheet[coder].astype(object).map(lambda one: new.get(one, one))})


def called(name: str) -> pd.DataFrame:
    """Return decisions with a fourth coder of that name: what most people decided."""
    majority = codings.majority(DECISIONS).assign(coder=name)
    return pd.concat([DECISIONS, majority])


def column(name: str, sheet: pd.DataFrame = MARKS) -> pd.DataFrame:
    """Return a sheet with one more column: what most coders marked."""
    return sheet.assign(**{name: (sheet.mean(axis=1) > 0.5).astype(int)})


def without(which: pd.Series) -> pd.DataFrame:
    """Return the decisions without some rows."""
    return DECISIONS[~which.to_numpy(dtype=bool)]


def of(coder: str, code: str | None = None) -> pd.Series:
    """Mark the rows of a coder, or of a coder and a code."""
    return (DECISIONS["coder"] == coder) & ((DECISIONS["code"] == code) if code else True)


ABSENT = ~DECISIONS["applied"]
NO_CODE = ~DECISIONS.groupby(["unit_id", "coder"])["applied"].transform("any")
RIGHT = partial(alpha, DECISIONS)
RIGHT_MARKS = partial(words, MARKS)
RIGHT_WORDS = partial(words, WORDS)
RIGHT_STARS = partial(stars, STARS)
RIGHT_WIDTH = partial(width, UNITS)
RIGHT_LINK = partial(link, UNITS)
TRAINEE = DECISIONS[DECISIONS["coder"] == "ben"]
GOLD = DECISIONS[DECISIONS["coder"] == "ana"]
RIGHT_KAPPA = partial(kappa, TRAINEE, GOLD)
OTHER_CASE = {"good": "Good", "fair": "Fair", "poor": "Poor"}
SAID = ["It heard me.", "It lectured me.", "It asked how I was.", "No idea, really."]
LATIN = str.maketrans({"a": "а"})  # the Cyrillic letter
