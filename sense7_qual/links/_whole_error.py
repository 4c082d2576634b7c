"""The whole error of a link: over participants, coders and prompts at once; and one p for a multiverse."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from sense7_qual._contract import Column, Contract
from sense7_qual._debias import debiased
from sense7_qual._messages import first_three
from sense7_qual.errors import ArgumentError, TableError
from sense7_qual.frames import is_model
from sense7_qual.links._odds import few_levels
from sense7_qual.links._pooled import Pooled, RankEffect, covariance_of, pool_jointly
from sense7_qual.links._resample import rank_biserial
from sense7_qual.links.models._by_hand import Inclusion, applied_to, read, refuse_picked
from sense7_qual.links.models._with_model import Link, left_out, link_of

Floats = npt.NDArray[np.float64]
Row = dict[str, Any]

_BASE: Final = "base"
_OF_WHOLE: Final = {"analysis": "whole", "exclusion": "none", "effect": "rank_biserial"}
_ARMS: Final = Contract(
    "arms",
    ("variant", "unit_id", "code"),
    {
        "variant, unit_id, code": Column("id"),
        "wording": Column("string"),
        "order": Column("integer"),
        "verdict": Column("string"),
        "reason": Column("string"),
        "in_the_codebook, learned": Column("boolean"),
    },
)


@dataclass(frozen=True, slots=True)
class Arm:
    """One way in which a model was asked: its name among sources, its prompt, and what it decided."""

    source: str
    prompt: tuple[str, int]
    asked: pd.Index
    decided: pd.DataFrame = field(repr=False)


@dataclass(frozen=True, slots=True)
class Arms:
    """The arms of one model, the base first, the texts that it has learned from, and how texts were drawn."""

    model: str
    arms: Sequence[Arm] = field(repr=False)
    learned: pd.Index
    inclusion: Inclusion

    @property
    def prompts(self) -> list[Arm]:
        """One arm of each prompt, the base first: a further run of a prompt is no other prompt."""
        return list({arm.prompt: arm for arm in reversed(self.arms)}.values())[::-1]


def read_arms(arms: Mapping[str, pd.DataFrame] | None, inclusion: Inclusion | None) -> list[Arms]:
    """Return the arms of each model; where a text is an example of the code, it has no decision."""
    if arms is None:
        return []
    if inclusion is None:
        raise ArgumentError(
            "multiverse: expected inclusion with arms – found none – say how the texts coded by hand were "
            'drawn: "equal", or what corpus.hand_sample returned.'
        )
    return [_arms_of(str(model), answers, inclusion) for model, answers in arms.items()]


def _arms_of(model: str, answers: pd.DataFrame, inclusion: Inclusion) -> Arms:
    if not is_model(model):
        raise ArgumentError(
            f"arms: expected the name of a model, model-… – found {model!r} – pass {{run.coder: "
            "run.answers}."
        )
    rows = _ARMS.check(answers.assign(learned=answers.get("learned", False)))
    names = [str(name) for name in rows["variant"].unique()]
    if _BASE not in names:
        raise TableError(
            f"arms: expected the answers of the base, too – found {first_three(names) or 'none'} – "
            "pass Run.answers whole."
        )
    learned = pd.Index(rows.loc[rows["learned"], "unit_id"].unique())
    decides = rows["reason"].isna() & ~rows["in_the_codebook"] & ~rows["unit_id"].isin(learned)
    rows = rows.assign(applied=(rows["verdict"] == "yes").to_numpy(dtype=np.bool_, na_value=False))
    made = []
    for name in [_BASE, *(name for name in names if name != _BASE)]:
        own = rows["variant"] == name
        first = rows[own].iloc[0]
        made.append(
            Arm(
                f"{model}: {name}",
                (str(first["wording"]), int(first["order"])),
                pd.Index(rows.loc[own, "unit_id"].unique()),
                rows.loc[own & decides, ["unit_id", "code", "applied"]],
            )
        )
    return Arms(model, made, learned, inclusion)


def as_decisions(answered: Arms) -> pd.DataFrame:
    """Return the decisions of all arms of a model, each arm as a separate coder."""
    return pd.concat([arm.decided.assign(coder=arm.source) for arm in answered.arms])


def whole_rows(
    every: Sequence[Arms],
    people: Mapping[str, pd.DataFrame],
    rated: pd.DataFrame,
    confidence_level: float,
) -> pd.DataFrame:
    """Return the rows of the whole error: of people, and of each model alone and with people.

    `people` are the decisions (unit_id, code, applied) of each coder, `rated` has unit_id, rating, cluster.
    """
    rows: list[Row] = []
    for at, one in enumerate(every):
        by_hand = pd.concat(people.values()).drop_duplicates(["unit_id", "code"])
        by_hand = by_hand[by_hand["unit_id"].isin(rated["unit_id"])]
        out = left_out(by_hand, one.learned, None, function="multiverse")
        known = rated[~rated["unit_id"].isin(one.learned)]
        texts = read(known, by_hand[~out], one.arms[0].decided, one.inclusion, function="multiverse")
        refuse_picked(texts, rating="rating", function="multiverse")
        index = known.set_index("unit_id")
        for of_code in texts:
            code, weight = of_code.code, of_code.weight
            hand = [link_of(of_code, applied_to(decided, code, index), weight) for decided in people.values()]
            same = link_of(of_code, np.where(of_code.by_hand, of_code.model, np.nan), weight)
            alike = np.ones(len(weight))
            common = np.logical_and.reduce([index.index.isin(arm.asked) for arm in one.prompts])
            asked = [
                link_of(of_code, np.where(common, applied_to(arm.decided, code, index), np.nan), alike)
                for arm in one.prompts
            ]
            found = {
                "human": _of_people(hand),
                one.model: _of_prompts(link_of(of_code, of_code.model, alike), asked),
                f"{one.model} + human": _of_both(hand, link_of(of_code, of_code.model, alike), same),
            }
            rows += [
                {**_OF_WHOLE, "code": code, "source": source, **_printed(whole, confidence_level)}
                for source, whole in found.items()
                if at == 0 or source != "human"
            ]
    return pd.DataFrame(rows)


@dataclass(frozen=True, slots=True)
class _Whole:
    """An estimate with its interval over all that varies, or the row of the link that has none."""

    row: Row
    pooled: Pooled | None
    n_coders: int | None = None
    n_prompts: int | None = None


def _printed(whole: _Whole, confidence_level: float) -> Row:
    row = {name: whole.row[name] for name in ("n_clusters", "reason")}
    row |= {"n_units": whole.row["n_with"] + whole.row["n_without"], "estimate": whole.row["rank_biserial"]}
    row |= {"n_coders": whole.n_coders, "n_prompts": whole.n_prompts}
    if whole.pooled is None:
        return row
    low, high = np.tanh(whole.pooled.interval(confidence_level))
    share = whole.pooled.between_share
    return row | {
        "estimate": float(np.tanh(whole.pooled.estimate)),
        "low": float(low),
        "high": float(high),
        "p": whole.pooled.p,
        "between_share": share,
        "reason": None,
    }


def _ranks(links: Sequence[Link]) -> tuple[list[RankEffect], Floats]:
    """Return the effects that have an interval, and how much information each rests on."""
    known = [link for link in links if "rank" in link.effects]
    sides = [
        np.array([link.row[name] for link in known], dtype=np.float64) for name in ("n_with", "n_without")
    ]
    effects = [link.effects["rank"] for link in known]
    return [one for one in effects if isinstance(one, RankEffect)], sides[0] * sides[1] / (
        sides[0] + sides[1]
    )


def _pooled(effects: Sequence[RankEffect], information: Floats | None) -> Pooled:
    """Pool the effects of several coders, or of several prompts; one alone says nothing of others."""
    z = np.array([one.estimate for one in effects])
    covariance = covariance_of(effects)
    df = np.array([one.fewest - 1 for one in effects], dtype=np.float64)
    if len(effects) > 1:
        return pool_jointly(z, covariance, df=df, information=information)
    return Pooled(float(z[0]), float(np.sqrt(covariance[0, 0])), float(df[0]), between_share=0.0, n=1)


def _of_people(hand: Sequence[Link]) -> _Whole:
    """Return people's link over participants and coders."""
    effects, information = _ranks(hand)
    row = _of_all(hand)
    return _Whole(row, _pooled(effects, information) if effects else None, len(effects))


