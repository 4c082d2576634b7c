"""An archive becomes a study again, if its acts are such as a study takes and nobody has withdrawn since."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from sqlalchemy import Connection

from sense7_qual._messages import first_three
from sense7_qual.errors import StoreError
from sense7_qual.store._operations import archive
from sense7_qual.store._operations.append import Heads
from sense7_qual.store._operations.gate import Gate, Recorded, together
from sense7_qual.store._stored import layout, study_notes
from sense7_qual.store._stored.hash_chain import Link


def restored(source: Path, building: Path, *, place: str, forget_again: bool) -> None:
    """Build the study folder of the archive `source`; `place` is what this computer remembers its place by.

    Without `forget_again`, texts of participants who have withdrawn since are refused.
    """
    names = archive.lay_out(source, building)
    study = layout.read(building)
    if not forget_again:
        _refuse_withdrawn(source, building, Heads(study.id, place).seen().withdrawn)
    if (
        layout.handed_out(building) is not None
    ):  # it has some acts of others, all of which its lead's study took
        archive.refuse_changed(source, building, names)
        return
    at_the_gate = _AtTheGate(building)
    archive.refuse_changed(source, building, names, at_the_gate)
    if at_the_gate.refused:
        raise archive.refused(source, f"an act that no study takes: {at_the_gate.refused}")


def _refuse_withdrawn(source: Path, building: Path, withdrawn: frozenset[str]) -> None:
    units = layout.read_units(building, layout.read(building))
    back = units.loc[units["unit_id"].isin(withdrawn), "case_id"].dropna().unique()
    if len(back):
        raise StoreError(
            f"archive {source.name!r}: expected no texts of participants who have withdrawn – found those of "
            f"{first_three(back)}, since it was written before – restore it with forget_again=True (in the "
            "command --forget-again), which removes them; nothing was restored."
        )


class _AtTheGate:
    """Asks of each act whether the study would take it; `refused` says why one is none.

    Rounds are not asked: they were when the act was recorded, and clocks may tell their order otherwise.
    """

    def __init__(self, building: Path) -> None:
        study = layout.read(building)
        units = layout.read_units(building, study)
        gone = study_notes.withdrawn_units(building)
        texts = dict(zip(units["unit_id"], units["text"], strict=True)) | dict.fromkeys(gone, "")
        self._gate = Gate(texts, layout.read_codebooks(building, study), None, gone)
        self.refused = ""

    def __call__(self, _: Connection, coder: str, chain: Sequence[Link]) -> None:
        recorded = Recorded()
        acts = [link.act for link in chain if link.act is not None]
        for batch in together(acts, lambda act: act):
            if not self.refused:
                self.refused = self._gate.refusal(batch, recorded)
