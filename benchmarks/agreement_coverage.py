"""How often the intervals of agreement cover the true alpha, in simulated studies.

Usage: python benchmarks/agreement_coverage.py [--studies 600] [--n-boot 1000] [--seed 1] [--only codes]

Each coder sees the truth with probability √alpha and otherwise guesses at the values' shares, which makes the
true alpha exact at every level. Three parts, `--only codes`, `--only default` and `--only uneven`:

- codes: `by_code` for two coders who decide on units of participants who differ in how often a code fits
  their texts (ICC .2) and in how well coders can see it (alpha varies between participants around the true
  one);
- default: `estimate` of Krippendorff's alpha with its default intervals, for 20 to 1,000 units, a binary code
  and a scale of five, without clusters (analytic) and with clusters of four units, of two where there are 20
  (cluster bootstrap): the truth is the same in two of three units of a cluster, and alpha varies between
  clusters;
- uneven: `estimate` with few clusters of very uneven sizes, in which the units depend strongly on each other:
  two of them have the same truth with a chance of .7, and alpha varies between clusters. Ordinal alpha of two
  coders, and Light's kappa of coders who did different shares of the units, or of the clusters. In the
  designs called latent the values are those of a normal scale cut in five, 70 % of whose variance lies
  between clusters; their true alpha is that of 400,000 units.

Coverage is of the studies that have an interval. Prints Markdown; agreement_coverage.md is what it printed.
"""

from __future__ import annotations

import argparse

import numpy as np
import pandas as pd

from sense7_qual import agreement

SCENARIOS = [
    # participants, units of each on average, prevalence, true alpha
    (40, 7, 0.1, 0.6),
    (40, 7, 0.3, 0.6),
    (40, 7, 0.05, 0.6),
    (40, 7, 0.02, 0.6),
    (40, 7, 0.1, 0.8),
    (40, 7, 0.3, 0.3),
    (10, 7, 0.3, 0.6),
    (20, 7, 0.1, 0.6),
    (100, 5, 0.05, 0.8),
]


def main() -> None:
    """Simulate every scenario and print how often the interval covers."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=600)
    parser.add_argument("--n-boot", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", choices=["codes", "default", "uneven"])
    arguments = parser.parse_args()
    for name, part in (("codes", codes), ("default", defaults), ("uneven", uneven)):
        if arguments.only in (None, name):
            part(arguments)


def codes(arguments: argparse.Namespace) -> None:
    """Print how often the intervals of `by_code` cover."""
    rng = np.random.default_rng(arguments.seed)
    print(f"{arguments.studies:,} studies each, {arguments.n_boot:,} resamples, nominal level 95 %. ", end="")
    print("Coverage is of the studies with an interval; percentile: the plain percentile interval there.\n")
    print(
        "| participants | units each | prevalence | alpha | covered % | too high % | too low % | width |",
        end="",
    )
    print(" percentile covered % | no interval % |\n" + "|---" * 10 + "|")
    for scenario in SCENARIOS:
        print(line(scenario, arguments.studies, arguments.n_boot, rng), flush=True)


def defaults(arguments: argparse.Namespace) -> None:
    """Print how often the default intervals of `estimate` cover."""
    rng = np.random.default_rng(arguments.seed)
    studies = arguments.studies
    print(f"\n{studies:,} studies each (clusters: {studies // 2:,}, 500 resamples), nominal level 95 %.\n")
    print(
        "| units | clusters of | values | level | coders | alpha | covered % | too high % | too low % ",
        end="",
    )
    print("| no interval % |\n" + "|---" * 10 + "|")
    for units in (20, 50, 200, 1000):
        for size in (1, 2 if units == 20 else 4):
            for values, level in (("binary", "nominal"), ("five", "ordinal")):
                for coders, alpha in ((2, 0.6), (2, 0.8), (3, 0.6)):
                    case = (units, size, values, level, coders, alpha)
                    found = ends(case, studies if size == 1 else studies // 2, rng)
                    print(default_line(case, found), flush=True)


SHARES = {"binary": [0.7, 0.3], "five": [0.1, 0.2, 0.4, 0.2, 0.1]}


def ends(case: tuple[int, int, str, str, int, float], studies: int, rng: np.random.Generator) -> np.ndarray:
    """Return the ends of the intervals of simulated studies (studies, 2), NaN where there is none."""
    units, size, values, level, coders, alpha = case
    found = np.empty((studies, 2))
    for i in range(studies):
        table, number = ratings(units, size, SHARES[values], coders, alpha, rng)
        settings = {} if size == 1 else {"cluster": number, "n_boot": 500, "seed": int(rng.integers(2**31))}
        one = agreement.coefficients.estimate(table, "krippendorff_alpha", level=level, **settings)
        found[i] = one.low, one.high
    return found


def ratings(
    units: int, size: int, shares: list[float], coders: int, alpha: float, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Return the values of one study (coders, units), and the cluster of each unit."""
    number = np.arange(units) // size
    clusters = number.max() + 1
    clear = np.full(units, alpha)
    truth = rng.choice(len(shares), units, p=shares)
    if size > 1:
        clear = rng.beta(4 * alpha, 4 * (1 - alpha), clusters)[number]
        common = rng.choice(len(shares), clusters, p=shares)[number]
        truth = np.where(rng.random(units) < 2 / 3, common, truth)
    sees = rng.random((coders, units)) < np.sqrt(clear)
    return np.where(sees, truth, rng.choice(len(shares), (coders, units), p=shares)).astype(float), number