def _of_all(hand: Sequence[Link]) -> Row:
    """Return the row of the coder with the most texts."""
    return max((link.row for link in hand), key=lambda row: row["n_with"] + row["n_without"])


def _of_prompts(all_texts: Link, asked: Sequence[Link]) -> _Whole:
    """Return the model's link over participants and prompts.

    All prompts are compared on the texts that each was asked about, and their mean is made more precise by
    what the base says about all texts.
    """
    effects, _ = _ranks(asked)
    base, known = all_texts.effects.get("rank"), asked[0].effects.get("rank")
    if not isinstance(base, RankEffect):
        return _Whole(all_texts.row, None)
    if len(effects) < 2 or not isinstance(known, RankEffect):
        return _Whole(all_texts.row, _pooled([base], None), n_prompts=1)
    return _Whole(all_texts.row, _corrected(effects, None, base, known), n_prompts=len(effects))


def _of_both(hand: Sequence[Link], model: Link, same: Link) -> _Whole:
    """Return people's link made more precise by the model: what its prompt gets wrong is taken out."""
    effects, information = _ranks(hand)
    a, p = model.effects.get("rank"), same.effects.get("rank")
    row = _of_all(hand)
    if not effects:
        return _Whole(row, None)
    alone = _pooled(effects, information)
    if not isinstance(a, RankEffect) or not isinstance(p, RankEffect):
        return _Whole(row, alone, len(effects), 0)
    both = _corrected(effects, information, a, p)
    narrower = _half(both) < _half(alone)
    return _Whole(row, both if narrower else alone, len(effects), int(narrower))


