"""How well `adjudication.profile` tells slips, ambiguous texts and stances apart, in simulated studies.

python benchmarks/disagreement_profile.py [--studies 200] [--part base | other | coders] [--only CODERS]
    [--draws 4000] [--seed 0]

Seven codes of prevalence .05 to .4, each participant with prevalences of their own; ten texts a participant.
Planted: slips, each decision turned round at a rate of its coder (.01 to .03); ambiguous texts, 6 % of units
× codes, more of them with some participants, on which each coder reads one or the other with probability .5,
anew when they decide again; stances: the first coder applies one code to 15 % of the texts without it, the
second leaves another out of 30 % of those with it, both in the same texts when they decide again. Repeats:
every coder decides again on 10 % of the texts. The kind of a disagreement is planted, so that shares of the
disagreements of each study are known. Other studies than these ("other") say what the model rests on.

The control holds whoever differs from the majority to have slipped. Soft labels are measured against the
share of the coders who read the code in the text: half of them where it is ambiguous. The share that applied
it stands in the log loss as (n_applied + .5) / (n_coders + 1), which is finite, and in the Brier score as it
is. Coders' intervals ("coders") are measured against the values of 4,000 participants.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from sense7_qual import adjudication

KINDS: Final = ("slip", "ambiguous_text", "stance")
SLIPS: Final = np.array([0.01, 0.03, 0.02, 0.015, 0.025])
DESIGNS: Final = [(c, t, r) for t in (300, 1000) for r in (0.1, 0.0) for c in (2, 3, 5)]

Floats = npt.NDArray[np.float64]
Truths = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Plan:
    """What is planted."""

    coders: int
    texts: int
    repeats: float
    slips: float = 1.0
    missed: float = 1.0
    ambiguous: float = 0.06
    leaning: float = np.inf
    stance: float = 0.15
    sharing: int = 1
    codes: int = 7


OTHER: Final[Mapping[str, Mapping[str, Any]]] = {
    "a fifth of the slips": {"slips": 0.2},
    "codes missed five times as often as added": {"missed": 5.0},
    "no ambiguous texts": {"ambiguous": 0.0},
    "no stances": {"stance": 0.0},
    "one code": {"codes": 1},
    "ambiguous texts that lean (beta 2, 2)": {"leaning": 2.0},
    "stances of two coders": {"sharing": 2},
    "100 texts, 20 of them again": {"texts": 100, "repeats": 0.2},
}


@dataclass(frozen=True)
class Study:
    """Decisions first and again (coders, texts, codes), how many texts again; what is true (texts, codes):
    the kind of a disagreement, and the share of coders who read the code."""

    first: Truths
    second: Truths
    n_again: int
    kind: npt.NDArray[np.int64]
    read: Floats
    case: npt.NDArray[np.int64]


def study(plan: Plan, rng: np.random.Generator) -> Study:
    shape = (plan.texts, plan.codes)
    prevalence = np.geomspace(0.05, 0.4, 7)[-1:] if plan.codes == 1 else np.geomspace(0.05, 0.4, plan.codes)
    n_cases = plan.texts // 10
    case = rng.integers(0, n_cases, plan.texts)
    present = rng.random(shape) < rng.beta(4 * prevalence, 4 * (1 - prevalence), (n_cases, plan.codes))[case]
    ambiguous = np.zeros(shape, dtype=bool)
    if plan.ambiguous:
        often = rng.beta(2, 2 / plan.ambiguous - 2, (n_cases, 1))
        ambiguous = rng.random(shape) < often[case]
    read, stance = np.repeat(present[None], plan.coders, axis=0), np.zeros(shape, dtype=bool)
    more, less = (2, 5) if plan.codes > 1 else (0, 0)
    for code, there, share, by in ((more, False, plan.stance, 0), (less, True, 2 * plan.stance, 1)):
        other = (rng.random(plan.texts) < share) & (present[:, code] == there) & ~ambiguous[:, code]
        for coder in range(by, by + plan.sharing):
            read[coder, other, code] = not there
        stance[:, code] |= other
    coin = np.full(shape, 0.5)
    if np.isfinite(plan.leaning):
        coin = rng.beta(plan.leaning, plan.leaning, shape)
    added = plan.slips * SLIPS[: plan.coders, None, None]
    rate = np.where(read, plan.missed * added, added)
    once = [
        np.where(ambiguous, rng.random(read.shape) < coin, read ^ (rng.random(read.shape) < rate))
        for _ in range(2)
    ]
    kind = np.where(ambiguous, 1, np.where(stance, 2, 0))
    return Study(
        once[0],
        once[1],
        int(plan.repeats * plan.texts),
        kind,
        np.where(ambiguous, 0.5, read.mean(axis=0)),
        case,
    )


def frames(drawn: Study) -> tuple[pd.DataFrame, pd.DataFrame | None, pd.DataFrame]:
    """Return the decisions, those made again, and the units."""
    coder, text, code = (axis.ravel() for axis in np.indices(drawn.first.shape))
    names = {"unit_id": (text, "u{:04d}"), "coder": (coder, "c{}"), "code": (code, "k{}")}
    ids = {
        name: pd.Series(each).map({value: form.format(value) for value in np.unique(each)})
        for name, (each, form) in names.items()
    }
    frame = pd.DataFrame(ids)
    again = frame.assign(applied=drawn.second.ravel())[text < drawn.n_again] if drawn.n_again else None
    units = pd.DataFrame({"unit_id": [f"u{i:04d}" for i in range(len(drawn.case))]})
    return frame.assign(applied=drawn.first.ravel()), again, units.assign(case_id=drawn.case.astype(str))


def one(plan: Plan, rng: np.random.Generator, **settings: Any) -> dict[str, Any]:
    """Return what a simulated study shows."""
    drawn = study(plan, rng)
    decisions, again, units = frames(drawn)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of few repeats none may differ
        found = adjudication.profile(
            decisions,
            repeats=again,
            units=units,
            cluster="case_id",
            seed=int(rng.integers(2**31)),
            **{"n_boot": 1} | settings,
        )
    rows = found.disagreements
    place = [int(unit[1:]) for unit in rows["unit_id"]], [int(code[1:]) for code in rows["code"]]
    true = np.eye(3)[drawn.kind[place]]
    shares = found.shares[found.shares["code"].isna()].set_index("kind").loc[list(KINDS)]
    by_code = found.shares[found.shares["kind"].isin(KINDS) & found.shares["code"].notna()]
    true_by_code = true_shares(rows["code"], true).reindex(by_code["code"].unique()).to_numpy().ravel()
    named = rows["kind"].to_numpy() != "not_told"
    wanted = np.array(KINDS)[true.argmax(axis=1)]
    return {
        "true": true.mean(axis=0),
        "share": shares["share"].to_numpy(float),
        "covered": inside(shares, true.mean(axis=0)),
        "width": (shares["high"] - shares["low"]).to_numpy(float),
        "by_code": inside(by_code, true_by_code).reshape(-1, 3),
        "chance": rows[list(KINDS)].to_numpy(float),
        "kinds": true,
        "named": named,
        "right": rows["kind"].to_numpy()[named] == wanted[named],
        "slips": slips_inside(found.slips, plan),
        "coders": found.coders,
        "soft": soft(found.soft_labels, drawn),
    }


def true_shares(codes: pd.Series, kinds: Floats) -> pd.DataFrame:
    return pd.DataFrame(kinds).groupby(codes.to_numpy()).mean()


def inside(frame: pd.DataFrame, true: Floats) -> Floats:
    low, high = frame["low"].to_numpy(float), frame["high"].to_numpy(float)
    covered = ((low - 1e-9 <= true) & (true <= high + 1e-9)).astype(float)
    return np.where(np.isnan(low), np.nan, covered)


def slips_inside(slips: pd.DataFrame, plan: Plan) -> Floats:
    rates = plan.slips * SLIPS[: plan.coders]
    both = [(name, factor * rates) for name, factor in (("added", 1.0), ("missed", plan.missed))]
    ends = [slips[[f"{name}_low", f"{name}_high"]].set_axis(["low", "high"], axis=1) for name, _ in both]
    return np.stack([inside(part, true) for part, (_, true) in zip(ends, both, strict=True)])


def soft(labels: pd.DataFrame, drawn: Study) -> Floats:
    """Return the log loss and the Brier score of the probability and of the share (2, 2)."""
    place = [int(unit[1:]) for unit in labels["unit_id"]], [int(code[1:]) for code in labels["code"]]
    target = drawn.read[place]
    share = ((labels["n_applied"] + 0.5) / (labels["n_coders"] + 1)).to_numpy(float)
    plain = labels["share"].to_numpy(float)
    likely = labels["probability"].to_numpy(float)
    scores = []
    for for_log, for_brier in ((likely, likely), (share, plain)):
        log = -(target * np.log(for_log) + (1 - target) * np.log1p(-for_log))
        brier = target * (1 - for_brier) ** 2 + (1 - target) * for_brier**2
        scores.append([log.mean(), brier.mean()])
    return np.array(scores)


def calibration(chance: Floats, kinds: Floats) -> float:
    """Return by how much probabilities miss how often they come true, on average, in tenths."""
    known = ~np.isnan(chance)
    if not known.any():
        return np.nan
    p, y = chance[known], kinds[known]
    tenth = np.minimum((10 * p).astype(int), 9)
    return float(
        sum(
            abs((p - y)[tenth == at].mean()) * (tenth == at).mean() for at in range(10) if (tenth == at).any()
        )
    )


def lines(label: str, studies: list[dict[str, Any]]) -> tuple[str, str]:
    """Return what is printed of studies of one design, and of their soft labels."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # means of nothing, where nothing is told
        mean = {
            name: np.nanmean([each[name] for each in studies], axis=0)
            for name in ("true", "share", "covered", "width", "soft")
        }
        by_code = np.nanmean(np.concatenate([each["by_code"] for each in studies]), axis=0)
        slips = np.nanmean([each["slips"] for each in studies])
    kinds = np.concatenate([each["kinds"] for each in studies])
    chance = np.concatenate([each["chance"] for each in studies])
    right = np.concatenate([each["right"] for each in studies])
    named = np.concatenate([each["named"] for each in studies])
    bias = mean["share"] - mean["true"]
    cells = [
        label,
        triple(mean["true"], "{:.2f}"),
        triple(bias, "{:+.3f}"),
        triple(100 * mean["covered"], "{:.1f}"),
        triple(mean["width"], "{:.2f}"),
        triple(100 * by_code, "{:.1f}"),
        number(100 * slips, "{:.1f}"),
        " / ".join(number(calibration(chance[:, k], kinds[:, k]), "{:.3f}") for k in range(3)),
        f"{100 * named.mean():.0f}",
        number(100 * right.mean() if len(right) else np.nan, "{:.0f}"),
        f"{100 * mean['true'][0]:.0f}",
    ]
    (log, brier), (plain_log, plain_brier) = mean["soft"]
    scores = [number(value, "{:.4f}") for value in (log, plain_log, brier, plain_brier)]
    return "| " + " | ".join(cells) + " |", "| " + " | ".join([label, *scores]) + " |"