def default_line(case: tuple[int, int, str, str, int, float], found: np.ndarray) -> str:
    """Return one line of the table."""
    done = found[~np.isnan(found[:, 0])]
    if not len(done):
        return "| " + " | ".join([*map(str, case), "–", "–", "–", "100.0"]) + " |"
    high, low = (done[:, 0] > case[-1]).mean(), (done[:, 1] < case[-1]).mean()
    shares = [1 - high - low, high, low, 1 - len(done) / len(found)]
    return "| " + " | ".join([*map(str, case), *(f"{100 * share:.1f}" for share in shares)]) + " |"


def sizes(clusters: int, largest: int) -> np.ndarray:
    """Return sizes of clusters from 1 to the largest, each about as many times the one before."""
    return np.maximum(1, np.round(np.geomspace(1, largest, clusters))).astype(int)


ORDINAL, LIGHT = ("krippendorff_alpha", {"level": "ordinal"}), ("light_kappa", {})
UNEVEN = {
    # statistic, size of each cluster, what share of the units or clusters each coder did, whether latent
    "ordinal alpha, 1 to 60 units": (ORDINAL, sizes(14, 60), [1, 1], "units", False),
    "the same, clusters of 15": (ORDINAL, np.full(14, 15), [1, 1], "units", False),
    "ordinal alpha, latent, 1 to 60 units": (ORDINAL, sizes(14, 60), [1, 1], "units", True),
    "the same, clusters of 15, latent": (ORDINAL, np.full(14, 15), [1, 1], "units", True),
    "Light's kappa, 1 to 40 units, shares of units": (
        LIGHT,
        sizes(14, 40),
        [1, 0.7, 0.5, 0.3],
        "units",
        False,
    ),
    "Light's kappa, 1 to 30 units, shares of clusters": (
        LIGHT,
        sizes(20, 30),
        [1, 0.8, 0.7],
        "clusters",
        False,
    ),
    "ordinal alpha, 40 clusters, 1 to 60 units": (ORDINAL, sizes(40, 60), [1, 1], "units", False),
}


def uneven(arguments: argparse.Namespace) -> None:
    """Print how often the intervals of `estimate` cover with few clusters of uneven sizes."""
    rng = np.random.default_rng(arguments.seed)
    print(f"\n{arguments.studies:,} studies each, 500 resamples, nominal level 95 %.\n")
    print("| design | clusters | true | covered % | too high % | too low % | width | no interval % |")
    print("|---" * 8 + "|")
    for name, design in UNEVEN.items():
        true = latent(np.ones(400_000, dtype=int), 2, np.random.default_rng(0)) if design[4] else None
        alpha = 0.6 if true is None else agreement.coefficients.krippendorff_alpha(true, level="ordinal")
        found = uneven_ends(design, arguments.studies, rng)
        done = found[~np.isnan(found[:, 0])]
        high, low = (done[:, 0] > alpha).mean(), (done[:, 1] < alpha).mean()
        shares = " | ".join(f"{100 * share:.1f}" for share in (1 - high - low, high, low))
        width, none = np.median(done[:, 1] - done[:, 0]), 100 * (1 - len(done) / len(found))
        print(
            f"| {name} | {len(design[1])} | {alpha:.2f} | {shares} | {width:.2f} | {none:.1f} |", flush=True
        )


def uneven_ends(design: tuple, studies: int, rng: np.random.Generator) -> np.ndarray:
    """Return the ends of the intervals of simulated studies with uneven clusters (studies, 2)."""
    (statistic, options), size, shares, of, is_latent = design
    number, found = np.repeat(np.arange(len(size)), size), np.empty((studies, 2))
    for i in range(studies):
        make = latent if is_latent else dependent
        table = make(size, len(shares), rng)
        for coder, share in enumerate(shares):
            done = (
                rng.random(len(number)) < share if of == "units" else (rng.random(len(size)) < share)[number]
            )
            table[coder, ~done] = np.nan
        seed = int(rng.integers(2**31))
        one = agreement.coefficients.estimate(
            table, statistic, groups=number, n_boot=500, seed=seed, **options
        )
        found[i] = one.low, one.high
    return found


