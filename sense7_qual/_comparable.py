"""Whether the decisions of several coders can be compared: they hold what is absent, on the same texts.

Programs for qualitative analysis export the codes that were applied, and sheets made by hand leave the rest
blank. Beside a coder whose decisions are complete, such rows count as a coder who found every code that they
looked for: an alpha of .46 becomes 0. And where one coder's file says "M1" and another's
"m1", no text is shared.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Final

import numpy as np
import pandas as pd

from sense7_qual._arguments import check_arguments
from sense7_qual._messages import first_three
from sense7_qual.errors import TableError

__all__ = ["applied_only", "one_case", "refuse_applied_only", "refuse_other_case"]

_BY_CHANCE: Final = 0.2
_FEWEST: Final = 3


def one_case(names: Iterable[str], *, name: str, frame_name: str) -> None:
    """Raise `TableError` where two of several names differ in upper and lower case alone."""
    check_arguments(one_case, locals())
    known = list(dict.fromkeys(names))
    folded = Counter(each.casefold() for each in known)
    alike = [each for each in known if folded[each.casefold()] > 1]
    if alike:
        raise TableError(
            f"{frame_name}: expected every {name} to differ in more than upper and lower case – found "
            f"{first_three(alike)} – make them one, or rename one of them."
        )


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


def refuse_applied_only(people: pd.DataFrame, *, frame_name: str) -> None:
    """Raise `TableError` where the decisions of a coder among several lack what was absent."""
    coders = applied_only(people)
    if coders:
        n = int(people["coder"].isin(coders).sum())
        raise TableError(
            f"{frame_name}: expected what each coder found absent, too – found {n} decisions of coder "
            f"{first_three(coders)}, all applied, and none on other texts or codes that were decided on "
            "– add a row with applied=False for each code that is not on a text that they coded "
            '(codings.from_table does so: blank="absent", finished=…); if you chose some codes, pass all.'
        )


def refuse_other_case(people: pd.DataFrame, *, frame_name: str) -> None:
    """Raise `TableError` where unit ids differ in case alone, and no coder decided on two of them.

    A coder who did has two texts, whose ids a program made of capital and small letters.
    """
    ids = pd.Series(people["unit_id"].unique(), dtype="string")
    folded = ids.str.casefold()
    alike = ids[folded.duplicated(keep=False)]
    if not len(alike):
        return
    rows = people.loc[people["unit_id"].isin(alike), ["unit_id", "coder"]].drop_duplicates()
    rows["folded"] = rows["unit_id"].str.casefold()
    by_two = rows.loc[rows.duplicated(["folded", "coder"]), "folded"]
    apart = alike[~alike.str.casefold().isin(by_two)]
    if len(apart):
        raise TableError(
            f"{frame_name}: expected every unit_id to differ in more than upper and lower case – found "
            f"{first_three(apart)}, each of other coders – make them one, or rename one of them."
        )
