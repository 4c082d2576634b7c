"""Which ruling stands on each unit × code, and whether it is on the codes that were decided on."""

from __future__ import annotations

from collections.abc import Iterable

from sense7_qual._messages import first_three
from sense7_qual.acts import Act, standing
from sense7_qual.errors import ActError

__all__ = ["latest_rulings", "refuse_facet"]


def latest_rulings(rulings: Iterable[Act]) -> dict[tuple[str, str], Act]:
    """Return the last ruling on each unit × code, by time and then by the order given."""
    made = sorted(standing(rulings, subject="ruling"), key=lambda act: act.at)
    under = dict.fromkeys(act.codebook[:12] for act in made)
    if len(under) > 1:
        raise ActError(
            f"rulings: expected them under one codebook – found them under {first_three(under)} – carry them "
            "over: store.rulings() does, and codings.rulings(acts, codebook, revisions=…)."
        )
    return {(str(act.unit_id), str(act.code)): act for act in made}


def refuse_facet(ruled: set[str], decided: set[str]) -> None:
    """Raise `ActError` where decisions are by a facet (relational.valence=met), rulings on the code."""
    stems = {code.partition("=")[0].rpartition(".")[0] for code in decided if "=" in code}
    mixed = sorted((ruled - decided) & stems)
    if mixed:
        raise ActError(
            f"rulings: expected decisions on the codes that were ruled on – found {first_three(mixed)} "
            "decided on by a facet – pass decisions made without facet, or leave the rulings out."
        )