def dependent(size: np.ndarray, coders: int, rng: np.random.Generator, alpha: float = 0.6) -> np.ndarray:
    """Return values (coders, units) of clusters that share a truth: two units with a chance of .7."""
    number, shares = np.repeat(np.arange(len(size)), size), SHARES["five"]
    clear = rng.beta(4 * alpha, 4 * (1 - alpha), len(size))[number]
    common = rng.choice(5, len(size), p=shares)[number]
    truth = np.where(rng.random(len(number)) < np.sqrt(0.7), common, rng.choice(5, len(number), p=shares))
    sees = rng.random((coders, len(number))) < np.sqrt(clear)
    return np.where(sees, truth, rng.choice(5, (coders, len(number)), p=shares)).astype(float)


def latent(size: np.ndarray, coders: int, rng: np.random.Generator) -> np.ndarray:
    """Return values (coders, units) of a normal scale, 70 % of whose variance lies between clusters."""
    number = np.repeat(np.arange(len(size)), size)
    truth = np.sqrt(0.7) * rng.normal(size=len(size))[number] + np.sqrt(0.3) * rng.normal(size=len(number))
    seen = truth + 0.7 * rng.normal(size=(coders, len(number)))
    return np.digitize(seen / np.sqrt(1.49), [-1.28, -0.52, 0.52, 1.28]).astype(float)


def line(scenario: tuple[int, int, float, float], studies: int, n_boot: int, rng: np.random.Generator) -> str:
    """Return one line of the table."""
    alpha = scenario[3]
    found = []
    for _ in range(studies):
        decisions, cluster = study(*scenario, rng)
        units = cluster.rename_axis("unit_id").rename("case_id").reset_index()
        row = agreement.by_code(
            decisions, units=units, cluster="case_id", n_boot=n_boot, seed=int(rng.integers(2**31))
        ).iloc[0]
        plain = (
            percentile(decisions, cluster, n_boot, rng) if pd.notna(row["alpha_low"]) else (np.nan, np.nan)
        )
        found.append((row["alpha_low"], row["alpha_high"], *plain))
    ends = np.array(found, dtype=np.float64)
    done = ends[~np.isnan(ends[:, 0])]
    high, low = (done[:, 0] > alpha).mean(), (done[:, 1] < alpha).mean()
    plain_covered = ((done[:, 2] <= alpha) & (alpha <= done[:, 3])).mean()
    shares = [1 - high - low, high, low]
    return (
        "| "
        + " | ".join(str(value) for value in scenario)
        + " | "
        + " | ".join(f"{100 * share:.1f}" for share in shares)
        + f" | {(done[:, 1] - done[:, 0]).mean():.2f} | {100 * plain_covered:.1f} | "
        + f"{100 * (1 - len(done) / len(ends)):.1f} |"
    )


def study(
    participants: int, units: int, prevalence: float, alpha: float, rng: np.random.Generator
) -> tuple[pd.DataFrame, pd.Series]:
    """Return the decisions of one simulated study, and the participant of each unit."""
    fits = rng.beta(4 * prevalence, 4 * (1 - prevalence), participants)
    seen = rng.beta(4 * alpha, 4 * (1 - alpha), participants)
    participant = np.repeat(np.arange(participants), rng.poisson(units - 1, participants) + 1)
    n = len(participant)
    truth = rng.random(n) < fits[participant]
    sees = rng.random((2, n)) < np.sqrt(seen[participant])
    applied = np.where(sees, truth, rng.random((2, n)) < prevalence)
    unit_ids = [f"u{i:05d}" for i in range(n)]
    parts = [
        pd.DataFrame({"unit_id": unit_ids, "coder": coder, "code": "c", "applied": given})
        for coder, given in zip(("ana", "ben"), applied, strict=True)
    ]
    return pd.concat(parts, ignore_index=True), pd.Series(participant, index=unit_ids)


def percentile(
    decisions: pd.DataFrame, cluster: pd.Series, n_boot: int, rng: np.random.Generator
) -> tuple[float, float]:
    """Return the plain percentile interval for two coders, for comparison."""
    table = decisions.pivot(index="unit_id", columns="coder", values="applied").to_numpy(dtype=np.float64)
    number = pd.factorize(cluster.loc[sorted(cluster.index)])[0]
    unequal, applied = np.abs(table[:, 0] - table[:, 1]), table.sum(axis=1)
    sums = np.stack([np.bincount(number, v) for v in (unequal, applied, np.full(len(table), 2.0))], axis=1)
    drawn = rng.multinomial(len(sums), np.full(len(sums), 1 / len(sums)), size=n_boot) @ sums
    d, n1, n = drawn[:, 0], drawn[:, 1], drawn[:, 2]
    defined = (n1 > 0) & (n1 < n)
    alphas = 1 - ((n - 1) * d)[defined] / (n1 * (n - n1))[defined]
    low, high = np.quantile(alphas, [0.025, 0.975])
    return float(low), float(high)


if __name__ == "__main__":
    main()
