"""The disagreements of coders, and the decisions after they are settled.

Nothing here changes a coder's own decisions: consensus is a set of decisions under that coder's name, which
agreement never counts.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product
from typing import Final, Literal, get_args

import pandas as pd

from sense7_qual import codings
from sense7_qual._arguments import check_arguments, read_once
from sense7_qual._basis import from_people, state, waiting_in
from sense7_qual._messages import did_you_mean, first_three
from sense7_qual._rests_on import rests_on
from sense7_qual.acts import Act, standing
from sense7_qual.adjudication._results import DISAGREEMENTS, OVERRULED, QUEUE, REMAINING
from sense7_qual.errors import ActError, ArgumentError
from sense7_qual.frames import DECISIONS, clusters_by_unit, people, without_models

_KEY: Final = ["unit_id", "code"]


@rests_on("decisions")
@DISAGREEMENTS.returns
def disagreements(decisions: pd.DataFrame, *, with_models: bool = False) -> pd.DataFrame:
    """List every unit × code on which coders disagree, hardest first.

    Only coders who have finished the unit count. Decisions of `consensus`, `majority` and `pooled` are left
    out, and so are those of models, with a warning.

    Parameters
    ----------
    decisions : DataFrame
        unit_id, coder, code, applied (bool).
    with_models : bool
        Whether models count as coders, so that people can settle their differences from a model, too.

    Raises
    ------
    TableError
        `decisions` does not meet its contract.

    Examples
    --------
    >>> decisions = pd.DataFrame({"unit_id": "m1", "coder": ["ana", "ben", "cleo"], "code": "interest",
    ...                           "applied": [True, True, False]})
    >>> disagreements(decisions)[["applied_by", "not_applied_by", "disagreement"]].round(3).values.tolist()
    [['ana, ben', 'cleo', 0.667]]
    """
    check_arguments(disagreements, locals())
    decisions = DECISIONS.check(decisions, as_written=True)
    if not with_models:
        decisions = without_models(decisions, function="disagreements")
    tally = codings.tally(decisions, with_models=with_models)
    tally = tally[(tally["n_applied"] > 0) & (tally["n_applied"] < tally["n_coders"])]
    absent = tally["n_coders"] - tally["n_applied"]
    pairs = tally["n_coders"] * (tally["n_coders"] - 1) / 2
    queue = tally.assign(
        disagreement=tally["n_applied"] * absent / pairs,
        disputed=tally.groupby("unit_id")["code"].transform("size"),
    )
    order = queue.sort_values(
        ["disagreement", "disputed", "unit_id", "code"], ascending=[False, False, True, True], kind="stable"
    )
    return DISAGREEMENTS.frame(_with_names(order, decisions)).reset_index(drop=True)


@DECISIONS.returns
def consensus(decisions: pd.DataFrame, *, rulings: Iterable[Act] = (), single: bool = False) -> pd.DataFrame:
    """Combine unanimous decisions and rulings into the consensus.

    Parameters
    ----------
    decisions : DataFrame
        unit_id, coder, code, applied (bool). Decisions of `consensus`, `majority` and `pooled` are left out,
        and so are those of models, with a warning: models do not count towards consensus. To count one as a
        person nevertheless, rename it: ``frames.as_people(decisions, ["model-a"])``.
    rulings : iterable of Act
        Acts of kind "rule", as `Store.acts(kind="rule")` returns them: with the acts that undo and redo them,
        so that an undone ruling does not count. Acts of other kinds are ignored. The latest ruling on a unit
        × code decides, even against coders who agree with each other; one that accepts both readings
        (``different_reading``) leaves no consensus. After a revision of the codebook, carry the rulings over
        first: `codings.rulings`.
    single : bool
        Whether a unit with the decision of only one coder counts as agreed. By default it does not, because
        nobody agreed with that coder; pass True for the usual design in which some of the units are coded
        twice and the others by one coder, and report the share that was coded twice.

    Returns
    -------
    DataFrame
        unit_id, coder ("consensus"), code, applied (bool). A disputed unit × code without a ruling, or with
        different readings ruled legitimate, has no row: it is undecided, not absent. No majority is taken
        (`remaining` counts both).

    Raises
    ------
    ArgumentError
        `single` is neither True nor False.
    TableError
        `decisions` does not meet its contract.
    ActError
        Rulings were made with several codebooks, or `decisions` are by a facet: a ruling is on a code with
        any value of the facet.

    Examples
    --------
    >>> decisions = pd.DataFrame({"unit_id": ["m1", "m1", "m2", "m2"], "coder": ["ana", "ben"] * 2,
    ...                           "code": "interest", "applied": [True, True, True, False]})
    >>> consensus(decisions)[["unit_id", "applied"]].values.tolist()
    [['m1', True]]
    >>> from sense7_qual import acts
    >>> from sense7_qual.codebook import Codebook
    >>> ruling = acts.rule(coder="dora", unit_id="m2", code="interest", applied=False,
    ...                    codebook=Codebook.read("sense7"))
    >>> consensus(decisions, rulings=[ruling])[["unit_id", "applied"]].values.tolist()
    [['m1', True], ['m2', False]]
    """
    check_arguments(consensus, locals())
    decisions = DECISIONS.check(decisions, as_written=True)
    own = without_models(decisions, function="consensus")
    tally = codings.tally(own)
    unanimous = (tally["n_applied"] == 0) | (tally["n_applied"] == tally["n_coders"])
    agreed = tally[unanimous & (tally["n_coders"] >= (1 if single else 2))]
    verdicts = {
        (unit_id, code): bool(n_applied)
        for unit_id, code, n_applied in zip(
            agreed["unit_id"], agreed["code"], agreed["n_applied"], strict=True
        )
    }
    waiting = {one.code for one in waiting_in(own)}  # a ruling on such a code waits with its decisions
    ruled = {key: ruling for key, ruling in latest_rulings(rulings).items() if key[1] not in waiting}
    refuse_facet({code for _, code in ruled}, set(tally["code"]))
    for key, ruling in ruled.items():
        if ruling.applied is None:
            verdicts.pop(key, None)
        else:
            verdicts[key] = ruling.applied
    order = {key: place for place, key in enumerate(zip(tally["unit_id"], tally["code"], strict=True))}
    keys = sorted(verdicts, key=lambda key: order.get(key, len(order)))
    rows = [(unit_id, "consensus", code, verdicts[unit_id, code]) for unit_id, code in keys]
    settled = DECISIONS.check(pd.DataFrame(rows, columns=list(DECISIONS.columns)), as_written=True)
    rule = "settled by rulings" if ruled else "settled by agreement"
    return state(settled, from_people(own, rule, n_texts=settled["unit_id"].nunique(), selected=None))


def _with_names(queue: pd.DataFrame, decisions: pd.DataFrame) -> pd.DataFrame:
    """Add who applied the code and who did not."""
    coders = people(decisions, with_models=True)  # `disagreements` has left out models that do not count
    own = coders.merge(queue[_KEY], on=_KEY).sort_values("coder")
    for name, mask in (("applied_by", own["applied"]), ("not_applied_by", ~own["applied"])):
        joined = own[mask].groupby(_KEY)["coder"].agg(", ".join).rename(name)
        queue = queue.merge(joined, how="left", left_on=_KEY, right_index=True)
    return queue


@rests_on("decisions")
@OVERRULED.returns
def overruled(decisions: pd.DataFrame, *, rulings: Iterable[Act]) -> pd.DataFrame:
    """List each coder's decisions that were ruled on: whether they were overruled, and why.

    Use it as feedback to coders, and to see which codes need a clearer rule. It is not an error rate: rulings
    are made where coders disagree, and a ruling itself may be wrong.

    Parameters
    ----------
    decisions : DataFrame
        unit_id, coder, code, applied (bool). Decisions of `consensus`, `majority` and `pooled` are left out,
        and so are those of models, with a warning.
    rulings : iterable of Act
        As `Store.rulings` returns them, or as for `consensus`.

    Raises
    ------
    TableError
        `decisions` does not meet its contract.
    ActError
        Rulings were made with several codebooks.

    Examples
    --------
    >>> from sense7_qual import acts
    >>> from sense7_qual.codebook import Codebook
    >>> decisions = pd.DataFrame({"unit_id": "m1", "coder": ["ana", "ben"], "code": "interest",
    ...                           "applied": [True, False]})
    >>> ruling = acts.rule(coder="lead", unit_id="m1", code="interest", applied=True, reason="slip",
    ...                    codebook=Codebook.read("sense7"))
    >>> overruled(decisions, rulings=[ruling])[["coder", "overruled", "reason"]].values.tolist()
    [['ana', False, 'slip'], ['ben', True, 'slip']]
    """
    rulings = read_once(rulings)
    check_arguments(overruled, locals())
    checked = DECISIONS.check(decisions, as_written=True)
    own = people(without_models(checked, function="overruled"))
    latest = latest_rulings(rulings)
    rows = [
        (
            row.coder,
            row.unit_id,
            row.code,
            row.applied,
            act.applied,
            act.applied is not None and act.applied != row.applied,
            act.reason,
            act.text or None,
            act.coder,
            act.at,
        )
        for row in own.itertuples()
        if (act := latest.get((str(row.unit_id), str(row.code)))) is not None
    ]
    frame = OVERRULED.frame(pd.DataFrame(rows, columns=list(OVERRULED.columns)[:-1]))  # all but the basis
    order = frame.sort_values(
        ["coder", "overruled", "code", "unit_id"], ascending=[True, False, True, True], kind="stable"
    )
    return order.reset_index(drop=True)


def latest_rulings(rulings: Iterable[Act]) -> dict[tuple[str, str], Act]:
    """Return the last ruling on each unit × code, by time and then by the order given."""
    made = sorted(standing(rulings, subject="ruling"), key=lambda act: act.at)
    under = dict.fromkeys(act.codebook[:12] for act in made)
    if len(under) > 1:
        raise ActError(
            f"rulings: expected rulings with one codebook – found {first_three(under)} – carry them over "
            "with store.rulings() or codings.rulings(acts, codebook, revisions=…)."
        )
    return {(str(act.unit_id), str(act.code)): act for act in made}


def refuse_facet(ruled: set[str], decided: set[str]) -> None:
    """Raise `ActError` where decisions are by a facet (relational.valence=met), rulings on the code."""
    stems = {code.partition("=")[0].rpartition(".")[0] for code in decided if "=" in code}
    mixed = sorted((ruled - decided) & stems)
    if mixed:
        raise ActError(
            f"rulings: expected decisions on the codes that were ruled on – found {first_three(mixed)} by a "
            "facet – pass decisions without the facet, or leave out the rulings."
        )


# The disagreements to settle, hardest first, and the numbers settled and open


By = Literal["split", "code", "pair", "participant"]


@rests_on("decisions")
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
    settled = pd.DataFrame([_said(latest.get(key)) for key in keys], columns=list(QUEUE.columns)[-5:-1])
    rows = QUEUE.frame(rows.drop(columns="basis").join(settled)).drop(columns="group")
    return rows if by == "split" else _grouped(rows, by, participants)


@rests_on("decisions")
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