def triple(values: Floats, form: str) -> str:
    return " / ".join(number(float(value), form) for value in values)


def number(value: float, form: str) -> str:
    return "–" if np.isnan(value) else form.format(value)


def coders(plan: Plan, n_studies: int, seed: int) -> list[str]:
    """Return lines on the intervals of each coder against the others."""
    rng = np.random.default_rng(seed)
    true = one(replace(plan, texts=40_000, repeats=0.0), rng)["coders"]
    names = {"difference": "difference", "sensitivity": "sensitivity", "specificity": "specificity"}
    hits: dict[str, list[Floats]] = {name: [] for name in names}
    leans = []
    for _ in range(n_studies):
        views = one(plan, rng, n_boot=300, n_draws=1)["coders"]
        for name in names:
            ends = views[[f"{name}_low", f"{name}_high"]].set_axis(["low", "high"], axis=1)
            hits[name].append(inside(ends, true[name].to_numpy(float)))
        leans.append(views["leans"].notna().to_numpy())
    shown = " | ".join(f"{100 * np.nanmean(each):.1f}" for each in hits.values())
    worst = " | ".join(f"{100 * np.nanmin(np.nanmean(each, axis=0)):.1f}" for each in hits.values())
    none = np.abs(true["difference"].to_numpy(float)) < 0.002
    wrong = 100 * np.mean([each[none].any() for each in leans]) if none.any() else np.nan
    planted = [
        i
        for i, key in enumerate(zip(true["coder"], true["code"], strict=True))
        if key in {("c0", "k2"), ("c1", "k5")}
    ]
    found = " / ".join(f"{100 * np.mean([each[i] for each in leans]):.0f}" for i in planted)
    return [f"| {plan.coders} | {plan.texts} | {shown} | {worst} | {number(wrong, '{:.0f}')} | {found} |"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=200)
    parser.add_argument("--part", choices=["base", "other", "coders"])
    parser.add_argument("--only", type=int, help="the number of coders")
    parser.add_argument("--draws", type=int, default=4000)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    designs = [each for each in DESIGNS if arguments.only in (None, each[0])]
    for part in ("base", "other"):
        if arguments.part not in (None, part):
            continue
        losses = []
        print(f"\n{HEAD}", flush=True)
        plans = [(Plan(c, t, r), f"{c} coders, {t} texts{', repeats' if r else ''}") for c, t, r in designs]
        if part == "other":
            plans = [
                (replace(Plan(c, 300, 0.1), **changed), f"{c} coders, {what}")
                for what, changed in OTHER.items()
                for c in sorted({each[0] for each in designs})
                if not (changed.get("sharing") and c < 5)
            ]
        for at, (plan, label) in enumerate(plans):
            rng = np.random.default_rng(arguments.seed + at)
            studies = [one(plan, rng, n_draws=arguments.draws) for _ in range(arguments.studies)]
            row, loss = lines(label, studies)
            losses.append(loss)
            print(row, flush=True)
        print("\n".join(["", SOFT, *losses]), flush=True)
    if arguments.part in (None, "coders"):
        print(f"\n{CODERS}", flush=True)
        for c, t, r in designs:
            if not r:
                print(*coders(Plan(c, t, r), arguments.studies, arguments.seed + c), sep="\n", flush=True)


HEAD: Final = (
    "| design | true share | bias | covered % | width | covered % by code | slip rates covered % "
    "| calibration error | named % | of them right % | control right % |\n|" + 11 * "---|"
)
SOFT: Final = "| design | log loss | share's | Brier | share's |\n|" + 5 * "---|"
CODERS: Final = (
    "| coders | texts | difference | sensitivity | specificity | worst: difference | sensitivity "
    "| specificity | leaning where there is none % | found % |\n|" + 10 * "---|"
)

if __name__ == "__main__":
    main()