def _half(pooled: Pooled) -> float:
    low, high = pooled.interval(0.95)
    return high - low


def _corrected(
    effects: Sequence[RankEffect], information: Floats | None, a: RankEffect, p: RankEffect
) -> Pooled:
    """Return the mean of effects on some texts, corrected by an effect on all (a) and on the same (p)."""
    mean = _pooled(effects, information)
    weights = np.zeros((3, len(effects) + 2))
    weights[0, 0], weights[1, 1:-1], weights[2, -1] = 1, mean.weights, 1
    covariance = weights @ covariance_of([a, *effects, p]) @ weights.T
    between = mean.between_share * mean.standard_error**2
    own_df = float(np.dot(mean.weights, [one.fewest - 1 for one in effects]))
    found = debiased(np.array([a.estimate, mean.estimate, p.estimate]), covariance, own_df + 1)
    variance = found.variance + between
    share = between / variance
    df = 1 / ((1 - share) ** 2 / own_df + (share**2 / (len(effects) - 1) if share else 0))
    return Pooled(found.estimate, float(np.sqrt(variance)), df, share, len(effects))


def whole_p(tried: Sequence[pd.DataFrame], code: str, rated: pd.DataFrame, *, n: int, seed: int) -> float:
    """Return p of the hypothesis that no choice relates the code to the rating, within participants.

    `tried` are the decisions of each choice. The mean of their effects is compared with those after `n`
    permutations of the ratings within participants; NaN where these change nothing.
    """
    texts = rated.set_index("unit_id").sort_index()
    levels = few_levels(texts["rating"].to_numpy(dtype=np.float64)).astype(np.int64) - 1
    cluster = texts["cluster"].to_numpy(dtype=np.int64)
    codes = [applied_to(each, code, texts) for each in tried]
    sides = [[each == 1, each == 0] for each in codes if (each == 1).any() and (each == 0).any()]
    if not sides or not _shuffles(levels, cluster):
        return float("nan")
    both = np.array(sides, dtype=np.float64).reshape(-1, len(levels))
    permuted = (_mean_effect(both, each) for each in _permuted(levels, cluster, n, seed))
    moved = np.fromiter(permuted, dtype=np.float64, count=n) - _mean_effect(both, levels)
    tail = min((moved >= -1e-12).sum(), (moved <= 1e-12).sum())
    return float(min(1.0, 2 * (1 + tail) / (n + 1)))


def _shuffles(levels: npt.NDArray[np.int64], cluster: npt.NDArray[np.int64]) -> bool:
    """Return whether any participant has two different ratings."""
    return len(np.unique(np.column_stack([cluster, levels]), axis=0)) > len(np.unique(cluster))


def _mean_effect(sides: Floats, levels: npt.NDArray[np.int64]) -> float:
    counts = sides @ np.eye(int(levels.max()) + 1)[levels]
    return float(rank_biserial(counts[::2], counts[1::2]).mean())


def _permuted(
    levels: npt.NDArray[np.int64], cluster: npt.NDArray[np.int64], n: int, seed: int
) -> Iterator[npt.NDArray[np.int64]]:
    """Yield the levels with those of each participant in random order."""
    rng = np.random.default_rng(seed)
    place = np.argsort(cluster, kind="stable")
    for _ in range(n):
        permuted = np.empty_like(levels)
        permuted[place] = levels[np.lexsort((rng.random(len(levels)), cluster))]
        yield permuted
