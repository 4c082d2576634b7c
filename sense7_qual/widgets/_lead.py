"""Who leads a study, where it says so: the others are asked to leave its desks to them."""

from __future__ import annotations

from typing import Any

from sense7_qual._messages import first_three
from sense7_qual.acts import check_person
from sense7_qual.errors import ActError

__all__ = ["check_lead", "leads_of"]


def leads_of(study: Any) -> tuple[str, ...]:
    """Return the leads that the study names (`Store.set_options`); none where it names nobody."""
    return tuple(getattr(getattr(study, "options", None), "leads", ()))


def check_lead(study: Any, coder: str, *, widget: str, add: bool = False) -> str:
    """Return the pseudonym `coder`, or raise `ActError` where the study names others as its leads.

    With `add`, coders who may add codes at once (``new_codes="add"``) may go on, too. In a folder this is no
    lock: its files are open to whoever has them.
    """
    coder, leads = check_person(coder), leads_of(study)
    if not leads or coder in leads or (add and study.options.new_codes == "add"):
        return coder
    raise ActError(
        f"{widget}: expected a lead of this study ({first_three(leads)}) – found {coder!r} – ask {leads[0]}, "
        f"who can name you: store.set_options(leads={[*leads, coder]!r}, coder={leads[0]!r})."
    )
