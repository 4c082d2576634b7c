"""Coverage of the whole error of a link: participants, coders and prompts that differ.

Usage: python -m benchmarks.whole_error [--studies 400] [--seed 1]

A code on 25 % of the texts, which participants use to different degrees, lowers a rating of five levels by .8
standard deviations of the latent rating (or by nothing); participants have few or many texts and differ in
the error rates of coders and of the model. Coders are drawn from others like them (they find about 85 %, and
add 5 %), and so are prompts (about 80 and 8 %, or 95 and 25 % on poor ratings); both differ by a normal
deviate on the log odds of either rate, with the standard deviation given. The base prompt is asked about all
texts, the others about the same `n` drawn texts; people code a third of the texts, drawn like
`corpus.hand_sample`. Prints Markdown: in how many studies the intervals held the mean link of coders, or of
prompts, like these; and, as controls, that of one prompt alone for either.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache
from typing import Final

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import special

from sense7_qual.links._whole_error import read_arms, whole_rows
from tests.helpers.model_studies import CUTS, POOR

Floats = npt.NDArray[np.float64]

_CODERS: Final = ((0.85, 0.05), (0.85, 0.05))
_PROMPTS: Final = {
    "errs evenly": ((0.80, 0.08), (0.80, 0.08)),
    "reads poor ratings as the code": ((0.95, 0.25), (0.80, 0.08)),
}
_OWN: Final = 0.6  # sd of a participant's own error rates, in logits


@dataclass(frozen=True)
class Design:
    """A study; `coders_differ` and `prompts_differ` are standard deviations on the log odds."""

    participants: int = 60
    texts: int = 8
    shift: float = -0.8
    coders: int = 3
    prompts: int = 4
    n: int = 150
    coders_differ: float = 0.3
    prompts_differ: float = 0.8
    model: str = "errs evenly"


def texts_of(rng: np.random.Generator, design: Design) -> tuple[npt.NDArray[np.intp], Floats, Floats]:
    """Draw participants with their texts: whose each is, its true code, its rating."""
    m = design.texts
    sizes = rng.integers(m // 2, m + (m + 1) // 2 + 1, design.participants)
    case = np.repeat(np.arange(design.participants), sizes)
    often = rng.beta(1.0, 3.0, design.participants)
    applied = rng.random(len(case)) < often[case]
    latent = np.sqrt(0.3) * rng.standard_normal(design.participants)[case]
    latent += np.sqrt(0.7) * rng.standard_normal(len(case)) + design.shift * applied
    return case, applied.astype(float), 1.0 + np.searchsorted(CUTS, latent)


def decided(
    rng: np.random.Generator,
    study: tuple[npt.NDArray[np.intp], Floats, Floats],
    rates: tuple[tuple[float, float], tuple[float, float]],
    away: Floats,
    own: Floats,
) -> npt.NDArray[np.bool_]:
    """Return what a coder or a prompt decides: `away` (2,) are its own, `own` (participants, 2) theirs."""
    case, applied, rating = study
    rate = np.where((rating <= POOR)[:, None], *(np.array(one) for one in rates))
    logits = special.logit(rate) + away + own[case]
    return rng.random(len(case)) < special.expit(np.where(applied == 1, logits[:, 0], logits[:, 1]))


@cache
def shares(shift: float) -> Floats:
    """Return the shares of all texts (with and without the code, levels), of 200,000 participants."""
    rng = np.random.default_rng(99)
    _, applied, rating = texts_of(rng, Design(participants=200_000, shift=shift))
    cells = np.array(
        [[((applied == has) & (rating == level)).mean() for level in range(1, 6)] for has in (1, 0)]
    )
    return np.asarray(cells)


@cache
def truth(shift: float, model: str, differ: float) -> float:
    """Return the mean, on Fisher's z, of the links of coders (no model) or prompts like these."""
    rates = _PROMPTS.get(model, _CODERS)
    rng, (at, weight) = np.random.default_rng(98), np.polynomial.hermite_e.hermegauss(15)
    away = differ * rng.standard_normal((20_000, 2, 1, 1))
    rate = np.stack([np.where(np.arange(1, 6) <= POOR, rates[0][has], rates[1][has]) for has in (0, 1)])
    said = special.expit(special.logit(rate)[None, :, :, None] + away + _OWN * at) @ (weight / weight.sum())
    having = (said * shares(shift)).sum(axis=1)
    lacking = ((1 - said) * shares(shift)).sum(axis=1)
    below = np.cumsum(lacking, axis=1) - lacking / 2
    effect = 2 * (having * below).sum(axis=1) / (having.sum(axis=1) * lacking.sum(axis=1)) - 1
    return float(np.arctanh(effect).mean())


