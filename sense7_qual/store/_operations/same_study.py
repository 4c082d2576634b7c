"""Whether the study at a place is the one that somebody means: of the same units, and of their codebook."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from sense7_qual._messages import first_three
from sense7_qual.codebook import Codebook
from sense7_qual.errors import StoreError
from sense7_qual.store._files import layout
from sense7_qual.store._files.layout import Opened

__all__ = ["refuse_other", "withdrawn_among"]


def refuse_other(known: Opened, units: pd.DataFrame, codebook: Codebook, *, place: object) -> None:
    """Raise `StoreError` where the study that is `known` is of other units than these or of another codebook.

    Rows may come in another order. Units of participants who withdrew may be among them or not, and what a
    withdrawal emptied in other units is no difference.
    """
    made, _, table = layout.prepare(units, codebook)
    if made.units_sha256 != known.study.units_sha256:
        # Read back as the study's were: what a file keeps of a frame, and not more, is compared.
        new_units = layout.units_of(table, made, name="given")
        differences = list(_differences(known, new_units))
        if differences:
            raise StoreError(
                f"study at {str(place)!r}: expected the units that it was made of – found {differences[0]} – "
                f"units never change: go on with Store({str(place)!r}), whose units further columns can be "
                "joined to by unit_id, or make a study of these at another place."
            )
    if codebook.fingerprint not in known.codebooks:
        raise StoreError(
            f"study at {str(place)!r}: expected its codebook {known.codebook.name!r}, now or in an earlier "
            f"version – found another, {_compared(known.codebook, codebook)} – go on with "
            f"Store({str(place)!r}) and its codebook, which store.revise(codebook, why=…, coder=…) changes, "
            "or make a study at another place."
        )


def withdrawn_among(known: Opened, units: pd.DataFrame) -> list[str]:
    """Return the ids of those of the `units` whose participants withdrew from the study."""
    return [unit_id for unit_id in units["unit_id"].astype("string") if unit_id in known.withdrawn_units]


def _differences(known: Opened, units: pd.DataFrame) -> Iterator[str]:
    """Yield what tells the given units from the study's, what matters most first; ids and columns alone."""
    ours = known.units.set_index("unit_id")
    theirs = units[~units["unit_id"].isin(known.withdrawn_units)].set_index("unit_id")
    more, fewer = theirs.index.difference(ours.index), ours.index.difference(theirs.index)
    if len(more):
        yield f"{len(more)} units that it does not have ({first_three(more)})"
    if len(fewer):
        yield f"{len(fewer)} of its units missing ({first_three(fewer)})"
    if len(more) or len(fewer):
        return
    theirs = theirs.loc[ours.index]
    for name in ["text", *ours.columns.intersection(theirs.columns).drop("text")]:
        emptied = bool(known.withdrawn_units) and name != "text"
        other = ours.index[_different(ours[name], theirs[name], emptied=emptied)]
        if len(other):
            yield f"other values in column {name!r} of {len(other)} units ({first_three(other)})"
    for names, what in (
        (theirs.columns.difference(ours.columns), "that it does not have"),
        (ours.columns.difference(theirs.columns), "of it missing"),
    ):
        if len(names):
            yield f"columns {what} ({first_three(names)})"


def _different(ours: pd.Series, theirs: pd.Series, *, emptied: bool) -> Any:
    """Return in which rows two columns differ; what is missing in `ours` alone does not where it may have
    been `emptied`."""
    if ours.equals(theirs):
        return np.zeros(len(ours), dtype=bool)
    pairs = zip(_values(ours), _values(theirs), strict=True)
    return np.array([one != other and not (emptied and one is None) for one, other in pairs], dtype=bool)


def _values(column: pd.Series) -> Sequence[Any]:
    """Return the values of a column as Python's own, None where one is missing."""
    from pyarrow import Array

    values: Sequence[Any] = Array.from_pandas(column).to_pylist()
    return values


def _compared(ours: Codebook, theirs: Codebook) -> str:
    """Describe how a codebook differs from the current one, by the ids of codes."""
    ours_by_id, theirs_by_id = (
        {code.id: code for code in ours.codes},
        {code.id: code for code in theirs.codes},
    )
    other = [name for name in theirs_by_id if name in ours_by_id and theirs_by_id[name] != ours_by_id[name]]
    kinds = (
        ("with", [name for name in theirs_by_id if name not in ours_by_id]),
        ("without", [name for name in ours_by_id if name not in theirs_by_id]),
        ("with another entry for", other),
    )
    differences = [f"{what} {first_three(names)}" for what, names in kinds if names]
    return "; ".join(differences) or "with the same codes and other settings"
