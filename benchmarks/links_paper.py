"""Coverage and false positives of the paper's own analyses, in simulated studies.

Usage: python benchmarks/links_paper.py [--studies 200] [--seed 1]

`variance_shares`, `disruption`, `context`, `internal_consistency` and `by_dimension`, at level 95 % and 5 %.
Prints Markdown. The studies are those of the tests, in larger numbers.
"""

from __future__ import annotations

import argparse

import numpy as np

from tests.agreement import test_cronbach_alpha
from tests.links import test_by_dimension, test_context, test_disruption, test_variance_shares


def main() -> None:
    """Print a table per analysis."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    rng = np.random.default_rng(arguments.seed)
    print(f"{arguments.studies:,} studies each.")
    for table in (shares, disrupted, conditions, alphas, contrasts):
        table(arguments.studies, rng)


def shares(studies: int, rng: np.random.Generator) -> None:
    """Print the coverage of each variance share."""
    print("\n| participants | shares | covered % |\n|---|---|---|")
    for participants, true in ((12, (0.4, 0.2, 0.4)), (30, (0.1, 0.1, 0.8)), (109, (0.4, 0.2, 0.4))):
        covered = []
        for _ in range(studies):
            found = test_variance_shares.shares(
                test_variance_shares.drawn(rng, true, participants=participants)
            )
            low, high = (found[name].to_numpy() for name in ("low", "high"))
            covered.append((low <= np.array(true)) & (high >= np.array(true)))
        print(f"| {participants} | {true} | {listed(100 * np.mean(covered, axis=0))} |", flush=True)


def disrupted(studies: int, rng: np.random.Generator) -> None:
    """Print what each contrast of `disruption` finds, with and without an effect of a poor turn."""
    print("\n| ICC | carry-over | drift | contrast | mean difference | d | d excludes 0 % | p < .05 % |")
    print("|---" * 8 + "|")
    for icc, carry, drift in ((0.4, 0, 0), (0.4, 0, -0.1), (0, 0, 0), (0, 0.8, 0), (0.4, 0.8, 0)):
        found = [
            test_disruption.disruption(test_disruption.conversations(rng, icc=icc, carry=carry, drift=drift))
            for _ in range(studies)
        ]
        for name in found[0].index:
            rows = [one.loc[name] for one in found]
            excluded = 100 * np.mean([row["d_low"] > 0 or row["d_high"] < 0 for row in rows])
            means = [np.mean([row[column] for row in rows]) for column in ("mean_difference", "cohens_d")]
            rejected = 100 * np.mean([row["p"] < 0.05 for row in rows])
            about = f"| {icc} | {carry} | {drift} | {name} | {means[0]:.3f} | {means[1]:.3f}"
            print(f"{about} | {excluded:.1f} | {rejected:.1f} |", flush=True)


def conditions(studies: int, rng: np.random.Generator) -> None:
    """Print false positives of `context`, of the mixed model without conversations, and of rows."""
    import statsmodels.formula.api as smf

    from sense7_qual import links

    p, naive, mixed = [], [], []
    for _ in range(studies):
        units = test_context.study(rng, participants=25)
        p.append(test_context.context(units, variables="system").loc[2, "p"])
        model = smf.ols("empathy ~ system", units).fit()
        naive.append(model.pvalues["system[T.B]"])
        dummies = units["system"].to_frame().assign(b=units["system"] == "B", c=units["system"] == "C")
        fitted = links.models.cumulative_mixed(
            units["empathy"], dummies[["b", "c"]] * 1, groups=units["case_id"]
        )
        mixed.append(fitted.p_values["b"])
    shares = [f"{100 * (np.array(each) < 0.05).mean():.1f}" for each in (p, mixed, naive)]
    print("\n| false positives % | `context` | mixed model, participants alone | row-wise regression |")
    print("|---|---|---|---|")
    print(f"| a condition of conversations | {' | '.join(shares)} |", flush=True)


def alphas(studies: int, rng: np.random.Generator) -> None:
    """Print the coverage of Cronbach's alpha."""
    rated, alpha = test_cronbach_alpha.rated, test_cronbach_alpha.alpha
    true = alpha(rated(rng, participants=20_000)).loc[0, "alpha"]
    print("\n| participants | alpha | covered % | by Feldt's interval % |\n|---|---|---|---|")
    for participants in (10, 40):
        rows = [alpha(rated(rng, participants=participants)).iloc[0] for _ in range(studies)]
        ours = 100 * np.mean([row["alpha_low"] <= true <= row["alpha_high"] for row in rows])
        feldt = 100 * np.mean([row["feldt_low"] <= true <= row["feldt_high"] for row in rows])
        print(f"| {participants} | {true:.3f} | {ours:.1f} | {feldt:.1f} |", flush=True)


def contrasts(studies: int, rng: np.random.Generator) -> None:
    """Print false positives and coverage of the convergent less the discriminant links."""
    study, matrix = test_by_dimension.study, test_by_dimension.matrix
    true = matrix(*study(rng, participants=5000, own=0.8, other=0.3), n_boot=1).loc[3, "estimate"]
    print("\n| participants | false positives % | contrast | covered % |\n|---|---|---|---|")
    for participants in (15, 40):
        p = [
            matrix(*study(rng, participants=participants, own=0.5, other=0.5), n_boot=1).loc[3, "p"]
            for _ in range(studies)
        ]
        rows = [
            matrix(*study(rng, participants=participants, own=0.8, other=0.3)).loc[3] for _ in range(studies)
        ]
        covered = 100 * np.mean([row["low"] <= true <= row["high"] for row in rows])
        false = 100 * (np.array(p) < 0.05).mean()
        print(f"| {participants} | {false:.1f} | {true:.3f} | {covered:.1f} |", flush=True)


def listed(values: np.ndarray) -> str:
    """Return percentages with one decimal."""
    return ", ".join(f"{value:.1f}" for value in values)


if __name__ == "__main__":
    main()
