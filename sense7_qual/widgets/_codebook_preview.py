"""What becomes stale if a draft is saved: for each code and coder the texts, and the hours they take."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import pandas as pd

from sense7_qual.codebook import Revision
from sense7_qual.codings import stale
from sense7_qual.widgets._codebook_draft import State
from sense7_qual.widgets._lead_view import Seen

__all__ = ["Preview", "preview"]

_KEY: Final = ["unit_id", "coder", "code"]


@dataclass(frozen=True, slots=True)
class Preview:
    """What becomes stale.

    Attributes
    ----------
    by_code : DataFrame
        One row per code × coder: code, coder, reason, n_units (texts that the coder must look at again
        because of this code), hours (at the coder's own pace; missing where that is unknown).
    by_coder : DataFrame
        One row per coder: coder, n_units (texts, each once), hours.
    """

    by_code: pd.DataFrame
    by_coder: pd.DataFrame


def preview(seen: Seen, state: State) -> Preview:
    """Return what becomes stale if the draft is saved now, beyond what is stale already.

    Only what may be seen is counted (`Seen`). Hours are texts × the coder's median seconds between two
    finishes, as in `pace`.
    """
    rows = _becoming(seen, state)
    by_code = (
        rows.groupby(["code", "coder", "reason"], sort=False)["unit_id"]
        .nunique()
        .rename("n_units")
        .reset_index()
    )
    by_coder = rows.groupby("coder", sort=True)["unit_id"].nunique().rename("n_units").reset_index()
    return Preview(*(one.assign(hours=_hours(one, seen.pace)) for one in (by_code, by_coder)))


def _becoming(seen: Seen, state: State) -> pd.DataFrame:
    """Return unit × coder × code that are stale under the draft and are not yet."""
    base, new = state.base, state.codebook
    if new.fingerprint == base.fingerprint:
        return pd.DataFrame(columns=[*_KEY, "reason"], dtype="string")
    step = Revision(
        coder="draft", at="", why="", base=base.fingerprint, codebook=new.fingerprint, changes=state.changes()
    )
    now = stale(seen.codings, seen.coverage, base, revisions=seen.revisions)
    then = stale(seen.codings, seen.coverage, new, revisions=[*seen.revisions, step])
    known = pd.MultiIndex.from_frame(now[_KEY])
    return then[~pd.MultiIndex.from_frame(then[_KEY]).isin(known)]


def _hours(counted: pd.DataFrame, pace: dict[str, float]) -> pd.Series:
    seconds = counted["coder"].map(pace).astype("Float64")
    return counted["n_units"].astype("Float64") * seconds / 3600
