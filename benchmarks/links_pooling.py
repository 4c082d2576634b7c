"""False positives, power and coverage of a link over several coders: pooled, majority, and one coder alone.

Usage: python -m benchmarks.links_pooling [--studies 200] [--participants 40] [--uneven] [--degrees]
                                          [--seed 1]

Participants (40) with five texts each, ICC of the ratings .4; a code of prevalence .3, which participants use
to different degrees, with an odds ratio of 1 or 3 on a rating of five levels; three coders who get each text
wrong with probability .15, independently. `--uneven`: one of the three has coded 40 texts only. The estimand
of a coder, and of the pooled rows, is the effect of the code as a coder applies it. Prints Markdown: how
often p was below .05 without and with an effect (studies without a p count as not below), how often the
interval held the estimand, and its median width (on Fisher's z or the log odds).

`--degrees` prints instead how often the p of the odds ratio is below .05 in studies of ten texts each,
by three rules for its degrees of freedom: participants on the rarer side less one (the table's), all
participants less one, and texts less participants less one. The code has no effect on average; `slope`
is the standard deviation of its log odds ratio between participants. Studies with fewer than six
participants on a side, which have no p, are left out.
"""

from __future__ import annotations

import argparse
import itertools
from dataclasses import replace

import numpy as np
import pandas as pd
from scipy import special

from benchmarks.links_designs import CUTS, Design, Study, draw, effect
from sense7_qual import links

DESIGN = Design(prevalence=0.3, icc=0.4, error=0.15, shift=float(np.log(3.0)), units=5)
FEW = 40
EFFECTS = {"rank_biserial": "p", "odds_ratio": "odds_ratio_p"}


