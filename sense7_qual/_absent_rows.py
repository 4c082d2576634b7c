"""Do the decisions of each coder include what was absent? What of a frame shows that rows were left out.

Programs for qualitative analysis export only the codes that were applied, and hand-made sheets leave the rest
blank. Next to a coder with complete decisions, such rows count as a coder who found every code that they
looked for: an alpha of .46 becomes 0. It can be true of all codes of a coder, of one code, or of most texts.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import pandas as pd

COLUMN: Final = "basis"
"""The column in which decisions say what they rest on."""
NOT_STATED: Final = "not stated"
_BY_CHANCE: Final = 0.2
_FEWEST: Final = 3


def unstated(people: pd.DataFrame) -> pd.Series:
    """Mark the rows that do not say which decisions of a record they are: those of files and spreadsheets.

    In a record, what is missing waits for review or was left open; elsewhere it may have been left out. A
    column of the basis alone says nothing: frames are joined, and a sheet next to a record has none.
    """
    if COLUMN not in people.columns:
        return pd.Series(True, index=people.index)
    lines = people[COLUMN].astype("string").fillna(NOT_STATED)
    return lines.str.startswith(NOT_STATED).astype(bool)


def applied_only(people: pd.DataFrame) -> list[str]:
    """Return the coders whose decisions are likely to lack what was absent, sorted.

    Every decision of such a coder is "applied", others decided on something that this one did not, and

    - on a text that the coder decided on, another decided on a code that this one did not, or
    - three or more applied in a row are no coincidence: nobody has an absent decision, or, with the share of
      "applied" among the coders who have some, fewer than 0.2 coders would be expected to come out so.

    A coder who decided on all that anybody did may well have applied everything; of one person alone it
    cannot be told.
    """
    coder, names = pd.factorize(people["coder"])
    some_absent = np.zeros(len(names), dtype=np.bool_)
    some_absent[coder[~people["applied"].to_numpy()]] = True
    if len(names) < 2 or some_absent.all():
        return []
    has_absent = some_absent[coder]
    beside = people.loc[has_absent, "applied"]
    share = (beside.sum() + 1) / (len(beside) + 2) if len(beside) else 0.0
    n_codes = people.drop_duplicates(["unit_id", "code"])["unit_id"].value_counts()
    own = people[~has_absent]
    n = own["coder"].value_counts()
    texts = own.drop_duplicates(["coder", "unit_id"])
    on_these = texts["unit_id"].map(n_codes).groupby(texts["coder"]).sum().reindex(n.index)
    no_coincidence = (n >= _FEWEST) & (share**n * len(names) <= _BY_CHANCE)
    return sorted(n.index[(n < n_codes.sum()) & ((n < on_these) | no_coincidence)].astype(str))


def incomplete_texts(people: pd.DataFrame) -> pd.DataFrame:
    """Return the decisions on texts on which their coder lacks a code that another coder decided on there.

    The column `n_lacking` has the number of these codes.
    """
    n_codes = people.drop_duplicates(["unit_id", "code"])["unit_id"].value_counts()
    n_own = people.groupby(["unit_id", "coder"])["code"].transform("size")
    lacking = people["unit_id"].map(n_codes).to_numpy(dtype=np.int64) - n_own.to_numpy(dtype=np.int64)
    found: pd.DataFrame = people.assign(n_lacking=lacking).loc[lacking > 0]
    return found


def applied_only_of_a_code(people: pd.DataFrame) -> pd.DataFrame:
    """Return the coder and code of decisions that are likely to lack what was absent (coder, code, n).

    A coder's decisions on a code are all "applied", and on some of the coder's texts they are missing while
    another coder decided on the code there. So it is with the rows that a coder has on such incomplete texts:
    all "applied", whatever the complete ones say. It must be no coincidence: with the share of "applied" in
    the decisions of the others, fewer than 0.2 such cases would be expected.
    """
    none = pd.DataFrame({"coder": [], "code": [], "n": []})
    incomplete = incomplete_texts(people)
    if incomplete.empty:
        return none
    lacking = _lacking(people, incomplete)
    of_code = people.groupby(["coder", "code"])["applied"].agg(["size", "all"]).reset_index()
    found = of_code[of_code["all"]].merge(lacking, on=["coder", "code"])
    found["p"] = [
        _chance(people, row["coder"], str(row["code"]), int(row["size"])) for row in found.to_dict("records")
    ]
    found = found[found["p"] * len(of_code) <= _BY_CHANCE].rename(columns={"size": "n"})
    return pd.concat([none, found[["coder", "code", "n"]]], ignore_index=True)


def applied_only_where_incomplete(people: pd.DataFrame) -> list[str]:
    """Return the coders all of whose decisions on their incomplete texts are "applied", by no coincidence."""
    incomplete = incomplete_texts(people)
    if incomplete.empty:
        return []
    of_coder = incomplete.groupby("coder")["applied"].agg(["size", "all"])
    n_coders = people["coder"].nunique()
    found = []
    for coder, (n, is_all) in of_coder.iterrows():
        if is_all and n >= _FEWEST:
            texts = incomplete.loc[incomplete["coder"] == coder, "unit_id"]
            others = people[(people["coder"] != coder) & people["unit_id"].isin(texts)]
            has_absent = others.loc[~others["applied"], "coder"].unique()
            share = _share(others.loc[others["coder"].isin(has_absent), "applied"])
            found += [str(coder)] if share**n * n_coders <= _BY_CHANCE else []
    return sorted(found)


def _lacking(people: pd.DataFrame, incomplete: pd.DataFrame) -> pd.DataFrame:
    """Return the coders and codes that a coder lacks on some of their texts, on which others decided."""
    decided = people.drop_duplicates(["unit_id", "code"])[["unit_id", "code"]]
    texts = incomplete.drop_duplicates(["coder", "unit_id"])[["coder", "unit_id"]]
    wanted = texts.merge(decided, on="unit_id")
    own = people[["unit_id", "coder", "code"]]
    joined = wanted.merge(own, how="left", on=["unit_id", "coder", "code"], indicator="where")
    return joined.loc[joined["where"] == "left_only", ["coder", "code"]].drop_duplicates()


def _chance(people: pd.DataFrame, coder: str, code: str, n: int) -> float:
    """Return the probability that all n are "applied", by the share of others with absent ones."""
    others = people[(people["coder"] != coder) & (people["code"] == code)]
    has_absent = others.loc[~others["applied"], "coder"].unique()
    beside = others[others["coder"].isin(has_absent)]
    if beside.empty:
        return 0.0 if n >= _FEWEST else 1.0
    return _share(beside["applied"]) ** n


def _share(applied: pd.Series) -> float:
    return float((applied.sum() + 1) / (len(applied) + 2)) if len(applied) else 0.0
