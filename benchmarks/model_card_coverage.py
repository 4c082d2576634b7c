"""How often the intervals of a model's card hold the truth, and which marks scripted models get.

Usage: python -m benchmarks.model_card_coverage [--studies 400] [--seed 1] [--part coverage|marks]

Participants use the code to different degrees (beta, intraclass correlation .3), three people code each drawn
text and see the truth with probability .9; a model finds .8 of the texts with the code and applies it to .06
of the others, with participants' error rates .6 apart on the logit. Texts are drawn alike from all
participants, or three times as often where the model says yes. The truth is that of 20,000 participants. The
control takes texts for independent. Prints Markdown; model_card_coverage.md is what it printed.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import special

from sense7_qual._bootstrap import holm
from sense7_qual.agreement import MODEL_CARD
from sense7_qual.agreement._by_code import alpha_of, row_of_table
from sense7_qual.agreement._intervals._bootstrap import Resampling
from sense7_qual.agreement.coefficients._patterns import Coded
from sense7_qual.agreement.diagnosis import model_card, model_words
from sense7_qual.agreement.diagnosis._model_card import (
    _accuracy,
    _beside,
    _crossed,
    _few,
    _prevalence,
)
from sense7_qual.agreement.diagnosis._model_texts import Texts, group_rows
from sense7_qual.corpus._assign import probabilities, systematic

Floats = npt.NDArray[np.float64]
Truths = npt.NDArray[np.bool_]

MEASURES: Final = (
    "sensitivity",
    "specificity",
    "precision",
    "prevalence_people",
    "prevalence_model",
    "prevalence_difference",
    "prevalence_all",
    "alpha_people",
    "kappa_model",
    "agreement_difference",
    "missing",
    "sensitivity_difference",
    "specificity_difference",
    "missing_difference",
)
DIFFERENCES: Final = MEASURES[-3:]
CODERS: Final = 3


@dataclass(frozen=True)
class Design:
    """A study: its participants, how common the code is, how texts are drawn, how much worse in group B."""

    participants: int = 60
    texts: int = 10
    prevalence: float = 0.2
    weighted: bool = False
    within: bool = False
    worse: float = 0.0
    share: float = 0.4
    icc: float = 0.3


def study(rng: np.random.Generator, design: Design) -> dict[str, pd.DataFrame]:
    """Return people's decisions on drawn texts, the model's on all, the texts and the draw."""
    return frames(*drawn_study(rng, design))


def drawn_study(rng: np.random.Generator, design: Design) -> tuple[Any, ...]:
    """Return participant, group, what people and the model said, what is missing, and the draw, by text."""
    sizes = rng.integers(design.texts // 2, design.texts + design.texts // 2 + 1, design.participants)
    case = np.repeat(np.arange(design.participants), sizes)
    n, strength = len(case), 1 / design.icc - 1
    often = rng.beta(strength * design.prevalence, strength * (1 - design.prevalence), design.participants)
    true = rng.random(n) < often[case]
    in_b = rng.random(n) < 0.5 if design.within else case % 2 == 1
    found = np.where(true, 0.8 - design.worse * in_b, 0.06)
    own = 0.6 * rng.standard_normal((design.participants, 2))[case]
    said = rng.random(n) < special.expit(special.logit(found) + np.where(true, own[:, 0], own[:, 1]))
    missing = rng.random(n) < special.expit(-2.5 + 0.8 * rng.standard_normal(design.participants))[case]
    seen = np.where(rng.random((CODERS, n)) < 0.9, true, rng.random((CODERS, n)) < 0.3)
    weight = np.where(said, 3.0, 1.0) if design.weighted else np.ones(n)
    chance = probabilities(weight, max(1, round(design.share * n)))
    order = np.lexsort([rng.random(n), rng.permutation(design.participants)[case]])
    drawn = np.zeros(n, dtype=bool)
    drawn[order] = systematic(chance[order], round(chance.sum()), rng)
    return case, in_b, seen, said, missing, chance, drawn


def frames(
    case: npt.NDArray[np.intp],
    in_b: Truths,
    seen: Truths,
    said: Truths,
    missing: Truths,
    chance: Floats,
    drawn: Truths,
) -> dict[str, pd.DataFrame]:
    """Return a study as the frames that `model_card` takes."""
    unit_id = pd.Series([f"u{i:06}" for i in range(len(case))], dtype="string")
    people = [
        pd.DataFrame({"unit_id": unit_id, "coder": f"c{number}", "code": "warm", "applied": one})[drawn]
        for number, one in enumerate(seen)
    ]
    made = pd.DataFrame({"unit_id": unit_id, "coder": "model-a", "code": "warm", "applied": said})
    return {
        "decisions": pd.concat(people, ignore_index=True),
        "model": made[~missing],
        "units": pd.DataFrame({"unit_id": unit_id, "case_id": case, "group": np.where(in_b, "b", "a")}),
        "inclusion": pd.DataFrame({"unit_id": unit_id, "probability": chance, "drawn": drawn}),
    }


def card(given: dict[str, Any], *, n_boot: int = 200, cluster: str = "case_id") -> pd.DataFrame:
    """Return the card of a study, by measure."""
    made = model_card(**given, cluster=cluster, by=["group"], n_boot=n_boot)
    return made.set_index("measure")


def quick_card(
    case: npt.NDArray[np.intp],
    in_b: Truths,
    seen: Truths,
    said: Truths,
    missing: Truths,
    chance: Floats,
    drawn: Truths,
    *,
    alpha: bool = False,
) -> dict[str, dict[str, Any]]:
    """Return the rows of `card` by measure, from its parts alone: without reading and checking frames.

    The test `test_the_quick_card_is_the_card` compares the two. `alpha`: with people's alpha, which is
    resampled and takes most of the time.
    """
    weight = 1 / chance
    weight /= weight[drawn].mean()
    n_applied = seen.sum(axis=0)
    human = np.where(drawn, (2 * n_applied > CODERS).astype(float), np.nan)
    model = np.where(missing, np.nan, said.astype(float))
    unit_id = pd.Index(np.arange(len(case)).astype(str), dtype="string")
    texts = Texts("warm", unit_id, case.astype(np.int64), human, model, weight, 0.95)
    both = np.flatnonzero(texts.both)
    shared = pd.DataFrame(
        {
            "n_humans": CODERS,
            "n_applied": n_applied[both],
            "by_model": said[both],
            "cluster": np.unique(case[both], return_inverse=True)[1],
            "weight": weight[both],
        }
    )
    shared.attrs["n_humans"] = CODERS
    groups = pd.DataFrame({"unit_id": unit_id, "group": np.where(in_b, "b", "a")})
    rows = [
        *_accuracy(texts),
        *_prevalence(texts),
        _crossed(shared, Resampling(1, 0.95, 0)),
        _beside(shared, 0.95),
        texts.share("missing", missing, np.ones(len(case), dtype=bool), equal=True),
        *group_rows(texts, groups, ["group"]),
    ]
    if alpha:
        rows.append(_alpha(seen[:, drawn], case[drawn], weight[drawn]))
    tested = [row for row in rows if row.get("p") is not None]
    for row, p in zip(tested, holm(np.array([row["p"] for row in tested])), strict=True):
        row["p_holm"] = p
    return {str(row["measure"]): row for row in rows}


def _alpha(seen: Truths, case: npt.NDArray[np.intp], weight: Floats) -> dict[str, Any]:
    """Return people's alpha as the card has it."""
    table = Coded(np.array([0.0, 1.0]), seen.astype(np.uint8) + 1)
    cluster = np.unique(case, return_inverse=True)[1].astype(np.int64)
    n_applied = pd.Series(seen.sum(axis=0))
    if _few(n_applied, pd.Series(CODERS, index=n_applied.index), cluster):
        return {"measure": "alpha_people"}
    unequal = np.ptp(weight) > 1e-9
    row = alpha_of(table, weight, cluster, 0.95) if unequal else row_of_table(table, cluster, 200, 0.95, 0)
    return {
        "measure": "alpha_people",
        "value": row["alpha"],
        "low": row["alpha_low"],
        "high": row["alpha_high"],
    }