def rows_of(rng: np.random.Generator, design: Design) -> pd.DataFrame:
    """Draw a study and return its rows, and that of one prompt alone, by source."""
    study = texts_of(rng, design)
    case, n = study[0], len(study[0])
    own = _OWN * rng.standard_normal((2, design.participants, 2))
    units = pd.Series([f"u{i:05}" for i in range(n)], dtype="string")
    rated = pd.DataFrame({"unit_id": units, "rating": study[2], "cluster": case})
    by_hand = np.zeros(n, dtype=bool)
    by_hand[rng.integers(3) :: 3] = True
    people = {}
    for coder in range(design.coders):
        away = design.coders_differ * rng.standard_normal(2)
        said = decided(rng, study, _CODERS, away, own[0])
        people[f"c{coder}"] = pd.DataFrame({"unit_id": units, "code": "warm", "applied": said})[by_hand]
    drawn, parts = rng.permutation(n)[: design.n], []
    for prompt in range(design.prompts):
        said = decided(
            rng, study, _PROMPTS[design.model], design.prompts_differ * rng.standard_normal(2), own[1]
        )
        answers = pd.DataFrame({"unit_id": units, "code": "warm", "variant": f"wording {prompt}"})
        answers = answers.assign(verdict=np.where(said, "yes", "no"), wording=str(prompt))
        parts.append(answers.iloc[np.sort(drawn)] if prompt else answers.assign(variant="base"))
    arms = pd.concat(parts).assign(order=0, reason=None, in_the_codebook=False)
    read = read_arms({"model-a": arms}, "equal")
    found = whole_rows(read, people, rated, 0.95)
    alone = replace(read[0], arms=read[0].arms[:1])
    one = whole_rows([alone], people, rated, 0.95).query("source == 'model-a'")
    return pd.concat([found, one.assign(source="one prompt")]).set_index("source")


@dataclass(frozen=True)
class Held:
    """Of `n` studies: the share that held, by source and target, the median width, and the widest ratio."""

    n: int
    share: dict[tuple[str, str], float]
    width: dict[str, float]
    widest: float


def held(designs: Iterable[Design], seed: int) -> Held:
    """Simulate a study of each design: how often intervals hold the links of coders and of prompts."""
    rng, inside, widths = np.random.default_rng(seed), [], []
    for design in designs:
        found = rows_of(rng, design)
        if found["low"].isna().any():
            continue
        true = {
            "people": np.tanh(truth(design.shift, "", design.coders_differ)),
            "prompts": np.tanh(truth(design.shift, design.model, design.prompts_differ)),
        }
        inside.append(
            {
                (source, name): row["low"] <= at <= row["high"]
                for source, row in found.iterrows()
                for name, at in true.items()
            }
        )
        z = np.arctanh(found[["low", "high"]].astype(float))
        widths.append(z["high"] - z["low"])
    width = pd.DataFrame(widths)
    return Held(
        len(inside),
        pd.DataFrame(inside).mean().to_dict(),
        width.median().to_dict(),
        float((width["model-a + human"] / width["human"]).max()),
    )


BASE: Final = Design()
CELLS: Final = (
    BASE,
    replace(BASE, shift=0.0),
    replace(BASE, participants=40, texts=10),
    replace(BASE, participants=120, texts=6, n=200),
    replace(BASE, prompts=3),
    replace(BASE, prompts=6),
    replace(BASE, prompts_differ=0.4),
    replace(BASE, prompts_differ=1.2),
    replace(BASE, model="reads poor ratings as the code"),
    replace(BASE, model="reads poor ratings as the code", shift=0.0),
    replace(BASE, coders=2),
    replace(BASE, coders=4, coders_differ=0.6),
)


def main() -> None:
    """Print a row for each cell."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    print(
        "| participants × texts | link | coders (differ) | prompts (differ) | the model | n"
        " | people, for coders | model, for prompts | model + human, for coders"
        " | one prompt, for prompts | one prompt, for coders | width |"
    )
    print("|---" * 12 + "|")
    widest = 0.0
    for at, design in enumerate(CELLS):
        found = held([design] * given.studies, seed=1_000 * given.seed + at)
        widest = max(widest, found.widest)
        print(row(design, found), flush=True)
    print(f"\nWidest interval of model + human against people's: {widest:.3f}")


def row(design: Design, found: Held) -> str:
    """Return one row of the table; shares in percent."""
    asked = (
        ("human", "people"),
        ("model-a", "prompts"),
        ("model-a + human", "people"),
        ("one prompt", "prompts"),
        ("one prompt", "people"),
    )
    cells = [
        f"{design.participants} × {design.texts}",
        "yes" if design.shift else "none",
        f"{design.coders} ({design.coders_differ:g})",
        f"{design.prompts} ({design.prompts_differ:g})",
        design.model,
        str(found.n),
        *(f"{100 * found.share[key]:.1f}" for key in asked),
        f"{found.width['model-a + human'] / found.width['human']:.2f}",
    ]
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    sys.exit(main())
