"""Do the intervals of `themes.spread` hold the share that participants at large would give?

python benchmarks/themes_spread.py [--studies 1000]

Each participant prefers some of eight themes (Dirichlet, so that two texts of one participant are more
often of one theme than texts of two), and under a second condition the first theme is twice as likely. The
condition differs between participants or between a participant's own texts. Participants write 1 to 30
texts. The shares under each condition are known, and so are the lifts.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd

from sense7_qual import themes

N_THEMES = 8
#: What all participants together prefer, from common to rare.
PREFERRED = np.array([0.2, 0.2, 0.15, 0.15, 0.1, 0.1, 0.06, 0.04])


@dataclass(frozen=True)
class Design:
    n_texts: int
    n_participants: int
    differs: Literal["between", "within"]
    alike: float = 6.0
    """The sum of the Dirichlet's parameters: the smaller, the more a participant keeps to few themes."""


DESIGNS = [
    Design(n, people, differs)
    for n, people in ((200, 20), (300, 40), (300, 100), (1000, 100), (3000, 300))
    for differs in ("between", "within")
] + [Design(1000, 100, "within", 2.0)]


def shares_under(condition: int) -> np.ndarray:
    weights = PREFERRED * np.where(np.arange(N_THEMES) == 0, 1 + condition, 1)
    return np.asarray(weights / weights.sum())


def study(design: Design, rng: np.random.Generator) -> tuple[themes.Themes, pd.DataFrame]:
    writes = rng.gamma(1.5, 1, design.n_participants)
    who = rng.choice(design.n_participants, design.n_texts, p=writes / writes.sum())
    between = rng.permutation(np.arange(design.n_participants) % 2)
    condition = between[who] if design.differs == "between" else rng.integers(2, size=design.n_texts)
    habits = [rng.dirichlet(design.alike * shares_under(one), design.n_participants) for one in (0, 1)]
    theme = [rng.choice(N_THEMES, p=habits[c][p]) for c, p in zip(condition, who, strict=True)]
    ids = [f"t{row:05}" for row in range(design.n_texts)]
    units = pd.DataFrame({"unit_id": ids, "text": "x", "document_id": "d", "case_id": who.astype(str)})
    summary = pd.DataFrame({"theme": range(N_THEMES), "label": "x"})
    found = themes.Themes(
        assignments=pd.DataFrame({"unit_id": ids, "theme": theme}),
        terms=pd.DataFrame(),
        quotes=pd.DataFrame(),
        parameters={},
        summary=summary,
    )
    return found, units.assign(position=1, condition=condition)


def coverage(design: Design, n_studies: int) -> pd.Series:
    """Return how often the intervals held the share and the lift, and how wide those of the share were."""
    rows = []
    for seed in range(n_studies):
        found, units = study(design, np.random.default_rng(seed))
        table = themes.spread(found, units, by="condition")
        second = (table["value"] == "1").to_numpy()
        part = units["condition"].mean()
        true = np.where(second, shares_under(1)[table["theme"]], shares_under(0)[table["theme"]])
        overall = (1 - part) * shares_under(0)[table["theme"]] + part * shares_under(1)[table["theme"]]
        known = table[["share_low", "lift_low"]].notna().all(axis=1)
        share = (table["share_low"] <= true) & (true <= table["share_high"])
        lift = (table["lift_low"] <= true / overall) & (true / overall <= table["lift_high"])
        rows.append(
            {
                "share": share[known].mean(),
                "lift": lift[known].mean(),
                "width": (table["share_high"] - table["share_low"]).mean(),
                "none": 1 - known.mean(),
            }
        )
    return pd.DataFrame(rows).mean()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=1000)
    n_studies = parser.parse_args().studies
    print("| texts | participants | condition | alike | share's % | lift's % | width | no interval % |")
    print("|---" * 8 + "|")
    for design in DESIGNS:
        held = coverage(design, n_studies)
        rest = [f"{held['share']:.1%}", f"{held['lift']:.1%}", f"{held['width']:.3f}", f"{held['none']:.1%}"]
        row = [f"{design.n_texts:,}", design.n_participants, design.differs, f"{design.alike:g}", *rest]
        print("|", " | ".join(str(each).removesuffix("%") for each in row), "|", flush=True)


if __name__ == "__main__":
    main()
