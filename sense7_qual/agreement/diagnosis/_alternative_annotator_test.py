"""May a model replace a human coder? The alternative annotator test."""

from __future__ import annotations

import numbers
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal, get_args

import numpy as np
import numpy.typing as npt
import pandas as pd

from sense7_qual._arguments import check_arguments
from sense7_qual._basis import NOT_STATED
from sense7_qual._bootstrap import FEWEST_CLUSTERS
from sense7_qual._contract import holding
from sense7_qual._messages import did_you_mean, first_three
from sense7_qual._reasons import Reason
from sense7_qual._rests_on import rests_on
from sense7_qual.agreement._counts import choose, chosen_models, cluster_numbers
from sense7_qual.agreement._intervals._bootstrap import effective_clusters
from sense7_qual.agreement._results import HUMANS, MODELS
from sense7_qual.agreement._values import by_coder, coded
from sense7_qual.agreement.coefficients._scale import check_scale
from sense7_qual.errors import ArgumentError, TableError
from sense7_qual.frames import clusters_by_unit, people as without_computed

By = Literal["code", "set", "rating"]
Distance = Literal["absolute", "squared"]
Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

_FEWEST_HUMANS: Final = 3


@holding(results=MODELS, humans=HUMANS)
@dataclass(frozen=True, slots=True)
class AlternativeAnnotatorTest:
    """The result of `alternative_annotator_test`: one row per code × model, and one per human left out of it.

    Parameters
    ----------
    models : tuple of str
        The coders that were tested.
    epsilon : float
        The advantage that the model was given for the cost of humans, 0–1.
    fdr : float
        The false discovery rate, 0–1.
    results : DataFrame
    humans : DataFrame
    basis : str
        Which decisions it rests on, in words.
    """

    models: tuple[str, ...]
    epsilon: float
    fdr: float
    results: pd.DataFrame
    humans: pd.DataFrame
    basis: str = NOT_STATED