def main() -> None:
    """Simulate studies without and with an effect, and print a row for each source, pooling and effect."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=200)
    parser.add_argument("--participants", type=int, default=40)
    parser.add_argument("--uneven", action="store_true")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--degrees", action="store_true")
    given = parser.parse_args()
    if given.degrees:
        degrees(given.studies, given.seed)
        return
    design = replace(DESIGN, participants=given.participants)
    targets = {name: targets_of(replace(design, shift=shift)) for name, shift in shifts(design).items()}
    found = {name: simulated(replace(design, shift=shift), given) for name, shift in shifts(design).items()}
    print(f"{given.participants} participants, {given.studies} studies each, uneven: {given.uneven}.\n")
    print("| decisions | effect | false positives % | power % | covered % | median width |")
    print("|---" * 6 + "|")
    for (source, kind), present in found["present"].items():
        absent = found["absent"][source, kind]
        covered = "–" if source.startswith("majority") else f"{100 * share_held(present, targets, kind):.1f}"
        width = np.nanmedian(present["high"] - present["low"])
        print(
            f"| {source} | {kind} | {100 * (absent['p'] < 0.05).mean():.1f} | "
            f"{100 * (present['p'] < 0.05).mean():.1f} | {covered} | {width:.2f} |",
            flush=True,
        )


def degrees(studies: int, seed: int) -> None:
    """Print the false positives of the odds ratio by three rules for its degrees of freedom."""
    print("| participants | prevalence | ICC | slope | rarer side − 1 | participants − 1 | texts |")
    print("|---" * 7 + "|")
    for participants, *rest in itertools.product((15, 40), (0.15, 0.4), (0.0, 0.4), (0.0, 0.7)):
        rng = np.random.default_rng(seed)
        found = [statistic_of(participants, *rest, rng) for _ in range(studies)]
        t, fewest = np.array([one for one in found if one is not None]).T
        texts = 10 * participants
        rules = (fewest - 1, participants - 1.0, texts - participants - 1.0)
        shares = [(2 * special.stdtr(df, -np.abs(t)) < 0.05).mean() for df in rules]
        about = " | ".join(map(str, (participants, *rest)))
        print(f"| {about} | " + " | ".join(f"{100 * share:.1f}" for share in shares) + " |", flush=True)


def statistic_of(
    participants: int, prevalence: float, icc: float, slope: float, rng: np.random.Generator
) -> tuple[float, int] | None:
    """Return the log odds ratio over its standard error, and the participants on the rarer side."""
    uses = rng.beta(prevalence * 2, (1 - prevalence) * 2, participants)
    case = np.repeat(np.arange(participants), 10)
    applied = rng.random(len(case)) < uses[case]
    sd = np.sqrt(icc / (1 - icc) * np.pi**2 / 3)
    latent = sd * rng.standard_normal(participants)[case] + rng.logistic(size=len(case))
    latent = latent + slope * rng.standard_normal(participants)[case] * applied
    fewest = min(len(np.unique(case[applied])), len(np.unique(case[~applied])))
    if fewest < 6:
        return None
    code = pd.DataFrame({"code": applied * 1.0})
    rating = pd.Series(1.0 + np.searchsorted(CUTS, latent))
    model = links.models.cumulative_mixed(rating, code, groups=pd.Series(case))
    statistic = float(model.coefficients["code"] / model.standard_errors["code"])
    return None if np.isnan(statistic) else (statistic, fewest)


def shifts(design: Design) -> dict[str, float]:
    """Return the log odds ratio without and with an effect."""
    return {"absent": 0.0, "present": design.shift}


def share_held(rows: pd.DataFrame, targets: dict[str, dict[str, float]], kind: str) -> float:
    """Return how often the interval held the estimand, of the studies that have one."""
    there = rows.dropna(subset=["low", "high"])
    return float(
        there["low"].le(targets["present"][kind]).mul(there["high"].ge(targets["present"][kind])).mean()
    )


def simulated(design: Design, given: argparse.Namespace) -> dict[tuple[str, str], pd.DataFrame]:
    """Return p, low and high (Fisher's z, log odds ratio) of each study, by decisions and effect."""
    rng = np.random.default_rng(given.seed)
    rows: dict[tuple[str, str], list[tuple[float, float, float]]] = {}
    for _ in range(given.studies):
        study = draw(design, rng)
        if given.uneven:
            study = without_most(study, rng)
        for source, row in rows_of(study).items():
            for kind, p in EFFECTS.items():
                scale = np.arctanh if kind == "rank_biserial" else np.log
                ends = [float(scale(float(row[f"{kind}_{end}"]))) for end in ("low", "high")]
                rows.setdefault((source, kind), []).append((float(row[p]), *ends))
    return {key: pd.DataFrame(values, columns=["p", "low", "high"]) for key, values in rows.items()}


def without_most(study: Study, rng: np.random.Generator) -> Study:
    """Leave one coder the decisions on a few texts, drawn at random."""
    few = rng.choice(study.units["unit_id"], FEW, replace=False)
    decisions = study.decisions
    kept = (decisions["coder"] != "cleo") | decisions["unit_id"].isin(few)
    return replace(study, decisions=decisions[kept])


def rows_of(study: Study) -> dict[str, pd.Series]:
    """Return the rows of one coder, of the majority, and of both ways of pooling."""
    found = {}
    for pooling in ("rubin", "joint"):
        table = links.code_to_rating(
            study.decisions,
            study.units,
            rating="rating",
            cluster="case_id",
            pooling=pooling,
            n_boot=200,
            sources=["ana", "majority", "pooled"] if pooling == "rubin" else ["pooled"],
            seed=1,
        ).set_index("source")
        for source, row in table.iterrows():
            found[f"pooled ({pooling})" if source == "pooled" else str(source)] = row
    return found


def targets_of(design: Design) -> dict[str, float]:
    """Return the estimands: Fisher's z and the log odds ratio of the code as a coder applies it."""
    rng = np.random.default_rng(99)
    large = draw(replace(design, participants=40_000), rng)
    seen = large.decisions.loc[large.decisions["coder"] == "ana", "applied"].to_numpy()
    some = draw(replace(design, participants=4_000), rng)
    code = some.decisions.loc[some.decisions["coder"] == "ana", ["applied"]].astype(float)
    model = links.models.cumulative_mixed(some.units["rating"], code, groups=some.units["case_id"])
    z = float(np.arctanh(effect(large.units["rating"].to_numpy(), seen)))
    return {"rank_biserial": z, "odds_ratio": float(model.coefficients["applied"])}


if __name__ == "__main__":
    main()