@cache
def truth(design: Design) -> dict[str, float]:
    """Return the value of each measure in one study, which is to be very large."""
    found = quick_card(*drawn_study(np.random.default_rng(99), design))
    values = {name: float(row["value"]) for name, row in found.items() if name in MEASURES}
    return values | {"alpha_people": values["kappa_model"] - values["agreement_difference"]}


def held(
    design: Design, n_studies: int, rng: np.random.Generator, *, naive: bool = False, alpha: bool = False
) -> pd.DataFrame:
    """Return the share of intervals of each measure that hold the truth, and the share of finds.

    `naive` takes texts for independent; `any` are studies with a group difference found that is not there.
    """
    true = truth(replace(design, participants=20_000, share=1.0, weighted=False))
    rows = []
    for _ in range(n_studies):
        case, *others = drawn_study(rng, design)
        made = quick_card(np.arange(len(case)) if naive else case, *others, alpha=alpha)
        for name in MEASURES:
            row = made.get(name, {})
            low, high = (row.get(end) for end in ("low", "high"))
            there = low is not None and not np.isnan(low)
            rows.append(
                {
                    "measure": name,
                    "there": there,
                    "held": there and low <= true[name] <= high,
                    "found": row.get("p_holm", 1.0) < 0.05,
                }
            )
        false = [name for name in DIFFERENCES if not (design.worse and name == DIFFERENCES[0])]
        found = any(made.get(name, {}).get("p_holm", 1.0) < 0.05 for name in false)
        rows.append({"measure": "any", "there": True, "held": False, "found": found})
    frame = pd.DataFrame(rows)
    of_measure, there = frame.groupby("measure"), frame[frame["there"]].groupby("measure")
    return pd.DataFrame(
        {"n": of_measure["there"].sum(), "held": there["held"].mean(), "found": of_measure["found"].mean()}
    )