@rests_on("decisions", models=True)
def alternative_annotator_test(
    decisions: pd.DataFrame,
    *,
    models: str | Sequence[str] | None = None,
    epsilon: float,
    by: By = "code",
    distance: Distance = "absolute",
    fdr: float = 0.05,
    fewest_units: int = 30,
    units: pd.DataFrame | None = None,
    cluster: str | None = None,
) -> AlternativeAnnotatorTest:
    """Test whether a model represents the human coders at least as well as each of them does.

    Each human j is left out in turn. On every unit that j, the model and at least one other human have
    finished, j and the model are scored by the share of the other humans who decided as they did. The model
    has the advantage where its score is at least j's, and j where j's is at least the model's: at a tie,
    both. Over the units, H0: P(advantage of j) − P(advantage of the model) ≥ ε is tested with a paired
    t-test, one-sided. The p-values of all humans are adjusted by Benjamini and Yekutieli; the share of
    humans whom the model then beats is its winning rate ω. In the paper a model passes with ω ≥ .5, and
    models are compared by their average advantage probability ρ.

    Use it before a model's decisions replace a human's, with three or more humans who coded the same 50 to
    100 units. It is not a measure of agreement (see `human_model`), and not for humans who hardly agree with
    one another: a model that is as poor as they are passes.

    Parameters
    ----------
    decisions : DataFrame
        unit_id, coder, code, applied (bool); with ``by="rating"`` a frame of `agreement.from_wide` with the
        numbers that coders gave. A unit that a coder has not finished is missing. Decisions of `consensus`,
        `majority` and `pooled` are left out.
    models : str or sequence of str, optional
        The coders that are models, each tested against the humans alone; all others are humans. By default
        those with a name that begins with "model-" (`frames.is_model`); if not named here, these are left out
        and never count as humans.
    epsilon : float
        The advantage given to the model, because humans are more expensive and slower, 0–1. The paper
        suggests .2 if the humans are experts, .15 for skilled coders and .1 for crowd-workers. There is no
        default, because the result depends on it.
    by : {"code", "set", "rating"}
        Compare the presence of each code, in a test of its own; or the whole set of codes on a unit: two
        coders agree only if their sets are equal, and have finished a unit if they decided on every code. Or
        compare ratings: a coder's score is then minus the distance from the other humans.
    distance : {"absolute", "squared"}
        Of ratings: the mean of |difference|, as in the paper, or the root of the mean squared difference, as
        in its authors' code, in which one far-off human weighs more. Say which; the results differ.
    fdr : float
        The false discovery rate among the humans of a code, 0–1.
    fewest_units : int
        Humans with fewer units are left out (2 or more). Below the 30 of the paper, the t-test's
        approximation is poor.
    units, cluster
        One row per unit, with unit_id and the column `cluster` of its participant. Units of a participant are
        not independent: the t-test is then over participants (six or more, else `few_clusters`), widened for
        few of them and with the degrees of freedom of clusters of equal size.

    Returns
    -------
    AlternativeAnnotatorTest
        `results` (one row per code × model) and `humans` (one per code × model × human). The tests of
        several codes or models are not adjusted for one another.

    Warns
    -----
    RuntimeWarning
        For some code fewer than three humans could be tested, or a human was left out.

    Raises
    ------
    TableError
        `decisions` breaks its contract, or a model has no decisions; ratings are no numbers, or one looks
        like a code for missing; a unit has no cluster.
    ArgumentError
        `epsilon`, `fdr` or `fewest_units` is out of its range, or `by` is unknown.

    Notes
    -----
    A rare code is easy to pass: a coder who never applies it nearly always decides as the others. Read ω
    together with the prevalence and the agreement.

    Where the model fails on some participants more than on others, the test that takes texts as independent
    is wrong more often than it says; that over participants is not (benchmarks/alternative_annotator.md).

    References
    ----------
    Calderon, Reichart & Dror (2025), The Alternative Annotator Test for LLM-as-a-Judge: How to
    statistically justify replacing human annotators with LLMs, ACL 2025, 16051–16081. Benjamini & Yekutieli
    (2001), The control of the false discovery rate in multiple testing under dependency, Annals of
    Statistics 29, 1165–1188.

    Examples
    --------
    Three humans, each wrong on 8 of 40 units, and a model that never is. It beats
    each of them there and ties everywhere else:

    >>> coders = ["ana", "ben", "cleo", "model"]
    >>> rows = [(f"m{i:02}", name, "interest", (i % 2 == 0) != (i % 5 == stray and name != "model"))
    ...         for i in range(40) for stray, name in enumerate(coders)]
    >>> decisions = pd.DataFrame(rows, columns=["unit_id", "coder", "code", "applied"])
    >>> test = alternative_annotator_test(decisions, models="model", epsilon=0.2)
    >>> test.results[["n_humans", "winning_rate", "advantage_probability"]].values.tolist()
    [[3.0, 1.0, 1.0]]
    >>> test.humans[["human", "advantage_human", "difference"]].values.tolist()
    [['ana', 0.8, -0.2], ['ben', 0.8, -0.2], ['cleo', 0.8, -0.2]]
    """
    check_arguments(alternative_annotator_test, locals())
    _check(epsilon=epsilon, fdr=fdr, fewest_units=fewest_units, by=by, distance=distance)
    models, each = _values(decisions, models, by)
    of_unit = clusters_by_unit(units, cluster)
    rows, parts = [], [HUMANS.empty()]
    for code, values in each:
        people = sorted(set(values["coder"]) - set(models))
        for model in models:
            both = values[values["coder"].isin([*people, model])]
            compared = _closer(both, model, distance) if by == "rating" else _compared(both, model)
            if of_unit is not None:
                numbers = cluster_numbers(pd.Index(compared["unit_id"].unique()), of_unit)
                compared["cluster"] = numbers[pd.factorize(compared["unit_id"])[0]]
            tested = _tested(compared, people, epsilon=epsilon, fdr=fdr, fewest_units=fewest_units)
            parts.append(HUMANS.frame(tested.assign(code=code, model=model)))
            rows.append({"code": code, "model": model} | _summary(tested, compared))
    results = MODELS.frame(rows)
    humans = pd.concat(parts, ignore_index=True)
    _warn(results, humans)
    return AlternativeAnnotatorTest(tuple(models), float(epsilon), float(fdr), results, humans)


def _check(*, epsilon: float, fdr: float, fewest_units: int, by: str, distance: str) -> None:
    for name, value, usual in (("epsilon", epsilon, "0.2 for experts"), ("fdr", fdr, "0.05")):
        if not isinstance(value, numbers.Real) or not 0 <= value <= 1:
            raise ArgumentError(
                f"alternative_annotator_test: expected {name} from 0 to 1 – found {value!r} – "
                f"{usual} is usual."
            )
    if not isinstance(fewest_units, int | np.integer) or fewest_units < 2:
        raise ArgumentError(
            "alternative_annotator_test: expected fewest_units to be a whole number from 2 – found "
            f"{fewest_units!r} – the paper asks for 30."
        )
    if by not in get_args(By):
        raise ArgumentError(
            f"alternative_annotator_test: expected by to be {' or '.join(get_args(By))} – found {by!r} – "
            f"{did_you_mean(str(by), get_args(By))}"
        )
    if distance not in get_args(Distance):
        raise ArgumentError(
            f"alternative_annotator_test: expected distance {' or '.join(get_args(Distance))} – found "
            f"{distance!r} – {did_you_mean(str(distance), get_args(Distance))}"
        )


