"""The disagreements to settle, hardest first, and the numbers settled and open."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product
from typing import Literal, get_args

import pandas as pd

from sense7_qual import codings
from sense7_qual._arguments import check_arguments, read_once
from sense7_qual._messages import did_you_mean
from sense7_qual.acts import Act
from sense7_qual.adjudication._consensus import disagreements, latest_rulings
from sense7_qual.adjudication._results import QUEUE, REMAINING
from sense7_qual.errors import ArgumentError
from sense7_qual.frames import DECISIONS, clusters_by_unit, without_models

__all__ = ["By", "queue", "remaining"]

By = Literal["split", "code", "pair", "participant"]


@QUEUE.returns
def queue(
    decisions: pd.DataFrame,
    *,
    rulings: Iterable[Act] = (),
    by: By = "split",
    units: pd.DataFrame | None = None,
    cluster: str | None = None,
    with_models: bool = False,
) -> pd.DataFrame:
    """List every unit × code on which coders disagree, hardest first, with its ruling and reason.

    Parameters
    ----------
    decisions : DataFrame
        unit_id, coder, code, applied (bool). Decisions of `consensus`, `majority` and `pooled` are left out,
        and so are those of models, with a warning.
    rulings : iterable of Act
        As `Store.rulings` returns them, or as for `consensus`.
    by : {"split", "code", "pair", "participant"}
        "split" gives the order of `disagreements`. The others group them, the group with most open
        disagreements first, and within each the hardest first: by code, by pair of coders who decided
        differently (a unit × code is listed for each pair), or by participant (needs `units`).
    units, cluster : DataFrame and str, optional
        For "participant": one row per unit with unit_id and the column `cluster`, such as ``"case_id"``.
    with_models : bool
        As for `disagreements`.

    Raises
    ------
    ArgumentError
        `by` is none of these, or `units` and `cluster` do not fit it.
    TableError
        A frame does not meet its contract.
    ActError
        Rulings were made with several codebooks.

    Examples
    --------
    >>> decisions = pd.DataFrame({"unit_id": "m1", "coder": ["ana", "ben", "cleo"], "code": "interest",
    ...                           "applied": [True, True, False]})
    >>> queue(decisions, by="pair")[["group", "disagreement"]].round(3).values.tolist()
    [['ana – cleo', 0.667], ['ben – cleo', 0.667]]
    """
    rulings = read_once(rulings)
    check_arguments(queue, locals())
    if by not in get_args(By):
        raise ArgumentError(
            f"queue: expected by to be {' or '.join(get_args(By))} – found {by!r} – "
            f"{did_you_mean(str(by), get_args(By))}"
        )
    participants = clusters_by_unit(units, cluster)
    if (by == "participant") != (participants is not None):
        raise ArgumentError(
            "queue: expected units and cluster with by='participant', and with no other – found "
            f"{'none' if participants is None else 'them'} with by={by!r} – pass units=store.units, "
            "cluster='case_id', or leave them out."
        )
    rows = disagreements(decisions, with_models=with_models)
    latest = latest_rulings(rulings)
    keys = zip(rows["unit_id"], rows["code"], strict=True)
    settled = pd.DataFrame([_said(latest.get(key)) for key in keys], columns=list(QUEUE.columns)[-4:])
    rows = QUEUE.frame(rows.join(settled)).drop(columns="group")
    return rows if by == "split" else _grouped(rows, by, participants)


@REMAINING.returns
def remaining(decisions: pd.DataFrame, *, rulings: Iterable[Act] = ()) -> pd.DataFrame:
    """Count the settled and open disagreements of each code.

    Parameters
    ----------
    decisions, rulings
        As for `queue`.

    Raises
    ------
    TableError
        `decisions` does not meet its contract.
    ActError
        Rulings were made with several codebooks.

    Examples
    --------
    >>> decisions = pd.DataFrame({"unit_id": ["m1", "m1", "m2", "m2"], "coder": ["ana", "ben"] * 2,
    ...                           "code": "interest", "applied": [True, True, True, False]})
    >>> remaining(decisions)[["n_units", "n_disputed", "n_open", "share_open"]].values.tolist()
    [[2.0, 1.0, 1.0, 0.5]]
    """
    rulings = read_once(rulings)
    check_arguments(remaining, locals())
    decisions = DECISIONS.check(decisions, as_written=True)
    tally = codings.tally(without_models(decisions, function="remaining"))
    twice = tally[tally["n_coders"] >= 2]
    latest = latest_rulings(rulings)
    keys = zip(twice["unit_id"], twice["code"], strict=True)
    settled = pd.Series([_said(latest.get(key))[0] for key in keys], index=twice.index, dtype="object")
    disputed = (twice["n_applied"] > 0) & (twice["n_applied"] < twice["n_coders"])
    of_units = pd.DataFrame(
        {
            "code": twice["code"],
            "n_units": 1,
            "n_disputed": disputed,
            "n_applied": disputed & (settled == "applied"),
            "n_absent": disputed & (settled == "absent"),
            "n_differing": settled == "differing",
            "n_open": disputed & settled.isna(),
        }
    )
    codes = pd.Index(tally["code"].unique(), name="code")
    counts = of_units.groupby("code", sort=False).sum().reindex(codes, fill_value=0).reset_index()
    n_units = counts["n_units"].astype("float64")
    counts["share_open"] = (counts["n_open"] / n_units.where(n_units > 0)).astype("float64")
    ordered = counts.sort_values(["n_open", "n_disputed"], ascending=False, kind="stable")
    return REMAINING.frame(ordered).reset_index(drop=True)


def _said(ruling: Act | None) -> tuple[str | None, ...]:
    if ruling is None:
        return None, None, None, None
    settled = {True: "applied", False: "absent", None: "differing"}[ruling.applied]
    return settled, ruling.reason, ruling.coder, ruling.at


def _grouped(rows: pd.DataFrame, by: By, participants: pd.Series | None) -> pd.DataFrame:
    """Return rows by what belongs together, the group with most open ones first."""
    if by == "pair":
        pairs = [
            [" – ".join(sorted(pair)) for pair in product(*(names.split(", ") for names in both))]
            for both in zip(rows["applied_by"], rows["not_applied_by"], strict=True)
        ]
        rows = rows.assign(group=pd.Series(pairs, index=rows.index)).explode("group", ignore_index=True)
    elif participants is not None:
        rows = rows.assign(group=participants.reindex(rows["unit_id"]).to_numpy())
    else:
        rows = rows.assign(group=rows["code"])
    rows["group"] = rows["group"].astype("string")
    n_open = rows["settled"].isna().groupby(rows["group"], dropna=False).transform("sum")
    order = rows.assign(n_open=n_open).sort_values(
        ["n_open", "group"], ascending=[False, True], kind="stable", na_position="last"
    )
    columns = ["group", *(name for name in rows if name != "group")]
    return order[columns].reset_index(drop=True)