FLAWS: Final = {
    "follows the label": "swap",
    "ignores rules": "examples",
    "order": "order",
    "obeys the text": "instruction",
}
ARMS: Final = (
    ("base", "plain", 0, 1),
    ("run 2", "plain", 0, 2),
    ("run 3", "plain", 0, 3),
    ("wording brief", "brief", 0, 1),
    ("order 1", "plain", 1, 1),
)


def flawed(
    rng: np.random.Generator, given: dict[str, pd.DataFrame], flaw: str
) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Return a scripted model's answers, behaviour and decisions: sound but for one flaw.

    A sound model finds .85 of the texts with the code, changes 1 % of its answers when asked again, copies 99
    of 100 quotes, and passes each prompt of a test of behaviour with probability .97.
    """
    table = given["model"][["unit_id", "code"]].merge(given["units"])
    people = given["decisions"].groupby("unit_id")["applied"].mean().gt(0.5)
    often = people.mean()
    true = table["unit_id"].map(people).fillna(pd.Series(rng.random(len(table)) < often)).astype(bool)
    found = np.where(true, 0.9, 0.04)
    if flaw == "worse in one language":
        found = np.where(true & table["group"].eq("b"), 0.5, found)
    said = rng.random(len(table)) < found
    arms = []
    for variant, wording, order, run in ARMS:
        changes = 0.25 if flaw == "order" and order else 0.01
        verdict = said ^ (rng.random(len(said)) < changes * (variant != "base"))
        bad = verdict & (rng.random(len(said)) < (0.2 if flaw == "copies badly" else 0.01))
        arms.append(
            pd.DataFrame(
                {
                    "unit_id": table["unit_id"],
                    "code": table["code"],
                    "variant": variant,
                    "wording": wording,
                    "order": order,
                    "run": run,
                    "verdict": np.where(verdict, "yes", "no"),
                    "reason": np.where(bad, "quote_not_in_text", None),
                    "in_the_codebook": False,
                }
            )
        )
    answers = pd.concat(arms, ignore_index=True)
    base = answers[(answers["variant"] == "base") & answers["reason"].isna()]
    made = base[["unit_id", "code"]].assign(coder="model-a", applied=base["verdict"].eq("yes"))
    return answers, behaviour_of(rng, flaw), made


def behaviour_of(rng: np.random.Generator, flaw: str, n: int = 20) -> pd.DataFrame:
    """Return the tests of behaviour of a scripted model: .97 pass, of its flaw .4."""
    names = ("form", "definition", "examples", "name", "swap", "order", "instruction")
    chance = [0.4 if FLAWS.get(flaw) == name else 0.97 for name in names]
    passed = rng.binomial(n, chance)
    return pd.DataFrame({"code": "warm", "test": names, "n_passed": passed, "n": n, "share": passed / n})


MARKS: Final = {
    "none": None,
    "follows the label": "label",
    "ignores rules": "rules",
    "order": "order",
    "copies badly": "quotes",
    "obeys the text": "instruction",
    "worse in one language": "groups",
}


def marked(rng: np.random.Generator, design: Design, flaw: str, *, n: int = 20) -> str | None:
    """Return the marks of a scripted model, whose tests of behaviour have `n` prompts each."""
    case, in_b, seen, _, _, chance, drawn = drawn_study(rng, design)
    people = 2 * seen.sum(axis=0) > CODERS
    found = np.where(people, 0.9, 0.04)
    if flaw == "worse in one language":
        found = np.where(people & in_b, 0.5, found)
    said = rng.random(len(case)) < found
    bad = said & (rng.random(len(case)) < (0.2 if flaw == "copies badly" else 0.01))
    rows = quick_card(case, in_b, seen, said, bad, chance, drawn)
    texts = Texts("warm", pd.RangeIndex(len(case)), case, people, said, np.ones(len(case)), 0.95)
    rows["failed_quotes"] = texts.share("failed_quotes", bad, said, equal=True)
    reason = texts.share("missing", bad, np.ones(len(case), dtype=bool), equal=True, group="no_quote")
    made = MODEL_CARD.frame([{"code": "warm", "model": "model-a"} | row for row in (*rows.values(), reason)])
    made.loc[made["measure"] == "positive_agreement", "value"] = 0.8
    told = model_words(made, behaviour=behaviour_of(rng, flaw, n))["marks"].iloc[0]
    return None if pd.isna(told) else str(told)


def print_marks(n_studies: int, rng: np.random.Generator) -> None:
    """Print in how many studies a scripted model gets the mark of its flaw and no other."""
    print("| participants | prompts a test |", " | ".join(MARKS), "|")
    print("|---" * (2 + len(MARKS)) + "|")
    for participants, n in ((40, 20), (80, 20), (120, 20), (200, 20), (120, 5)):
        design = Design(participants=participants, texts=12, share=0.6)
        cells = []
        for flaw, mark in MARKS.items():
            told = [marked(rng, design, flaw, n=n) for _ in range(n_studies)]
            cells.append(f"{100 * np.mean([one == mark for one in told]):.0f}")
        print(f"| {participants} | {n} |", " | ".join(cells), "|", flush=True)


def main() -> None:
    """Simulate every design and print how often each interval holds, or the marks of scripted models."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--part", choices=["coverage", "marks"], default="coverage")
    arguments = parser.parse_args()
    rng = np.random.default_rng(arguments.seed)
    if arguments.part == "marks":
        print_marks(arguments.studies, rng)
        return
    short = [name.replace("prevalence", "prev.").replace("difference", "diff.") for name in MEASURES]
    short = [name.replace("_", " ") for name in short]
    print(
        "| participants | code on | drawn | groups | worse |",
        " | ".join(short),
        "| false finds % | found % |",
    )
    print("|---" * (len(MEASURES) + 7) + "|")
    for design in designs():
        print(line(design, held(design, arguments.studies, rng, alpha=True)), flush=True)
    control = Design(prevalence=0.2)
    print(line(control, held(control, arguments.studies, rng, naive=True), "control"), flush=True)


def designs() -> list[Design]:
    """Return the designs, in the order of the table."""
    plain = [
        Design(participants=n, prevalence=p, weighted=w)
        for n in (40, 100)
        for p in (0.05, 0.1, 0.2, 0.4)
        for w in (False, True)
    ]
    return plain + [
        Design(prevalence=p, within=within, worse=worse, participants=80)
        for p in (0.2, 0.4)
        for within in (False, True)
        for worse in (0.0, 0.2)
    ]


def line(design: Design, table: pd.DataFrame, name: str = "") -> str:
    """Return a row: the design, the percentages held (– where under a tenth have an interval)."""
    enough = table["n"].max() / 10
    cells = [
        name or design.participants,
        design.prevalence,
        "1–3" if design.weighted else "alike",
        "within" if design.within else "between",
        design.worse,
    ]
    cells += [
        f"{100 * table.loc[one, 'held']:.1f}" if table.loc[one, "n"] > enough else "–" for one in MEASURES
    ]
    cells.append(f"{100 * table.loc['any', 'found']:.1f}")
    cells.append(f"{100 * table.loc[DIFFERENCES[0], 'found']:.0f}" if design.worse else "–")
    return "| " + " | ".join(map(str, cells)) + " |"


if __name__ == "__main__":
    main()