def _values(
    decisions: pd.DataFrame, models: str | Sequence[str] | None, by: By
) -> tuple[list[str], Iterator[tuple[str | None, pd.DataFrame]]]:
    """Return the models, and for each code what each coder gave each unit: unit_id, coder, value."""
    if by != "rating":
        chosen, own = chosen_models(decisions, models, function="alternative_annotator_test")
        return chosen, _set_values(own) if by == "set" else _code_values(own)
    values, coders, unit_ids = by_coder(decisions)
    table = coded(values)
    if len(table.categories) and table.categories.dtype.kind not in "biuf":
        raise TableError("decisions: expected numbers with by='rating' – found strings – score them first.")
    check_scale(table, None, takes_categories=False)
    coder, unit = np.nonzero(table.codes)
    ids = pd.RangeIndex(table.codes.shape[1]) if unit_ids is None else unit_ids
    number = table.categories[table.codes[coder, unit].astype(np.int64) - 1].astype(np.float64)
    rows = {"unit_id": ids[unit].astype(str), "coder": coders[coder].astype(str), "value": number}
    own = without_computed(pd.DataFrame(rows), with_models=True)
    chosen, own = choose(own, models, function="alternative_annotator_test")
    return chosen, iter([(None, own)])


def _closer(values: pd.DataFrame, model: str, distance: Distance) -> pd.DataFrame:
    """Return the same as `_compared` for ratings: who is nearer to the other humans, on average."""
    wide = values.pivot_table(index="coder", columns="unit_id", values="value").sort_index()
    of_model, humans = wide.loc[model].to_numpy(), wide.drop(index=model)
    rated, parts, power = humans.to_numpy(), [], 2 if distance == "squared" else 1
    for place, human in enumerate(humans.index):
        others = np.delete(rated, place, axis=0)
        there = ~np.isnan(rated[place]) & ~np.isnan(of_model) & ~np.isnan(others).all(axis=0)
        # Both are compared with the same humans, so sums take the place of means, and of their roots.
        apart_human, apart_model = (
            np.round(np.nansum(np.abs(others - own) ** power, axis=0)[there], 9)
            for own in (rated[place], of_model)
        )
        part = pd.DataFrame({"unit_id": humans.columns[there], "coder": human})
        parts.append(
            part.assign(model_ahead=apart_model <= apart_human, human_ahead=apart_human <= apart_model)
        )
    columns = ["unit_id", "coder", "model_ahead", "human_ahead"]
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=columns)


