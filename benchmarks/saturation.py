"""How often the interval of `codings.saturation` holds what further participants would bring.

python benchmarks/saturation.py [--studies 2000]

A study has participants and codes of unequal frequency: evenly spread on the log scale from .5 down to .005
("spread"), one half of them common (.3) and one half rare (.01; "two kinds"), or all rare (.02; "rare").
Where codes come together, a normal copula with a correlation of .3 ties them within a participant. What k
more participants are expected to bring is known: Σ (1 − π)ᵀ (1 − (1 − π)ᵏ). The control is the interval on
the scale of log Q₀ from Chao's variance. The second control is the rule of thumb "stop after three
participants without a new code": how many codes had been seen then, and how many the next ten would bring.
"""

from __future__ import annotations

import argparse
import math
from functools import cache

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri

from sense7_qual.codings._saturation import Incidence, new_codes, total_codes

Floats = npt.NDArray[np.float64]

PARTICIPANTS = (20, 50, 100, 200)
CODES = (5, 15, 40)
MORE = (1, 5, 10, 20)


def frequencies(kind: str, n: int) -> Floats:
    if kind == "spread":
        return np.geomspace(0.5, 0.005, n)
    return np.full(n, 0.02) if kind == "rare" else np.where(np.arange(n) % 2 == 0, 0.3, 0.01)


def study(pi: Floats, participants: int, together: float, rng: np.random.Generator) -> npt.NDArray[np.bool_]:
    """Draw which participant has which code (participants, codes)."""
    shared = rng.standard_normal((participants, 1))
    own = rng.standard_normal((participants, len(pi)))
    return np.asarray(np.sqrt(together) * shared + np.sqrt(1 - together) * own < ndtri(pi))


def incidence(has: npt.NDArray[np.bool_]) -> Incidence:
    times = has.sum(axis=0)
    return Incidence(len(has), int((times > 0).sum()), int((times == 1).sum()), int((times == 2).sum()))


@cache
def ours(found: Incidence, k: int) -> tuple[float, float, float]:
    return new_codes(found, k, confidence_level=0.95)


@cache
def of_chao(found: Incidence, k: int) -> tuple[float, float]:
    """Return the ends of the control: Q₀'s interval from Chao's variance, times what k find of it."""
    unseen, low, high = total_of_chao(found)
    if math.isnan(low):
        return 0.0, 0.0
    reached = 1 - (1 - found.once / (found.once + found.n_clusters * unseen)) ** k
    return (low - found.n_codes) * reached, (high - found.n_codes) * reached


def total_of_chao(found: Incidence) -> tuple[float, float, float]:
    """Return Chao2's number of unseen codes, and both ends of his interval of the total."""
    total, _, low = total_codes(found, confidence_level=0.95)
    unseen = total - found.n_codes  # the ends are unseen / factor and unseen * factor beyond the codes found
    return unseen, low, math.nan if math.isnan(low) else found.n_codes + unseen**2 / (low - found.n_codes)


def totals(kind: str, codes: int, participants: int, together: float, n: int, seed: int) -> str:
    """Return how often the total is `total_at_least` or more, and how often Chao's interval holds it."""
    rng, pi = np.random.default_rng(seed), frequencies(kind, codes)
    runs = [incidence(study(pi, participants, together, rng)) for _ in range(n)]
    ends = [(low, high) for _, low, high in map(total_of_chao, runs) if not math.isnan(low)]
    shares = [np.mean([math.floor(low) <= codes for low, _ in ends])]
    shares.append(np.mean([low <= codes <= high for low, high in ends]))
    cells = " | ".join(f"{100 * share:.1f}" for share in shares)
    name = kind + (", together" if together else "")
    return f"| {name} | {codes} | {participants} | {len(ends)} | {cells} |"


def coverage(kind: str, codes: int, participants: int, together: float, n: int, seed: int) -> str:
    rng, pi = np.random.default_rng(seed), frequencies(kind, codes)
    runs = [incidence(study(pi, participants, together, rng)) for _ in range(n)]
    cells = []
    for k in MORE:
        truth = float(((1 - pi) ** participants * (1 - (1 - pi) ** k)).sum())
        intervals = [ours(run, k) for run in runs]
        held = np.mean([low <= truth <= high for _, low, high in intervals])
        chao = np.mean([low <= truth <= high for low, high in (of_chao(run, k) for run in runs)])
        mean, width = np.mean([value for value, _, _ in intervals]), np.mean([h - b for _, b, h in intervals])
        cells.append(f"{truth:.2f} / {mean:.2f} | {width:.1f} | {100 * held:.1f} | {100 * chao:.0f}")
    name = kind + (", together" if together else "")
    return f"| {name} | {codes} | {participants} | " + " | ".join(cells) + " |"


def rule_of_three(kind: str, codes: int, together: float, n: int, seed: int) -> str:
    rng, pi = np.random.default_rng(seed), frequencies(kind, codes)
    stopped, seen, coming, wrong = [], [], [], []
    for _ in range(n):
        has = study(pi, 400, together, rng)
        at, known = _stop(has)
        stopped.append(at)
        seen.append(known.sum() / codes)
        coming.append((1 - (1 - pi[~known]) ** 10).sum())
        wrong.append((has[at : at + 10] & ~known).any())
    cells = [f"{np.median(stopped):.0f}", f"{100 * np.mean(seen):.0f}", f"{np.mean(coming):.1f}"]
    name = kind + (", together" if together else "")
    return f"| {name} | {codes} | " + " | ".join(cells) + f" | {100 * np.mean(wrong):.0f} |"


def _stop(has: npt.NDArray[np.bool_]) -> tuple[int, npt.NDArray[np.bool_]]:
    """Return after how many participants three in a row brought nothing new, and which codes were known."""
    known, idle = np.zeros(has.shape[1], dtype=bool), 0
    for at, one in enumerate(has, start=1):
        idle = 0 if (one & ~known).any() else idle + 1
        known |= one
        if idle == 3:
            return at, known
    return len(has), known


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=2000)
    n = parser.parse_args().studies
    head = " | ".join(f"{k} more: truth / mean | width | holds % | Chao’s %" for k in MORE)
    print(f"| codes’ frequencies | codes | participants | {head} |\n|" + (3 + 4 * len(MORE)) * "---|")
    designs = [("spread", 0.0), ("two kinds", 0.0), ("rare", 0.0), ("spread", 0.3), ("rare", 0.3)]
    for seed, (kind, together) in enumerate(designs):
        for codes in CODES:
            for participants in PARTICIPANTS:
                print(coverage(kind, codes, participants, together, n, seed), flush=True)
    print(
        "\n| codes’ frequencies | codes | participants | studies with a code found once "
        "| total_at_least holds % | Chao’s interval % |\n|" + 6 * "---|"
    )
    for seed, (kind, together) in enumerate(designs):
        for codes in CODES:
            for participants in PARTICIPANTS:
                print(totals(kind, codes, participants, together, n, seed), flush=True)
    print(
        "\n| codes’ frequencies | codes | stopped after (median) | codes seen by then % "
        "| the next ten bring (mean) | the next ten bring some % |\n|" + 6 * "---|"
    )
    for seed, (kind, together) in enumerate(designs):
        for codes in CODES:
            print(rule_of_three(kind, codes, together, n, seed), flush=True)


if __name__ == "__main__":
    main()
