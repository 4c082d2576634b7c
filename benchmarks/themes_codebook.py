"""Does `themes.against_codebook` find the themes that a codebook lacks, and do its intervals hold?

python benchmarks/themes_codebook.py [--studies 500]

Nine themes of texts, two of which have no code in the codebook. Each of the seven codes is applied to 60
to 90 % of its theme's texts and to 1 to 8 % of the others; a share of the texts stands in a wrong theme
("strays"). Where there is a broad code, it stands on a random 60 % (or 30 %) of all texts. Participants
prefer some themes, and each gives rise to a code more or less readily than others do. Shares and lifts
that are expected are known, given how many texts each theme has. The control is the rule "at least two
thirds of the texts have some code: covered; fewer than a third: uncovered".
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from sense7_qual import themes
from sense7_qual.codebook import Code, Codebook

Floats = npt.NDArray[np.float64]

N_THEMES, N_CODES = 9, 7
CODES = [f"code{number}" for number in range(N_CODES)] + ["broad"]
BOOK = Codebook(name="eight", codes=tuple(Code(id=code, label=code) for code in CODES))


@dataclass(frozen=True)
class Design:
    n_texts: int
    n_participants: int
    strays: float
    broad: float


DESIGNS = [
    *(Design(n, p, 0.25, 0.6) for n, p in ((200, 60), (300, 100), (300, 30), (1000, 100), (1000, 300))),
    *(Design(n, 100, 0.45, 0.6) for n in (300, 1000)),
    *(Design(n, 100, 0.25, 0.3) for n in (300, 1000)),
    Design(300, 100, 0.25, 0.0),
]


@dataclass(frozen=True)
class Study:
    themes: themes.Themes
    units: pd.DataFrame
    decisions: pd.DataFrame
    share: Floats
    """Expected of theme × code."""
    overall: Floats


def study(design: Design, rng: np.random.Generator) -> Study:
    n = design.n_texts
    who = rng.integers(design.n_participants, size=n)
    prefers = rng.dirichlet(np.full(N_THEMES, 3.0), design.n_participants)
    about = np.array([rng.choice(N_THEMES, p=prefers[person]) for person in who])
    stray = rng.random(n) < design.strays
    placed = np.where(stray, rng.integers(N_THEMES, size=n), about)
    often, seldom = rng.uniform(0.6, 0.9, N_CODES), rng.uniform(0.01, 0.08, N_CODES)
    readily = rng.beta(6, 6, (design.n_participants, N_CODES)) - 0.5  # moves the odds, not the mean
    by_theme = np.tile(seldom, (N_THEMES, 1))
    by_theme[np.arange(N_CODES), np.arange(N_CODES)] = often
    chance = by_theme[about] * (1 + 0.4 * readily[who])
    habit = (
        rng.beta(6 * design.broad, 6 * (1 - design.broad), design.n_participants) if design.broad else None
    )
    broad = np.zeros((n, 1)) if habit is None else habit[who][:, None]
    applied = rng.random((n, N_CODES + 1)) < np.hstack([chance, broad])
    ids = [f"t{row:05}" for row in range(n)]
    decisions = pd.DataFrame(
        {
            "unit_id": np.repeat(ids, N_CODES + 1),
            "coder": "ana",
            "code": CODES * n,
            "applied": applied.ravel(),
        }
    )
    sizes = np.bincount(placed, minlength=N_THEMES)
    found = themes.Themes(
        assignments=pd.DataFrame({"unit_id": ids, "theme": placed}),
        terms=pd.DataFrame(),
        quotes=pd.DataFrame(),
        parameters={},
        summary=pd.DataFrame({"theme": range(N_THEMES), "label": "", "n_units": sizes}),
    )
    mixed = (1 - design.strays) * by_theme + design.strays * by_theme.mean(axis=0)
    share = np.hstack([mixed, np.full((N_THEMES, 1), design.broad)])
    return Study(found, pd.DataFrame({"unit_id": ids, "case_id": who}), decisions, share, sizes @ share / n)


def old_rule(one: Study) -> Floats:
    """Whether each theme is uncovered where any code counts."""
    joined = one.decisions.merge(one.themes.assignments)
    share = joined.groupby(["theme", "unit_id"])["applied"].any().groupby("theme").mean()
    return (share.reindex(range(N_THEMES)) < 1 / 3).to_numpy()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=500)
    n_studies = parser.parse_args().studies
    lacking = np.arange(N_THEMES) >= N_CODES
    columns = ["texts", "participants", "strays", "broad code", "lacking themes found", "of them clear"]
    columns += ["false themes", "of them clear", "no verdict", "old rule: found", "false"]
    columns += ["share’s interval holds %", "lift’s"]
    print("", *columns, "", sep=" | ")
    print("|---" * len(columns) + "|")
    for design in DESIGNS:
        rows, holds = [], []
        for seed in range(n_studies):
            one = study(design, np.random.default_rng(seed))
            clustered = {"units": one.units, "cluster": "case_id"}
            found = themes.against_codebook(one.themes, one.decisions, BOOK, **clustered)
            uncovered = (found["verdict"] == "uncovered").fillna(False).to_numpy(dtype=bool)
            clear = found["clear"].fillna(False).to_numpy(dtype=bool)
            old = old_rule(one)
            rows.append(
                [
                    uncovered[lacking].mean(),
                    (uncovered & clear)[lacking].mean(),
                    uncovered[~lacking].sum(),
                    (uncovered & clear)[~lacking].sum(),
                    found["verdict"].isna().sum(),
                    old[lacking].mean(),
                    old[~lacking].sum(),
                ]
            )
            table = themes.codes_by_theme(one.themes, one.decisions, BOOK, **clustered)
            ends = {end: table[end].to_numpy().reshape(N_THEMES, -1) for end in table.columns[7:]}
            lift = one.share / np.where(one.overall, one.overall, np.nan)
            known = ~np.isnan(ends["share_low"]) & (one.share > 0)
            held = (ends["share_low"] <= one.share) & (one.share <= ends["share_high"])
            known_lift = known & ~np.isnan(ends["lift_low"])
            held_lift = (ends["lift_low"] <= lift) & (lift <= ends["lift_high"])
            holds.append([held[known].mean(), held_lift[known_lift].mean()])
        mean, held = np.mean(rows, axis=0), np.mean(holds, axis=0)
        print(
            f"| {design.n_texts:,} | {design.n_participants} | {design.strays:.0%} | {design.broad:.0%} | "
            + " | ".join(f"{value:.2f}" for value in mean)
            + f" | {held[0]:.1%} | {held[1]:.1%} |".replace("%", ""),
            flush=True,
        )


if __name__ == "__main__":
    main()