def _code_values(own: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield each code with what each coder decided on each unit: unit_id, coder, value."""
    values = own.assign(value=own["applied"].astype("int64"))
    for code, of_code in values.groupby("code", sort=False):
        yield str(code), of_code[["unit_id", "coder", "value"]]


def _set_values(own: pd.DataFrame) -> Iterator[tuple[None, pd.DataFrame]]:
    """Yield, with no code, which set of codes each coder put on each unit: unit_id, coder, value."""
    wide = own.pivot_table(index=["unit_id", "coder"], columns="code", values="applied", aggfunc="first")
    wide = wide.dropna()
    _, value = np.unique(wide.to_numpy(dtype=np.bool_), axis=0, return_inverse=True)
    yield None, wide.index.to_frame(index=False).assign(value=value.ravel().astype(np.int64))


def _compared(values: pd.DataFrame, model: str) -> pd.DataFrame:
    """Return, for each human and unit, whether the model and the human have the advantage there.

    Both are scored against the same humans, so that their numbers can be compared in place of their shares.
    """
    is_model = (values["coder"] == model).to_numpy(dtype=np.bool_)
    of_model = values[is_model].set_index("unit_id")["value"].rename("of_model")
    humans = values[~is_model].join(of_model, on="unit_id", how="inner")
    humans = humans[humans.groupby("unit_id")["coder"].transform("size") >= 2]
    alike = humans.groupby(["unit_id", "value"]).size()
    score = humans.groupby(["unit_id", "value"])["coder"].transform("size") - 1
    keys = pd.MultiIndex.from_frame(humans[["unit_id", "of_model"]])
    same = (humans["value"] == humans["of_model"]).to_numpy(dtype=np.int64)
    of_model_score = alike.reindex(keys, fill_value=0).to_numpy(dtype=np.int64) - same
    return humans.assign(model_ahead=of_model_score >= score, human_ahead=score >= of_model_score)


def _tested(
    compared: pd.DataFrame, people: Sequence[str], *, epsilon: float, fdr: float, fewest_units: int
) -> pd.DataFrame:
    """Return one row per human with the shares of advantages and the adjusted test."""
    from scipy import stats

    rows = [
        {"human": human} | _t_test(compared[compared["coder"] == human], epsilon, fewest_units)
        for human in people
    ]
    columns = [name for name in HUMANS.columns if name not in ("code", "model", "p_adjusted", "won")]
    tested = pd.DataFrame(rows, columns=columns)
    p = tested["p"].to_numpy(dtype=np.float64)
    known = ~np.isnan(p)
    adjusted = np.full(len(p), np.nan)
    if known.any():
        adjusted[known] = stats.false_discovery_control(p[known], method="by")
    won = pd.array(adjusted <= fdr, dtype="boolean")
    won[~known] = pd.NA
    return tested.assign(p_adjusted=adjusted, won=won)


def _t_test(units: pd.DataFrame, epsilon: float, fewest_units: int) -> dict[str, object]:
    from scipy import special

    ahead = units[["model_ahead", "human_ahead"]].to_numpy(dtype=np.float64)
    n = len(ahead)
    if not n:
        return {"n_units": 0, "reason": Reason.NO_PAIRABLE_UNITS}
    difference = ahead[:, 1] - ahead[:, 0]
    shares = {"advantage_model": ahead[:, 0].mean(), "advantage_human": ahead[:, 1].mean()}
    row: dict[str, object] = {"n_units": n, **shares, "difference": difference.mean()}
    number = None
    if "cluster" in units:
        number = np.unique(units["cluster"].to_numpy(), return_inverse=True)[1].astype(np.int64)
        row["n_clusters"] = int(number.max()) + 1
    if n < fewest_units:
        return row | {"reason": Reason.FEW_UNITS}
    if number is not None and number.max() + 1 < FEWEST_CLUSTERS:
        return row | {"reason": Reason.FEW_CLUSTERS}
    above = difference.mean() - epsilon
    if np.ptp(difference) == 0:
        t = float(np.copysign(np.inf, above)) if above else np.nan
        return row | {"t": t, "p": float(above >= 0), "reason": Reason.NO_VARIATION}
    error, degrees = difference.std(ddof=1) / np.sqrt(n), n - 1.0
    if number is not None:
        error, degrees = _clustered(difference, number)
    t = above / error if error > 0 else float(np.copysign(np.inf, above))
    return row | {"t": t, "p": float(special.stdtr(degrees, t)), "reason": None}


def _clustered(difference: Floats, number: Integers) -> tuple[float, float]:
    """Return the standard error of a mean over clusters, widened for few of them, and its degrees."""
    k, away = len(np.unique(number)), difference - difference.mean()
    error = float(np.sqrt(k / (k - 1) * np.square(np.bincount(number, away)).sum()) / len(difference))
    worth = effective_clusters(away, np.ones(len(away)), number)
    return error * float(np.sqrt(worth / (worth - 1))), worth - 1


def _summary(tested: pd.DataFrame, compared: pd.DataFrame) -> dict[str, object]:
    done = tested[tested["p"].notna()]
    row: dict[str, object] = {
        "n_humans": len(done),
        "n_units": compared.loc[compared["coder"].isin(done["human"]), "unit_id"].nunique(),
        "reason": _reason(tested, len(done)),
    }
    if len(done):
        rate = float(done["won"].astype(bool).mean())
        advantage = float(done["advantage_model"].astype(float).mean())
        row |= {"winning_rate": rate, "advantage_probability": advantage, "passed": rate >= 0.5}
    return row


def _reason(tested: pd.DataFrame, n_tested: int) -> Reason | None:
    if not (tested["n_units"] > 0).any():
        return Reason.NO_PAIRABLE_UNITS
    if (tested["reason"] == Reason.FEW_UNITS).any():
        return Reason.FEW_UNITS
    if (tested["reason"] == Reason.FEW_CLUSTERS).any():
        return Reason.FEW_CLUSTERS
    return Reason.FEW_HUMANS if n_tested < _FEWEST_HUMANS else None


def _warn(results: pd.DataFrame, humans: pd.DataFrame) -> None:
    few_of = humans["reason"].isin([Reason.FEW_UNITS, Reason.FEW_CLUSTERS])
    left_out = humans.loc[few_of, "human"].unique()
    few = int((results["n_humans"] < _FEWEST_HUMANS).sum())
    warnings_made = [f"{few} of {len(results)} tests have fewer than {_FEWEST_HUMANS} humans"] if few else []
    if len(left_out):
        what = "participants" if (humans["reason"] == Reason.FEW_CLUSTERS).any() else "units"
        warnings_made.append(f"left out for too few {what} in some test: {first_three(left_out)}")
    if warnings_made:
        warnings.warn(
            f"alternative_annotator_test: {'; '.join(warnings_made)}.", RuntimeWarning, stacklevel=3
        )
